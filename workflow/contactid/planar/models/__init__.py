"""Identification models in Pyomo of the planar study."""
