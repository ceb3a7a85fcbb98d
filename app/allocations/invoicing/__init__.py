"""Invoices for blocks of tickets: numbered without gaps, frozen when issued, drawn the same for ever."""
