"""Looks a home and its machine over. Each module looks at one area and changes nothing."""
