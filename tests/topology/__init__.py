"""More than one machine, on loopback: a primary with its replica, a pooler, Sentinels, several nodes."""
