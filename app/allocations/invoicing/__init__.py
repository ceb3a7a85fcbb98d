"""Invoices and credit notes of blocks: numbered without gaps, and never changed."""
