"""A user's own tosses, predicted with the parameters that a finished run has identified."""
