"""Invoices and credit notes of all domains: what they say, their numbers, their VAT and their PDF."""
