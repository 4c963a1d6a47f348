"""The one interface to a core, and its implementations."""
