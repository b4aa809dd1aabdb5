"""Identification of a user's own throws, as a command."""
