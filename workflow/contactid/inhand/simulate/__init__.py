"""Simulators of the inhand study."""
