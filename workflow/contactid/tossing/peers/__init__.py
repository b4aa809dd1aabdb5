"""Other simulators behind one small interface."""
