"""Devices of an event: making a pairing code, pairing, and ending."""

import re
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import func, select, update

from app.accounts.caller import Caller
from app.accounts.errors import CodeInvalid
from app.accounts.permissions import DEVICES
from app.accounts.queries import DEVICE_TOKEN_PREFIX
from app.audit.actions import Action
from app.audit.log import record
from app.core.errors import NotFound
from app.core.tokens import fingerprint, opaque_token
from app.core.transaction import transaction
from app.events.models import Event
from app.events.queries import owned
from app.teams.errors import TeamFull
from app.teams.models import Device
from app.teams.queries import DEVICE_LIFETIME_AFTER_EVENT, lock_permitted_team
from app.teams.revocation import may_creator_add_devices

PAIRING_LIFETIME = timedelta(minutes=10)
CODE_LENGTH, CODE_ALPHABET = 10, "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
MAX_DEVICES = 100
MISTAKES = str.maketrans("ILO", "110")


@dataclass(frozen=True, kw_only=True)
class PairedDevice:
    """A device that was paired just now, with its token, which is shown once."""

    device: Device
    token: str
    event_name: str
    works_until: datetime


def create_device(*, caller: Caller, event_id: str, kind: str, name: str) -> tuple[Device, str]:
    """Add a device to an event; return it with its pairing code, which works once within ten minutes.

    Raises NotFound, TeamFull.
    """
    code = "".join(secrets.choice(CODE_ALPHABET) for _ in range(CODE_LENGTH))
    with transaction() as session:
        organisation_id = session.scalar(select(Event.organiser_id).where(Event.id == event_id, owned(caller)))
        if organisation_id is None:
            raise NotFound()
        lock_permitted_team(session, caller, organisation_id, DEVICES, event_id)
        is_active = (Device.event_id == event_id, Device.ended_at.is_(None))
        if session.scalars(select(func.count()).where(*is_active)).one() >= MAX_DEVICES:
            raise TeamFull()
        device = Device(
            event_id=event_id,
            kind=kind,
            name=name,
            pairing_hash=fingerprint(code),
            pairing_expires_at=func.now() + PAIRING_LIFETIME,
            created_by=caller.id,
        )
        session.add(device)
        session.flush()
        session.refresh(device)
        record(session, Action.DEVICE_ADDED, event_id=event_id, subject=device.id, data={"kind": kind})
    return device, code


def pair_device(*, code: str, kind: str | None = None) -> PairedDevice:
    """Exchange a pairing code for the token of its device. One conditional update, so a code works once.

    With `kind`, the code of another kind of device is not used up. Raises CodeInvalid, also when the person who made the
    code may no longer add devices.
    """
    token = DEVICE_TOKEN_PREFIX + opaque_token()
    normalized = re.sub(r"[\s-]", "", code).upper().translate(MISTAKES)
    with transaction() as session:
        device = session.scalar(
            update(Device)
            .where(
                Device.pairing_hash == fingerprint(normalized),
                Device.paired_at.is_(None),
                Device.ended_at.is_(None),
                Device.pairing_expires_at > func.now(),
                may_creator_add_devices(),
                *(() if kind is None else (Device.kind == kind,)),
            )
            .values(token_hash=fingerprint(token), paired_at=func.now(), last_seen_at=func.now(), pairing_hash=None)
            .returning(Device),
            execution_options={"synchronize_session": False},
        )
        if device is None:
            raise CodeInvalid()
        record(session, Action.DEVICE_PAIRED, event_id=device.event_id, subject=device.id)
        event = session.execute(select(Event.name, Event.ends_at).where(Event.id == device.event_id)).one()
    return PairedDevice(
        device=device, token=token, event_name=event.name, works_until=event.ends_at + DEVICE_LIFETIME_AFTER_EVENT
    )


def end_device(*, caller: Caller, event_id: str, device_id: str) -> None:
    """End a device; its token is refused from the next request on. Repeating it changes nothing. Raises NotFound."""
    with transaction() as session:
        device = session.scalar(
            select(Device)
            .join(Event, Event.id == Device.event_id)
            .where(Device.id == device_id, Device.event_id == event_id, owned(caller))
            .with_for_update(of=Device)
        )
        if device is None:
            raise NotFound()
        if device.ended_at is None:
            device.ended_at, device.pairing_hash = func.now(), None
            record(session, Action.DEVICE_ENDED, event_id=event_id, subject=device_id)
