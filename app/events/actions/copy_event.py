"""The copy of an event for the next year: a new draft with the same facts, and all times some years of 52 weeks later."""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from app.accounts.caller import Caller
from app.accounts.quotas import EVENTS_QUOTA, count_unverified_use
from app.audit.actions import Action
from app.audit.log import record
from app.core.clock import rfc3339
from app.core.db import database_now
from app.core.errors import NotFound
from app.core.transaction import transaction
from app.events import queries, ticket_types
from app.events.actions.event_actions import LISTS, apply_changes, build_draft
from app.events.models import Event, StoredObject
from app.events.timezones import to_instant

YEAR = timedelta(weeks=52)
"""A year of whole weeks, so that a festival stays on its days of the week."""
Shift = Callable[[datetime], datetime]
COPIED_FIELDS = (
    "description",
    "cover_image_url",
    "poster_image_url",
    "venue",
    "city",
    "country",
    "latitude",
    "longitude",
    "reentry",
    "capacity",
    "category",
    "is_cashless",
    "starts_at",
    "ends_at",
    "sales_end_at",
    "applications_end_at",
    *LISTS,
    "promotion",
)
STORED_TIMES = frozenset({"startsAt", "endsAt"})


def copy_event(*, caller: Caller, id: str) -> Event:
    """The new draft. It starts in the future; a year in the name moves as well. Nothing that was sold comes along.

    Raises NotFound, also if the caller may not create events for the organisation.
    """
    with transaction() as session:
        source = queries.lock_own_event(session, caller, id)
        is_in_organisation = source.organiser_id in caller.grant.organisation_ids
        if not is_in_organisation and not caller.has_permission_everywhere:
            raise NotFound()
        count_unverified_use(session, caller, EVENTS_QUOTA)
        shift = _build_shift(source, database_now())
        copy = build_draft(source.organiser_id, source.timezone)
        fields = _shift_times({name: getattr(source, name) for name in COPIED_FIELDS}, shift)
        fields["name"] = _shift_year(source, fields["starts_at"])
        fields["ticket_types"] = [
            {**_shift_times(ticket_type, shift), "id": None} for ticket_type in ticket_types.list_type_fields(source)
        ]
        promo_codes = fields.pop("promo_codes")
        apply_changes(session, copy, caller, fields)
        copy.promo_codes = _retarget(promo_codes, source, copy)
        record(
            session,
            Action.EVENT_CREATED,
            organisation_id=copy.organiser_id,
            event_id=copy.id,
            subject=copy.id,
            data={"copiedFrom": source.id},
        )
    return copy


def _build_shift(source: Event, now: datetime) -> Shift:
    """How times move: by years of whole weeks, on the clock of the event, until it starts in the future."""
    years = max(1, -((source.starts_at - now) // YEAR))
    zone = source.timezone

    def shift(moment: datetime) -> datetime:
        local_time = moment.astimezone(ZoneInfo(zone)).replace(tzinfo=None)
        return to_instant(local_time + years * YEAR, zone)

    return shift


def _shift_times(value: Any, shift: Shift) -> Any:
    """The same value with its times moved, also those in stored JSON."""
    if isinstance(value, datetime):
        return shift(value)
    if isinstance(value, Mapping):
        return {
            name: rfc3339(shift(datetime.fromisoformat(member)))
            if name in STORED_TIMES and isinstance(member, str)
            else _shift_times(member, shift)
            for name, member in value.items()
        }
    return [_shift_times(member, shift) for member in value] if isinstance(value, list) else value


def _shift_year(source: Event, starts_at: datetime) -> str:
    zone = ZoneInfo(source.timezone)
    return source.name.replace(str(source.starts_at.astimezone(zone).year), str(starts_at.astimezone(zone).year))


def _retarget(promo_codes: list[StoredObject], source: Event, copy: Event) -> list[StoredObject]:
    """The promo codes, for the copied ticket types instead of those of the source."""
    new_ids = {old.id: new.id for old, new in zip(source.ticket_types, copy.ticket_types, strict=True)}
    return [
        {**code, "ticketTypeIds": [new_ids[id] for id in code["ticketTypeIds"] if id in new_ids]}
        if code.get("ticketTypeIds")
        else code
        for code in promo_codes
    ]
