"""Rigid of the arm study."""
