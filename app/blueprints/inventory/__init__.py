"""The HTTP operations of the stock."""
