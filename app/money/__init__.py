"""The money of events and organisations, read from the books of all domains: figures, journal and VAT."""
