"""Inertia and friction of a grasped object, from forces at fingertips."""
