"""Letters of allocations: invitations, reminders and tickets."""

from typing import Any

from sqlalchemy import select

from app.allocations import books, links, states
from app.allocations.models import AllocationBlock, AllocationSlot
from app.clients.letters import letter
from app.clients.mail import send
from app.core.dates import moment
from app.core.db import db, release
from app.core.jobs import Delivery, Run, job


@job("allocations.invite", Delivery.AT_LEAST_ONCE)
def mail_invite(run: Run, *, slot_id: str, generation: int) -> None:
    """Mails somebody the link to his place, while it still counts."""
    _mail(run, "allocation_invite", slot_id, generation, states.INVITED)


@job("allocations.remind", Delivery.AT_LEAST_ONCE)
def mail_reminder(run: Run, *, slot_id: str, generation: int) -> None:
    """Mails the same link again."""
    _mail(run, "allocation_reminder", slot_id, generation, states.INVITED)


@job("allocations.ticket", Delivery.AT_LEAST_ONCE)
def mail_ticket(run: Run, *, slot_id: str, generation: int, slots: int) -> None:
    """Mails the ticket that somebody has claimed; with several `slots` those of his party."""
    _mail(run, "allocation_ticket", slot_id, generation, states.CLAIMED, slots=slots)


@job("allocations.credit", Delivery.LOCAL)
def credit(run: Run, *, block_id: str) -> None:
    """A priced block has become smaller. Where no invoice has been issued there is nothing to give back."""


def _mail(run: Run, template: str, slot_id: str, generation: int, status: str, slots: int = 1) -> None:
    told = _about(slot_id, generation, status)
    release()
    if told is None:
        return
    slot, block = told
    text = {
        "name": slot["name"] or "", "event": block["event_name"], "organiser": block["organiser_name"],
        "ticket": block["ticket_type_name"], "begins": moment(block["starts_at"], block["timezone"]),
        "venue": f"{block['venue']}, {block['city']}", "holder": block["holder_organisation"] or "",
        "until": moment(block["release_at"], block["timezone"]) if block["release_at"] else "",
        "url": links.url_of("claim", slot_id, generation), "code": slot["code"] or "", "places": slots,
    }  # fmt: skip
    sender = {"sender_name": block["organiser_name"], "reply_to": block["contact_email"]}
    send(letter(template, to=slot["email"], key=run.key, **sender, **text), fence=run.fence)


def _about(slot_id: str, generation: int, status: str) -> tuple[Any, Any] | None:
    """The slot and its block, or None when the secret that the letter would carry counts no longer."""
    columns = (AllocationSlot.block_id, AllocationSlot.name, AllocationSlot.email, AllocationSlot.code)
    slot = db.session.execute(
        select(*columns).where(
            AllocationSlot.id == slot_id, AllocationSlot.generation == generation, AllocationSlot.status == status
        )
    ).mappings().first()  # fmt: skip
    if slot is None or slot["email"] is None:
        return None
    return slot, db.session.execute(books.joined().where(AllocationBlock.id == slot["block_id"])).mappings().one()
