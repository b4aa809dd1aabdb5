"""Impacts of a user's own arm."""
