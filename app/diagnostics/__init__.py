"""Diagnostics: error reports of clients, with secrets masked, stored for thirty days."""
