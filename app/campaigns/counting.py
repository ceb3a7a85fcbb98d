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
from app.core.addresses import masked
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
class Counted:
    """The event's time zone, and who is in the audience."""

    timezone: str
    audience: dict[str, Any]


def counted(caller: Caller, event_id: str, asked: Audience, *, few: int = FEW) -> Counted:
    """The audience in figures. Of more than `few` places only their number is told; the rest is null. Raises NotFound.

    That keeps the request as quick for 100,000 as for ten: an audience is counted for good when sending starts.
    """
    statement = _counting_few(asked.type, asked.ordered)
    row = _found(statement, caller, event_id, asked, tier=WRITES, few=few, after="", most=few, prepare=None)
    timezone, total, *figures = row
    told = _told(asked, figures) if total <= few else {**UNCOUNTED, "type": asked.type, "total": int(total)}
    return Counted(timezone=timezone, audience=told)


def preview(caller: Caller, event_id: str, asked: Audience) -> dict[str, Any]:
    """The audience in figures and a sample of five, whose addresses are masked. Raises NotFound."""
    # Planned for this very event: a plan for any would read a large one as if it were small.
    row = _found(_counting_all(asked.type, asked.ordered), caller, event_id, asked, tier=READS, prepare=False)
    values = {"event_id": event_id, "after": "", "most": AMONG, **asked.values}
    people = fetch_rows(_sampling(asked.type, asked.ordered), values, prepare=False)
    sample = [
        {"name": name, "email": masked(email), "tickets": places, "channels": channels}
        for email, name, places, channels in people
    ]
    return {**_told(asked, row[1:]), "sample": sample}


def frozen(session: OrmSession, event_id: str, asked: Audience) -> dict[str, Any]:
    """The same figures in the transaction that begins to send."""
    statement = text(audience.figures(asked.type, asked.ordered, audience.everybody(asked.type)))
    row = session.execute(statement, {"event_id": event_id, **asked.values}).one()
    return _told(asked, list(row))


def as_json(figures: dict[str, Any]) -> str:
    """The figures as they are stored."""
    return orjson.dumps(figures).decode()


def _found(
    statement: TextClause,
    caller: Caller,
    event_id: str,
    asked: Audience,
    *,
    tier: str,
    prepare: bool | None,
    **more: Any,
) -> tuple[Any, ...]:
    who = {"event_id": event_id, "caller_id": caller.id, "everybodys": caller.has_tier(tier)}
    rows = fetch_rows(statement, {**who, **more, **asked.values}, prepare=prepare)
    if not rows:
        raise NotFound()
    return rows[0]


@lru_cache(maxsize=64)
def _counting_all(type: str, channels: tuple[str, ...]) -> TextClause:
    return text(WHOLE.format(figures=audience.figures(type, channels, audience.everybody(type))))


@lru_cache(maxsize=64)
def _counting_few(type: str, channels: tuple[str, ...]) -> TextClause:
    # The way that pages are read: whatever else the tables hold, no more than these few are looked at.
    people = audience.next_people(type) if type == HOLDERS else audience.everybody(type)
    figures = audience.figures(type, channels, people).replace(audience.EVENT, FEW_EVENT)
    return text(IF_FEW.format(figures=figures))


@lru_cache(maxsize=64)
def _sampling(type: str, channels: tuple[str, ...]) -> TextClause:
    return text(audience.sample(type, channels, SAMPLE))


def _told(asked: Audience, figures: Sequence[Any]) -> dict[str, Any]:
    """Figures in the order of `audience.figures`."""
    total, people, *rest = (int(figure) for figure in figures)
    reach, out = rest[: len(asked.ordered)], rest[len(asked.ordered) :]
    excluded = dict(zip((*audience.REASONS, "notRelated"), out, strict=True))
    share = round(people * asked.share_b / 100)
    return {
        "type": asked.type,
        "total": total,
        "people": people,
        "reachable": {**dict.fromkeys(CHANNELS, 0), **dict(zip(asked.ordered, reach, strict=True))},
        "excluded": {name: excluded[name] for name in EXCLUDED},
        "variants": {"A": people - share, "B": share},
    }
