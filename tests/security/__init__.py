"""Who may call what, what the logs save_tables to themselves, and what the documents of security promise."""
