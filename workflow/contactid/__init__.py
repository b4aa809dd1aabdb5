"""Identify bodies from impacts: the mathematics behind the workflow, with no Snakemake in it."""

__version__ = "1.0.0"
