"""The plugin layer: what can be found, what is installed and enabled."""
