"""Invitations: the directory of merchants, invitations both ways, and who takes part in which event."""
