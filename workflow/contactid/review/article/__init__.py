"""A reproduction article per study, written by the run: prose that must hold, tables, figures."""
