"""Sign-in, stored credentials and accounts."""
