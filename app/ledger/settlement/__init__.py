"""Settlement files: earnings come in by `flask ledger settle FILE.csv`."""
