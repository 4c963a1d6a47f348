"""Threads: a working directory, its configuration and its runtime."""
