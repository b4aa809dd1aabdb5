"""Time-stepping simulators."""
