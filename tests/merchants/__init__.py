"""Merchants in detail."""
