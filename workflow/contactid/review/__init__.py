"""What a run says of itself: report, provenance, crate, bundle, checks."""
