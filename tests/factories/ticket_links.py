"""Guests with the link of their ticket, over HTTP."""

from typing import Any

from tests.factories.allocations import Block, claim_slot
from tests.http import Client, data

MARIA = {"name": "Maria Shilongo", "email": "maria@example.com"}


class Guest:
    """A guest who claimed tickets of a block. `path` is that of the API, `page` that of the page of their ticket."""

    def __init__(self, block: Block, claim: dict[str, Any]) -> None:
        self.block, self.slot_id, self.code, self.email = block, claim["slotId"], claim["code"], claim["email"]
        self.slots: list[dict[str, str]] = claim["slots"]
        self.token = claim["ticketUrl"].rpartition("/")[2]
        self.flask = block.owner.flask

    @property
    def path(self) -> str:
        return f"/api/allocations/ticket/{self.token}"

    @property
    def page(self) -> str:
        return f"/ticket/{self.token}"

    def read(self, client: Client | None = None) -> Any:
        return (client or Client(self.flask)).get(self.path)

    def pass_on(self, client: Client | None = None, **person: str) -> Any:
        return (client or Client(self.flask)).post(f"{self.path}/pass-on", {**MARIA, **person})

    def give_back(self, client: Client | None = None) -> Any:
        return (client or Client(self.flask)).post(f"{self.path}/give-back")


def claim_as_guest(block: Block, **person: Any) -> Guest:
    """Claim a place by a code, or several (`quantity`) by the open link."""
    quantity = person.get("quantity", 1)
    token = block.open_link(maxPerClaim=quantity) if quantity > 1 else block.codes(1)[0]
    return Guest(block, data(claim_slot(block.owner, token, **{"delivery": "e_ticket", **person})))
