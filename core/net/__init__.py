"""HTTP, in one module."""
