"""Whether a ticket enters an event again: never, after it was scanned at the exit, or always."""

NO_REENTRY, COUNTED_REENTRY, FREE_REENTRY = "none", "counted", "free"
REENTRY_MODES = (NO_REENTRY, COUNTED_REENTRY, FREE_REENTRY)
