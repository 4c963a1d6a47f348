"""Side effects of the real app-server, for the app-server face only."""
