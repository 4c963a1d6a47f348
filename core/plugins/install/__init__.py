"""Installing: a staged copy beside the target, then one switch."""
