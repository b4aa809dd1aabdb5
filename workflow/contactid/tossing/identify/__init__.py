"""Friction and restitution from trajectories and from impacts, by search and by mathematical
programs.
"""
