"""MCP servers: the effective set, their connections and inventories."""
