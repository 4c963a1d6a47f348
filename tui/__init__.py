"""The terminal panel."""
