"""Blocks of tickets for sponsors, artists, press, staff and groups: handed out, claimed, and admitted at the gate."""
