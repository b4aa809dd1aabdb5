"""Identification models in Pyomo of the arm study."""
