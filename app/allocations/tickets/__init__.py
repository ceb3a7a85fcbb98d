"""Tickets as people hold them: in a mail, as a PDF, on a page, and as a pack of sheets for the door."""
