"""Merchant applications: the form, the decision, documents, the stall fee, and the activation of the account."""
