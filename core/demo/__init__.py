"""The embedded world that the demo runs in, standard library only."""
