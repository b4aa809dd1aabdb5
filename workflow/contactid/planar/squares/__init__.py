"""Measured throws of a square (section 6.2): from recorded poses to J/m, and why it is what it is."""
