"""Readers of every source of data, and the one canonical form they lead to."""
