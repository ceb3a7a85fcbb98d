"""Ways to be reached, and ways to say no."""
