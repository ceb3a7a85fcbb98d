"""Tickets sold elsewhere: reading what other systems export."""
