"""The audit trail: who did what, on what, from where. It is written in the transaction of each act and never changed."""
