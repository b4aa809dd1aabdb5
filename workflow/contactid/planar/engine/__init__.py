"""One least-squares problem for planar throws: unknowns in a table, motions from event to event,
one search.
"""
