"""The log of admissions: who entered an event, where, when and by which device; and its counts."""
