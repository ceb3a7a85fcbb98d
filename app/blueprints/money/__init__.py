"""Routes of the money of events and organisations."""
