"""Counting an audience: one statement that looks at the event, and at its people unless there are too many to ask."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import orjson
from sqlalchemy import TextClause, text
from sqlalchemy.orm import Session as OrmSession

from app.accounts.caller import Caller
from app.campaigns import audience
from app.campaigns.states import CHANNELS, HOLDERS
from app.core.addresses import mask_email
from app.core.db import fetch_rows
from app.core.errors import NotFound
from app.events.queries import READS, WRITES

FEW = 1_000
SAMPLE, AMONG = 5, 200
EXCLUDED = ("optedOut", "noAddress", "suppressed", "duplicate", "notRelated")
UNCOUNTED = {"people": None, "reachable": None, "excluded": None, "variants": None}
EVENT_ROW = f"""
    SELECT event.id, event.timezone,
           coalesce(cardinality(CAST(:ids AS text[])),
                    (SELECT coalesce(sum(sold + claimed + admitted), 0) FROM ticket_type
                      WHERE ticket_type.event_id = event.id)) AS counted
      FROM event
     WHERE event.id = {audience.EVENT} AND (CAST(:everybodys AS boolean) OR event.organiser_id = :caller_id)"""
WHOLE = f"SELECT ev.timezone, f.* FROM ({EVENT_ROW}) ev, ({{figures}}) f"
# Beyond so many the event is none, and so nobody is looked at.
IF_FEW = f"""
    WITH ev AS MATERIALIZED ({EVENT_ROW})
    SELECT ev.timezone, ev.counted, f.* FROM ev, ({{figures}}) f"""
FEW_EVENT = "(SELECT ev.id FROM ev WHERE ev.counted <= CAST(:few AS int))"


@dataclass(frozen=True, kw_only=True)
class Audience:
    """Who shall be written to."""

    type: str = HOLDERS
    channels: Sequence[str] = ("email",)
    respect: bool = True
    user_ids: Sequence[str] = ()
    share_b: float = 0

    @property
    def ordered(self) -> tuple[str, ...]:
        """The channels in the order that statements have them in."""
        return tuple(channel for channel in CHANNELS if channel in self.channels)

    @property
    def values(self) -> dict[str, Any]:
        return {"respect": self.respect, "ids": None if self.type == HOLDERS else list(self.user_ids)}


@dataclass(frozen=True, kw_only=True)
class AudienceCounts:
    """The event's time zone, and who is in the audience."""

    timezone: str
    audience: dict[str, Any]


def count_audience(caller: Caller, event_id: str, parameters: Audience, *, few: int = FEW) -> AudienceCounts:
    """The audience in figures. Of more than `few` places only their number is told; the rest is null. Raises NotFound.

    That keeps the request as quick for 100,000 as for ten: an audience is counted for good when sending starts.
    """
    statement = _count_few_sql(parameters.type, parameters.ordered)
    row = _fetch_counts(statement, caller, event_id, parameters, tier=WRITES, few=few, after="", most=few, prepare=None)
    timezone, total, *figures = row
    preview = (
        _build_preview(parameters, figures)
        if total <= few
        else {**UNCOUNTED, "type": parameters.type, "total": int(total)}
    )
    return AudienceCounts(timezone=timezone, audience=preview)


def preview_audience(caller: Caller, event_id: str, parameters: Audience) -> dict[str, Any]:
    """The audience in figures and a sample of five, whose addresses are masked. Raises NotFound."""
    # Planned for this very event: a plan for any would read a large one as if it were small.
    row = _fetch_counts(
        _count_all_sql(parameters.type, parameters.ordered), caller, event_id, parameters, tier=READS, prepare=False
    )
    values = {"event_id": event_id, "after": "", "most": AMONG, **parameters.values}
    people = fetch_rows(_sample_sql(parameters.type, parameters.ordered), values, prepare=False)
    sample = [
        {"name": name, "email": mask_email(email), "tickets": places, "channels": channels}
        for email, name, places, channels in people
    ]
    return {**_build_preview(parameters, row[1:]), "sample": sample}


def final_counts(session: OrmSession, event_id: str, parameters: Audience) -> dict[str, Any]:
    """The same figures in the transaction that begins to send."""
    statement = text(
        audience.audience_counts_sql(parameters.type, parameters.ordered, audience.audience_sql(parameters.type))
    )
    row = session.execute(statement, {"event_id": event_id, **parameters.values}).one()
    return _build_preview(parameters, list(row))


def encode_counts(figures: dict[str, Any]) -> str:
    """The figures as they are stored."""
    return orjson.dumps(figures).decode()


def _fetch_counts(
    statement: TextClause,
    caller: Caller,
    event_id: str,
    parameters: Audience,
    *,
    tier: str,
    prepare: bool | None,
    **more: Any,
) -> tuple[Any, ...]:
    who = {"event_id": event_id, "caller_id": caller.id, "everybodys": caller.has_tier(tier)}
    rows = fetch_rows(statement, {**who, **more, **parameters.values}, prepare=prepare)
    if not rows:
        raise NotFound()
    return rows[0]


@lru_cache(maxsize=64)
def _count_all_sql(type: str, channels: tuple[str, ...]) -> TextClause:
    return text(WHOLE.format(figures=audience.audience_counts_sql(type, channels, audience.audience_sql(type))))


@lru_cache(maxsize=64)
def _count_few_sql(type: str, channels: tuple[str, ...]) -> TextClause:
    # The way that pages are read: whatever else the tables hold, no more than these few are looked at.
    people = audience.next_page_sql(type) if type == HOLDERS else audience.audience_sql(type)
    figures = audience.audience_counts_sql(type, channels, people).replace(audience.EVENT, FEW_EVENT)
    return text(IF_FEW.format(figures=figures))


@lru_cache(maxsize=64)
def _sample_sql(type: str, channels: tuple[str, ...]) -> TextClause:
    return text(audience.sample_sql(type, channels, SAMPLE))


def _build_preview(parameters: Audience, figures: Sequence[Any]) -> dict[str, Any]:
    """Figures in the order of `audience.figures`."""
    total, people, *rest = (int(figure) for figure in figures)
    reach, out = rest[: len(parameters.ordered)], rest[len(parameters.ordered) :]
    excluded = dict(zip((*audience.REASONS, "notRelated"), out, strict=True))
    share = round(people * parameters.share_b / 100)
    return {
        "type": parameters.type,
        "total": total,
        "people": people,
        "reachable": {**dict.fromkeys(CHANNELS, 0), **dict(zip(parameters.ordered, reach, strict=True))},
        "excluded": {name: excluded[name] for name in EXCLUDED},
        "variants": {"A": people - share, "B": share},
    }
