"""Admission at the gate: each slot exactly once, with any number of scanners.

One ticket is one statement: it admits the slot, logs it, and adds to a counter that no other connection writes.
So scanners wait for each other only over the same ticket, and the one that waited finds it admitted. A party is first
locked in the order of its ids, because only then it is known who has not been admitted yet.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import psycopg
from sqlalchemy import Row, Select, select
from sqlalchemy.orm import Session

from app.accounts.caller import Caller
from app.accounts.models import Account
from app.admissions.kinds import IN
from app.admissions.queries import find_scan
from app.admissions.sql import scan_params
from app.admissions.times import resolve_occurred_at
from app.allocations import sql, states
from app.allocations.errors import AlreadyAdmitted, NotClaimed, PartyTooSmall, SlotRevoked
from app.allocations.models import AllocationSlot
from app.allocations.sql import build_organiser_actor
from app.audit.actions import Action
from app.audit.log import entry_params
from app.core.db import db, fetch_rows
from app.core.errors import NotFound
from app.core.transaction import transaction, write_row
from app.events.models import Event
from app.events.queries import owned, ownership_params

SlotRow = Row[*tuple[Any, ...]]
"""A row of `_slots_query`: the fields of AdmittedSlot, `nonce`, `ended_at` and `admitted_by_name`."""


class AdmittedSlot(NamedTuple):
    """A slot as ADMIT_SLOT and ADMIT_PARTY return it."""

    id: str
    status: str
    name: str | None
    email: str | None
    phone: str | None
    code: str | None
    ticket_type_id: str
    block_id: str
    party_id: str | None
    party_size: int
    version: int
    admitted_at: datetime
    gate: str | None


class Admission(NamedTuple):
    """What one scan admitted: the first slot in the order of ids, the name of who admitted, and all slot ids."""

    slot: AdmittedSlot
    admitted_by: str | None
    slot_ids: list[str]


def admit_slot(
    caller: Caller,
    event_id: str,
    slot_id: str,
    *,
    nonce: str | None = None,
    gate: str | None = None,
    occurred_at: datetime | None = None,
    count: int | None = None,
) -> Admission:
    """Admit a claimed slot, or `count` slots of its party. The same nonce returns the first result again.

    If the scanned slot is revoked or not claimed, none of its party is admitted by it. `occurred_at` is for scanners
    that were offline: up to 72 hours ago, a naive time in the event's time zone. Raises NotFound, ValidationFailed,
    SlotRevoked, NotClaimed, AlreadyAdmitted, PartyTooSmall.
    """
    params = {
        **build_organiser_actor(caller).build_params("admit"),
        **entry_params(Action.ADMITTED, caller),
        "slot_id": slot_id,
        "event_id": event_id,
        **ownership_params(caller),
        "nonce": nonce,
        "gate": gate,
        "occurred_at": resolve_occurred_at(event_id, occurred_at),
        **scan_params(caller, count or 1, nonce),
    }
    try:
        return _admit(caller, event_id, slot_id, params, nonce=nonce, count=count)
    except psycopg.errors.UniqueViolation:
        # The scan with this nonce was undone, or it was of another guest: then this one is logged without it.
        logged_admission = _find_logged_admission(_get_slot(caller, event_id, slot_id), nonce)
        if logged_admission is not None:
            return logged_admission
        return _admit(caller, event_id, slot_id, {**params, "admission_nonce": None}, nonce=nonce, count=count)


def _admit(
    caller: Caller,
    event_id: str,
    slot_id: str,
    params: Mapping[str, object],
    *,
    nonce: str | None,
    count: int | None,
) -> Admission:
    if count is not None:
        return _admit_party(caller, event_id, slot_id, params, nonce=nonce, count=count)
    row = write_row(sql.ADMIT_SLOT, params)
    if row is None:
        return _replay_or_refuse(_get_slot(caller, event_id, slot_id), nonce)
    return _build_admission([AdmittedSlot(*row)], caller.name)


def _admit_party(
    caller: Caller, event_id: str, slot_id: str, params: Mapping[str, object], *, nonce: str | None, count: int
) -> Admission:
    with transaction() as session:
        party = _lock_party(session, _get_slot(caller, event_id, slot_id))
        scanned_slot = party[0]
        if scanned_slot.status not in (states.CLAIMED, states.ADMITTED):
            return _replay_or_refuse(scanned_slot, nonce)
        admitted_by_nonce = [slot for slot in party if nonce is not None and slot.nonce == nonce]
        if admitted_by_nonce:
            return _build_admission(
                [_to_admitted_slot(slot) for slot in admitted_by_nonce], admitted_by_nonce[0].admitted_by_name
            )
        remaining_ids = [slot.id for slot in party if slot.status == states.CLAIMED]
        if not remaining_ids:
            return _replay_or_refuse(scanned_slot, nonce)
        if len(remaining_ids) < count:
            logged_admission = _find_logged_admission(scanned_slot, nonce)
            if logged_admission is not None:
                return logged_admission
            raise PartyTooSmall(remaining=len(remaining_ids), requested=count)
        rows = fetch_rows(sql.ADMIT_PARTY, {**params, "ids": remaining_ids[:count]})
        return _build_admission([AdmittedSlot(*row) for row in rows], caller.name)


def _get_slot(caller: Caller, event_id: str, slot_id: str) -> SlotRow:
    """Return a slot of the caller's event, with the name of who admitted it. Raises NotFound."""
    statement = (
        _slots_query()
        .join(Event, Event.id == AllocationSlot.event_id)
        .where(AllocationSlot.id == slot_id, AllocationSlot.event_id == event_id, owned(caller))
    )
    slot = db.session.execute(statement).first()
    if slot is None:
        raise NotFound()
    return slot


