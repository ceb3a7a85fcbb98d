"""Events, their ticket types with counters, discovery, and imports of sold tickets."""
