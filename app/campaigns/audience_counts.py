"""Counting an audience: in full for a preview and when sending starts, else only if it is small."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from sqlalchemy import TextClause, text
from sqlalchemy.orm import Session as OrmSession

from app.accounts.caller import Caller
from app.campaigns import audience_sql
from app.campaigns.filtered_people_sql import Filter, build_filter_parameters
from app.campaigns.states import CHANNELS, FILTERED, HOLDERS, SPECIFIC
from app.core.addresses import mask_address
from app.core.db import fetch_rows
from app.core.errors import NotFound
from app.events.queries import ownership_params

SMALL = 1_000
"""Places up to which an audience is counted while a campaign is written."""
SAMPLE_SIZE, SAMPLE_CANDIDATES = 5, 200
EXCLUDED = ("optedOut", "noAddress", "suppressed", "duplicate", "notRelated")


@dataclass(frozen=True, kw_only=True)
class Audience:
    """The people that a campaign is for, its channels, and the share of variant B in percent."""

    type: str = HOLDERS
    channels: Sequence[str] = ("email",)
    respect: bool = True
    user_ids: Sequence[str] = ()
    filter: Filter | None = None
    share_b: float = 0

    @property
    def ordered_channels(self) -> tuple[str, ...]:
        """The channels in the order of their columns in statements."""
        return tuple(channel for channel in CHANNELS if channel in self.channels)

    @property
    def parameters(self) -> dict[str, object]:
        ids = list(self.user_ids) if self.type == SPECIFIC else None
        chosen = build_filter_parameters(self.filter or {}) if self.type == FILTERED else {}
        return {"respect": self.respect, "ids": ids, **chosen}


class AudiencePreview(TypedDict):
    """The counts of an audience as they are stored with the campaign; None while a large audience is not counted."""

    type: str
    total: int
    people: int | None
    reachable: dict[str, int] | None
    excluded: dict[str, int] | None
    variants: dict[str, int] | None


class SamplePerson(TypedDict):
    """A person who is reached, with a masked e-mail address."""

    name: str | None
    email: str | None
    tickets: int
    channels: list[str]


class AudiencePreviewWithSample(AudiencePreview):
    sample: list[SamplePerson]


@dataclass(frozen=True, kw_only=True)
class AudienceCounts:
    """The event's time zone and the counts of the audience."""

    timezone: str
    audience: AudiencePreview


def count_audience(caller: Caller, event_id: str, audience: Audience, *, small: int = SMALL) -> AudienceCounts:
    """The counts of an audience; for more than `small` places only their total. Raises NotFound.

    So the request is as fast for 100,000 people as for ten. The full count follows when sending starts. A filtered audience
    is always counted, because its total is known only then.
    """
    if audience.type == FILTERED:
        timezone, *counts = _count_all(caller, event_id, audience)
        return AudienceCounts(timezone=timezone, audience=_build_preview(audience, counts))
    statement = audience_sql.count_small_sql(audience.type, audience.ordered_channels)
    parameters = {"small": small, "after": "", "most": small}
    timezone, total, *counts = _fetch_counts(statement, caller, event_id, audience, parameters, prepare=None)
    preview = _build_preview(audience, counts) if total <= small else _build_uncounted(audience, int(total))
    return AudienceCounts(timezone=timezone, audience=preview)


def preview_audience(caller: Caller, event_id: str, audience: Audience) -> AudiencePreviewWithSample:
    """The counts of an audience and a sample of five people with masked e-mail addresses. Raises NotFound."""
    row = _count_all(caller, event_id, audience)
    parameters = {"event_id": event_id, "after": "", "most": SAMPLE_CANDIDATES, **audience.parameters}
    sample_statement = audience_sql.sample_sql(audience.type, audience.ordered_channels, SAMPLE_SIZE)
    sample: list[SamplePerson] = [
        {"name": name, "email": mask_address(email), "tickets": places, "channels": channels}
        for email, name, places, channels in fetch_rows(sample_statement, parameters, prepare=False)
    ]
    return {**_build_preview(audience, row[1:]), "sample": sample}


def final_counts(session: OrmSession, event_id: str, audience: Audience) -> AudiencePreview:
    """The counts of an audience in the transaction that starts to send."""
    people = audience_sql.audience_sql(audience.type)
    statement = text(audience_sql.audience_counts_sql(audience.type, audience.ordered_channels, people))
    row = session.execute(statement, {"event_id": event_id, **audience.parameters}).one()
    return _build_preview(audience, list(row))


def _count_all(caller: Caller, event_id: str, audience: Audience) -> tuple[Any, ...]:
    # Planned for this event: a generic plan would read a large event as if it were small.
    statement = audience_sql.count_all_sql(audience.type, audience.ordered_channels)
    return _fetch_counts(statement, caller, event_id, audience, {}, prepare=False)


def _fetch_counts(
    statement: TextClause,
    caller: Caller,
    event_id: str,
    audience: Audience,
    parameters: dict[str, object],
    *,
    prepare: bool | None,
) -> tuple[Any, ...]:
    owner = {"event_id": event_id, **ownership_params(caller)}
    rows = fetch_rows(statement, {**owner, **parameters, **audience.parameters}, prepare=prepare)
    if not rows:
        raise NotFound()
    return rows[0]


def _build_uncounted(audience: Audience, total: int) -> AudiencePreview:
    return {
        "type": audience.type,
        "total": total,
        "people": None,
        "reachable": None,
        "excluded": None,
        "variants": None,
    }


def _build_preview(audience: Audience, counts: Sequence[int]) -> AudiencePreview:
    """The preview from a row of `audience_counts_sql`."""
    channels = audience.ordered_channels
    total, people, *others = (int(count) for count in counts)
    excluded = dict(zip((*audience_sql.REASONS, "notRelated"), others[len(channels) :], strict=True))
    people_b = round(people * audience.share_b / 100)
    return {
        "type": audience.type,
        "total": total,
        "people": people,
        "reachable": {**dict.fromkeys(CHANNELS, 0), **dict(zip(channels, others, strict=False))},
        "excluded": {name: excluded[name] for name in EXCLUDED},
        "variants": {"A": people - people_b, "B": people_b},
    }
