"""A reproduction article per study, written by the run: prose whose sentences must hold, tables,
figures, verdicts.
"""
