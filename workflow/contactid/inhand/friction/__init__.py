"""Friction between a fingertip and an object, from the force just before it slips."""
