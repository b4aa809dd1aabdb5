"""Recordings and their synthetic twins, read into the canonical form of the tossing study."""
