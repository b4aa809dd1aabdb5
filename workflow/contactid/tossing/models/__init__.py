"""Identification models in Pyomo of the tossing study."""
