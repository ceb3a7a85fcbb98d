"""The ledger in detail."""
