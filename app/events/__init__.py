"""Events: what the public sees, ticket types with their counters, and tickets sold."""
