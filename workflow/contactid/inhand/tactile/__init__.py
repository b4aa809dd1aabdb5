"""Forces from the signals of a tactile fingertip, with their uncertainty."""
