"""What tables and figures are, how they look and are written, and how they compare with print."""
