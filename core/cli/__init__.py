"""The command line; loads no Textual."""
