"""Promised operations that do not exist yet. A test fails when one of them does: then it leaves this list."""

NOT_YET: frozenset[str] = frozenset()
