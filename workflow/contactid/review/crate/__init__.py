"""A run as a research object: Workflow Run RO-Crate, profile 0.5."""
