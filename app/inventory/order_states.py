"""The states of a purchase order: open until its delivery is here, or it is cancelled."""

OPEN, RECEIVED, CANCELLED = "open", "received", "cancelled"
ORDER_STATES = (OPEN, RECEIVED, CANCELLED)
