"""The stock of an event: items, movements, imports, exports, reports, reminders and purchase orders."""
