"""Scanning at the gate: admits whatever a code belongs to, online or later."""
