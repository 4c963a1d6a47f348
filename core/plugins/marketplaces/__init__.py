"""Adding, removing and upgrading configured marketplaces."""
