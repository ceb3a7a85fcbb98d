"""Imports of stock sheets: the parser and the writer."""
