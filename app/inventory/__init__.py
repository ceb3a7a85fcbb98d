"""Stock of an event: items, movements that are only ever added, imports, exports, reminders and orders."""
