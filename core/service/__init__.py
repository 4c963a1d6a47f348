"""One handler per method: from protocol types to the owners and back."""
