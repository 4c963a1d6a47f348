"""The wire face: newline-delimited JSON-RPC as the real app-server speaks it."""
