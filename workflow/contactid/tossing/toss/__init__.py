"""A user's own tosses of a box: friction, restitution, centre of mass and inertia from poses alone."""
