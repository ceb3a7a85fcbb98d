"""Allocations over HTTP: for organisers, for those who bring a link, and for the gate."""
