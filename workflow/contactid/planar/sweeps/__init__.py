"""Simulators against each other and against exact truths, over time steps and friction (section 4)."""
