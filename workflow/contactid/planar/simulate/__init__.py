"""Simulators of the planar study."""
