"""A run as one archive that is opened, checked and recomputed without the repository."""
