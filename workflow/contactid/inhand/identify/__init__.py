"""Inertial parameters of a held object from its recordings, in the paper's way and with hard
constraints.
"""
