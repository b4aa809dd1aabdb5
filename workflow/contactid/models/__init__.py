"""Identification models: one builder per model, each an optimisation with complementarity constraints in Pyomo."""
