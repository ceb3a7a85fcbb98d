"""What integrators get is fresh, whole, and works."""
