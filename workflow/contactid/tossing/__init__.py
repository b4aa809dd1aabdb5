"""The tossing study: boxes on a conveyor, their friction and restitution, and where they come to
rest.
"""
