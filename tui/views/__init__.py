"""What lists and details say: pure functions from the store's tables, where layers are joined."""
