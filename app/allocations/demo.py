"""Demo blocks: a sponsor's, half claimed, one for the press at a current event, and one whose invoice is paid.

Events that have blocks are skipped, so seeding twice changes nothing.
"""

from collections.abc import Sequence
from typing import NotRequired, TypedDict

from sqlalchemy import select

from app.accounts.caller import Caller, build_caller
from app.accounts.models import Account
from app.allocations import actions, states
from app.allocations.actions.blocks import Holder
from app.allocations.actions.guest_lists import Recipient
from app.allocations.invoice_payments import receive_invoice_payment
from app.allocations.invoices import get_invoice, get_or_issue_invoice_pdf
from app.allocations.links import encode_token
from app.allocations.models import AllocationBlock
from app.core.clock import utcnow
from app.core.db import db
from app.events.models import Event, TicketType


class DemoBlock(TypedDict):
    """A block to create, and the names of its invited and claimed guests; the first `admitted` guests are admitted."""

    event: str
    type: str
    quantity: int
    kind: str
    name: str
    holder: Holder
    unit_price_minor: NotRequired[int]
    invited: NotRequired[Sequence[str]]
    claimed: Sequence[str]
    admitted: NotRequired[int]
    is_invoice_paid: NotRequired[bool]


DEMO_BLOCKS: Sequence[DemoBlock] = (
    {
        "event": "Windhoek Lights",
        "type": "Weekend pass",
        "quantity": 20,
        "kind": "sponsor",
        "name": "Gold sponsor",
        "holder": {
            "name": "Lukas Haufiku",
            "email": "lukas@kalahari-coffee.example",
            "phone": "+264811234567",
            "organisation": "Kalahari Coffee",
        },
        "invited": ("Ndapewa Iipinge", "Johan van Wyk", "Zoë Großmann", "Selma Nangolo"),
        "claimed": ("Frieda Amupolo", "Tjizembua Kauaria", "Elago Nghipandulwa", "Maria ǃGaroës", "Petrus Shilongo"),
    },
    {
        "event": "Katutura Food Weekend",
        "type": "Entry",
        "quantity": 15,
        "kind": "press",
        "name": "Press",
        "unit_price_minor": 0,
        "holder": {"name": "Hilma Weber", "email": "hilma@the-dune-post.example", "organisation": "The Dune Post"},
        "claimed": ("Hilma Weber", "Immanuel Shiweda", "Johanna Beukes", "Rauna Hango", "Tuli Hamutenya", "Jan Beukes"),
        "admitted": 4,
    },
    {
        "event": "Okahandja Night Market",
        "type": "Adult",
        "quantity": 10,
        "kind": "sponsor",
        "name": "Stage sponsor",
        "unit_price_minor": 5000,
        "holder": {
            "name": "Lukas Haufiku",
            "email": "lukas@kalahari-coffee.example",
            "organisation": "Kalahari Coffee",
        },
        "claimed": ("Selma Nangolo", "Johan van Wyk", "Ndapewa Iipinge"),
        "admitted": 3,
        "is_invoice_paid": True,
    },
)


def seed(organiser_id: str) -> int:
    """Create the demo blocks of an organiser; return how many were created."""
    blocks_by_event = {demo_block["event"]: demo_block for demo_block in DEMO_BLOCKS}
    rows = db.session.execute(
        select(Event.name, Event.id, TicketType.id, TicketType.name)
        .join(TicketType, TicketType.event_id == Event.id)
        .where(
            Event.organiser_id == organiser_id,
            Event.name.in_(blocks_by_event),
            ~select(AllocationBlock.id).where(AllocationBlock.event_id == Event.id).exists(),
        )
    ).all()
    matching_rows = [row for row in rows if blocks_by_event[row[0]]["type"] == row[3]]
    for name, event_id, type_id, _ in matching_rows:
        _create_block(build_caller(db.session.get_one(Account, organiser_id)), event_id, type_id, blocks_by_event[name])
    return len(matching_rows)


def _create_block(caller: Caller, event_id: str, type_id: str, demo_block: DemoBlock) -> None:
    block_id = actions.create_block(
        caller,
        event_id,
        ticket_type_id=type_id,
        quantity=demo_block["quantity"],
        kind=demo_block["kind"],
        name=demo_block["name"],
        holder=demo_block["holder"],
        unit_price_minor=demo_block.get("unit_price_minor"),
    )
    recipients: list[Recipient] = [
        {"name": guest_name, "email": _build_email_address(guest_name)} for guest_name in demo_block.get("invited", ())
    ]
    if recipients:
        actions.invite_recipients(
            caller, event_id, block_id, recipients=recipients, allow_duplicates=False, dry_run=False
        )
    block = actions.update_open_link(caller, event_id, block_id)
    token = encode_token("open", block_id, block["open_generation"])
    for number, name in enumerate(demo_block["claimed"]):
        delivery = states.WILL_CALL if number else states.E_TICKET
        claimed_slot = actions.claim_slot(token, "demo", name=name, email=_build_email_address(name), delivery=delivery)
        if number < demo_block.get("admitted", 0):
            actions.admit_slot(caller, event_id, claimed_slot["slot_id"], gate="Main gate")
    if demo_block.get("is_invoice_paid"):
        get_or_issue_invoice_pdf(caller, event_id, block_id)
        receive_invoice_payment(
            caller,
            event_id,
            block_id,
            amount_minor=get_invoice(caller, event_id, block_id)["due_minor"],
            reference="Kalahari Coffee sponsorship",
            received_on=utcnow().date(),
        )


def _build_email_address(name: str) -> str:
    ascii_name = "".join(
        character
        for character in name.lower().replace("ë", "e").replace("ö", "o").replace("ß", "ss")
        if character.isascii() and (character.isalpha() or character == " ")
    )
    return f"{'.'.join(ascii_name.split())}@example.com"
