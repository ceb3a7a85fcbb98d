"""An event with a gate: claimed slots, imported tickets, and scans over HTTP."""

from itertools import count
from typing import Any

from sqlalchemy import text

from app.core.db import db
from app.core.transaction import transaction
from app.events.models import Event, Ticket
from tests.factories.allocations import Block, claim_slot, create_block
from tests.http import Client, data

_numbers = count(1)


class Gate:
    """The gate of an event, by default scanned by its organiser."""

    def __init__(self, client: Client, *, owner: Client | None = None, reentry: str = "none", total: int = 100) -> None:
        self.block: Block = create_block(client, owner=owner, total=total, quantity=total // 2)
        self.owner, self.event_id = self.block.owner, self.block.event["id"]
        if reentry != "none":
            with transaction() as session:
                session.get_one(Event, self.event_id).reentry = reentry

    @property
    def path(self) -> str:
        return f"/api/events/{self.event_id}/admissions"

    def scan(self, code: str | None = None, *, by: Client | None = None, nonce: str = "", **body: Any) -> Any:
        """The response to a scan, with a new nonce if none is given."""
        place = {} if code is None else {"code": code}
        sent = {**place, "nonce": nonce or f"n{next(_numbers)}", **body}
        return (by or self.owner).post(self.path, sent)

    def count_entries(self) -> int:
        """How many entries the tallies have, after a check that the log has as many."""
        (logged,) = db.session.execute(
            text("SELECT count(*) FROM admission WHERE event_id = :id AND direction = 'in' AND undone_at IS NULL"),
            {"id": self.event_id},
        ).one()
        counted = db.session.scalar(
            text("SELECT sum(entries) FROM admission_tally WHERE event_id = :id"), {"id": self.event_id}
        )
        assert counted == logged
        return int(logged)

    def undo(self, admission_id: str, *, by: Client | None = None, reason: str = "wrong ticket") -> Any:
        return (by or self.owner).post(f"{self.path}/{admission_id}/undo", {"reason": reason})

    def claim(self, name: str = "Frieda Amupolo") -> dict[str, Any]:
        """A claimed slot: `slotId` and `code`."""
        (code,) = self.block.codes(1)
        return data(claim_slot(self.owner, code, name=name, delivery="e_ticket"))

    def claim_party(self, size: int) -> list[str]:
        """The codes of a party, in the order of its slots."""
        token = self.block.open_link(maxPerClaim=size)
        party = data(claim_slot(self.owner, token, quantity=size, name="Party", delivery="e_ticket"))
        sql = text("SELECT code FROM allocation_slot WHERE party_id = :id ORDER BY id")
        return list(db.session.scalars(sql, {"id": party["slotId"]}))

    def sell(self, secret: str = "", *, event_id: str | None = None, **fields: Any) -> Ticket:
        """An imported ticket."""
        number = next(_numbers)
        event_id = event_id or self.event_id
        type_sql = text("SELECT id FROM ticket_type WHERE event_id = :id ORDER BY position")
        with transaction() as session:
            ticket = Ticket(**{
                "event_id": event_id,
                "ticket_type_id": session.scalars(type_sql, {"id": event_id}).first(),
                "reference": f"R{number}",
                "secret": secret or f"secret-{number}",
                "name": "Jonas Nghidinwa",
                "price_minor": 100,
                "sold_at": session.scalar(text("SELECT now()")),
                "status": "sold",
                **fields,
            })  # fmt: skip
            session.add(ticket)
            session.execute(
                text("UPDATE ticket_type SET sold = sold + 1 WHERE id = :id"), {"id": ticket.ticket_type_id}
            )
        return ticket
