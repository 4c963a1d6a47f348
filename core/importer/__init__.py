"""Reads what other agents are plugged into, and says how Codex would write it. Writes nothing."""
