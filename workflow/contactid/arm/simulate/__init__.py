"""Simulators of the arm study."""
