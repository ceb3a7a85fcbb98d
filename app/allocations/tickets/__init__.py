"""Tickets in emails, on pages, as PDFs, and in printed packs."""
