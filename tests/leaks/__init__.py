"""No secret of a test run may stand in a log of that run: what is secret is learned, what is logged is remembered."""
