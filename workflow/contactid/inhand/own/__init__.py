"""Estimation of a user's own recording of a grasped object, as a command."""
