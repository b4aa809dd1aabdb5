"""Identification from throws and impacts (sections 5 and 6)."""
