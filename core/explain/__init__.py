"""Explain: the path down the layers, from facts that others have gathered. Asks nobody."""
