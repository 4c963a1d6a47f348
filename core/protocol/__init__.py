"""Wire types, one module per domain; they import nothing else of the core."""
