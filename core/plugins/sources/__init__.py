"""Where plugins come from."""
