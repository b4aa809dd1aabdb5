"""Recordings, read into the canonical form of the tossing study."""
