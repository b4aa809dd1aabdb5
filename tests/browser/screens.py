"""Sizes of screens, CSS pixels."""

WIDE, NARROW = (1280, 900), (360, 740)
