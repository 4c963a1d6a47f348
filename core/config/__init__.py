"""Codex's configuration: where it lies, what it says, how it is changed."""
