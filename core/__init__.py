"""Jackfield's core: what a coding agent is plugged into, as one in-process service.

`open_core` and `Deps` are the way in; everything else is reached through the `CoreClient` it
yields. Importing this package loads neither keyring nor httpx.
"""
