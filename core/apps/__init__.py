"""App metadata and the installed runtime snapshot."""
