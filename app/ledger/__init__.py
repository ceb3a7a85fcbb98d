"""The ledger: every cent that a merchant earned or was paid, in double entry, written once and never changed."""
