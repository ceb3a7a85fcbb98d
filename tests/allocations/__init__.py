"""Allocations."""
