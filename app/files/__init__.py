"""Files of organisations: what long work makes, kept for seven days for those who may do what it was made for."""
