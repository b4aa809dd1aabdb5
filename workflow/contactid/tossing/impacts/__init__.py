"""Impacts of single corners: what is known of one, how they are found, and the law that they are
held against.
"""
