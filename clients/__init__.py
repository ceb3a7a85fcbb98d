"""What integrators get: everything here is made from the OpenAPI document, and from nothing else."""
