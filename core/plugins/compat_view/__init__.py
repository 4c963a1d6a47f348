"""What Codex uses and what it ignores of a plugin, part by part."""
