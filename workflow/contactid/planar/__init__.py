"""The planar study: state, inertia ratio and friction of planar bodies from their frictional
impacts.
"""
