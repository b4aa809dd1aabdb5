"""Datasets: registry, lock, download, mirrors; the canonical form of motion; safe access to files."""
