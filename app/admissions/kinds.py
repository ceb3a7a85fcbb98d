"""Kinds of places that are admitted, and directions of scans."""

ALLOCATION, TICKET, UNKNOWN = "allocation", "ticket", "unknown"
PLACE_KINDS = (ALLOCATION, TICKET, UNKNOWN)
IN, OUT = "in", "out"
