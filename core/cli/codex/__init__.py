"""`jackfield mcp …` and `jackfield plugin …` where they answer as the real `codex` does.

Commands, options, texts, JSON and exit codes as observed in Codex 0.171.0, `codex` in the texts
included; what the person types is foreign, and is cleaned before it is shown.
"""
