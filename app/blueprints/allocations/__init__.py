"""Routes of allocations: for organisers, for holders of links, and for the gate."""
