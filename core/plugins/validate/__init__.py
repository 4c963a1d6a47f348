"""Looks a marketplace or plugin folder over, for both Codex and Claude Code. Changes nothing."""
