"""Files of organisations: the work on them, and who sees them."""
