"""Identification models in Pyomo of the inhand study."""
