"""What identified parameters predict, how sure that is, and what it depends on."""
