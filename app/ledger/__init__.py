"""The ledger: earnings and payouts of merchants in double entry. Rows are inserted and never changed."""
