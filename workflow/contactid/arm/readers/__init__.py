"""Recordings and their synthetic twins, read into the canonical form of the arm study."""
