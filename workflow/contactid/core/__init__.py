"""Mathematics and small things that several studies share."""
