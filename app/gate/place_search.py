"""The search for guests by name at the gate, over slots and imported tickets."""

from datetime import datetime
from typing import NamedTuple

from app.accounts.caller import Caller
from app.allocations.will_call import build_tsquery
from app.core.addresses import mask_address
from app.core.db import fetch_rows
from app.gate.lookup_sql import SEARCH
from app.gate.places import find_event


class PlaceMatch(NamedTuple):
    """A place whose guest can be admitted, or was. `code_end` is of the code of a block's ticket, or of the order number."""

    id: str
    kind: str
    name: str | None
    email: str | None
    ticket_type: str
    status: str
    party_size: int
    admitted_at: datetime | None
    left_at: datetime | None
    block_name: str | None
    code_end: str | None
    phone: str | None

    @property
    def details(self) -> list[str]:
        """What tells guests of the same name apart, without whole codes, addresses and numbers."""
        code_end = f"…{self.code_end}" if self.code_end else None
        return [
            text for text in (self.block_name, code_end, mask_address(self.email), mask_address(self.phone)) if text
        ]


def search_places(caller: Caller, event_id: str, q: str) -> list[PlaceMatch]:
    """Return the first 50 claimed slots and sold tickets that match every word of `q`, by name. Raises NotFound.

    Each word is the beginning of a word of the name, of the email address, or of the code or reference. The
    whole number of an order finds its tickets.
    """
    event = find_event(caller, event_id)
    params = {"event_id": event.id, "words": build_tsquery(q, event.id), "q": q.strip()}
    return [PlaceMatch(*row) for row in fetch_rows(SEARCH, params, prepare=False)]