def _lock_party(session: Session, slot: SlotRow) -> list[SlotRow]:
    """Lock the scanned slot and its party, and return them as they are now, the scanned slot first.

    A rename may have taken the slot out of its party since it was read, so the locked row decides which party it is.
    """
    condition = AllocationSlot.id == slot.id
    if slot.party_size > 1:
        condition |= (AllocationSlot.party_id == slot.party_id) & (AllocationSlot.party_size > 1)
    statement = (
        _slots_query()
        .where(AllocationSlot.event_id == slot.event_id, condition)
        .order_by(AllocationSlot.id)
        .with_for_update(of=AllocationSlot, key_share=True)
    )
    rows = session.execute(statement).all()
    scanned_slot = next(row for row in rows if row.id == slot.id)
    others = [row for row in rows if row.party_id == scanned_slot.party_id and row is not scanned_slot]
    return [scanned_slot, *others]


def _slots_query() -> Select[*tuple[Any, ...]]:
    columns = [getattr(AllocationSlot, name) for name in (*AdmittedSlot._fields, "event_id", "nonce", "ended_at")]
    return select(*columns, Account.name.label("admitted_by_name")).outerjoin(
        Account, Account.id == AllocationSlot.admitted_by
    )


def _replay_or_refuse(slot: SlotRow, nonce: str | None) -> Admission:
    """Return the first result to the nonce that admitted the slot. Raises SlotRevoked, NotClaimed, AlreadyAdmitted."""
    if slot.status == states.REVOKED:
        raise SlotRevoked(revokedAt=slot.ended_at, name=slot.name)
    if slot.status != states.ADMITTED:
        raise NotClaimed(status=slot.status)
    logged_admission = _find_logged_admission(slot, nonce)
    if logged_admission is not None:
        return logged_admission
    if nonce is not None and slot.nonce == nonce:
        return _build_admission([_to_admitted_slot(slot)], slot.admitted_by_name)
    raise AlreadyAdmitted(admittedAt=slot.admitted_at, gate=slot.gate, admittedBy=slot.admitted_by_name, name=slot.name)


def _find_logged_admission(slot: SlotRow, nonce: str | None) -> Admission | None:
    """Return the first result to a nonce by the log, if it was of this slot or its party: also of a scan, or undone."""
    logged_scan = find_scan(slot.event_id, nonce) if nonce is not None else None
    if logged_scan is None or logged_scan.direction != IN:
        return None
    statement = _slots_query().where(
        AllocationSlot.event_id == slot.event_id, AllocationSlot.id.in_(logged_scan.place_ids)
    )
    slots = db.session.execute(statement).all()
    if not any(other.id == slot.id or (slot.party_id and other.party_id == slot.party_id) for other in slots):
        return None
    admission = _build_admission([_to_admitted_slot(other) for other in slots], logged_scan.by)
    first = admission.slot._replace(status=states.ADMITTED, admitted_at=logged_scan.occurred_at, gate=logged_scan.gate)
    return admission._replace(slot=first)


def _to_admitted_slot(slot: SlotRow) -> AdmittedSlot:
    return AdmittedSlot(*slot[: len(AdmittedSlot._fields)])


def _build_admission(slots: Sequence[AdmittedSlot], admitted_by: str | None) -> Admission:
    ordered_slots = sorted(slots, key=lambda slot: slot.id)
    return Admission(ordered_slots[0], admitted_by, [slot.id for slot in ordered_slots])
