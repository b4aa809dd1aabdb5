"""Post-impact velocity of a robot arm: impact map, flexible models and modal fit."""
