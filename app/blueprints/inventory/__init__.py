"""The face of the stock."""
