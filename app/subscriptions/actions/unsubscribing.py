"""Saying no by a link, and taking it back. Each is one statement, and the same however often it comes."""

from app.core.ids import new_id
from app.core.transaction import write_row
from app.subscriptions.links import Subject

END = """
    INSERT INTO unsubscribe (id, address, organiser_id)
    SELECT %(id)s, %(address)s, CAST(%(organiser_id)s AS text)
     WHERE CAST(%(organiser_id)s AS text) IS NULL OR EXISTS (SELECT FROM account WHERE id = %(organiser_id)s)
        ON CONFLICT DO NOTHING RETURNING id
"""
BEGIN_AGAIN = """
    DELETE FROM unsubscribe
     WHERE address = %(address)s AND (organiser_id = %(organiser_id)s OR organiser_id IS NULL) RETURNING id
"""


def unsubscribe(subject: Subject, *, everything: bool = False) -> None:
    """Ends the messages that the link is about, on every channel; with `everything`, those of all organisers."""
    organiser = None if everything else subject.organiser_id
    write_row(END, {"id": new_id(), "address": subject.address, "organiser_id": organiser})


def resubscribe(subject: Subject) -> None:
    """Lets the organiser of the link write again, and all whose messages were not ended one by one."""
    write_row(BEGIN_AGAIN, {"address": subject.address, "organiser_id": subject.organiser_id})
