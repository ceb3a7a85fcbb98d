"""Who may call what, what the logs keep to themselves, and what the documents of security promise."""
