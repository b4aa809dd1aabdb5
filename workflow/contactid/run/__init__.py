"""What runs a rule, here and on a cluster."""
