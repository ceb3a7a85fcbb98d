"""Hooks by which applications take part in the acceptance of an invitation: its place, and a fee that is due first.

`@on_invite_accepted` registers a function that runs in the transaction of the acceptance, with the invitation locked
and still pending. It returns whether the merchant takes part only later, when the fee is settled. It may refuse the acceptance:

    @on_invite_accepted
    def request_fee(session, invite):
        if …: raise StallTypeFull(…)
        return bool(invite.fee_minor)

`@counts_places` registers the function that says how many places of a stall type are left at an event, and keeps them
until the transaction ends; None without a limit. Automatic acceptances take no more.
"""

from collections.abc import Callable

from sqlalchemy.orm import Session as OrmSession

from app.core.db import ReadOrWriteSession
from app.invitations.models import EventInvite

AcceptanceHook = Callable[[ReadOrWriteSession, EventInvite], bool]
PlacesHook = Callable[[OrmSession, str, str | None], int | None]
_acceptance_hooks: list[AcceptanceHook] = []
_places_hooks: list[PlacesHook] = []


def on_invite_accepted(hook: AcceptanceHook) -> AcceptanceHook:
    """Registers a function that runs when a merchant accepts an invitation."""
    _acceptance_hooks.append(hook)
    return hook


def must_wait_for_fee(session: ReadOrWriteSession, invite: EventInvite) -> bool:
    """Runs the hooks of an accepted invitation. Whether the merchant takes part only when the fee is settled."""
    answers = [hook(session, invite) for hook in _acceptance_hooks]
    return any(answers)


def counts_places(hook: PlacesHook) -> PlacesHook:
    """Registers the function that counts the places that are left."""
    _places_hooks.append(hook)
    return hook


def count_places_left(session: OrmSession, event_id: str, stall_type: str | None) -> int | None:
    """The places of the stall type that are left, kept until the transaction ends; None without a limit."""
    counts = [hook(session, event_id, stall_type) for hook in _places_hooks]
    return min((count for count in counts if count is not None), default=None)
