"""Identify of the arm study."""
