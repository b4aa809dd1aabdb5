"""Simulators of the tossing study."""
