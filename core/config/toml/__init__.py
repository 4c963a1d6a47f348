"""TOML as Codex reads it: 1.1 with an optional BOM, with places and its parser's reasons."""
