"""Merchant applications: from the form to the stall, by way of documents, stall fee and activation."""
