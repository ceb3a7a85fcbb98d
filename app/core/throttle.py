"""Counters per time that must hold even while Redis is away: sign-ins, codes, secrets. Rows in PostgreSQL.

A window starts with its first hit and ends after its length. Subjects are kept as keyed hashes, so the table
names nobody.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from flask import current_app
from sqlalchemy import Integer, String, delete, func, text
from sqlalchemy.orm import Mapped, mapped_column
from sqlalchemy.orm import Session as OrmSession

from app.core.db import Base, Timestamp, fetch_rows
from app.core.networks import Network
from app.core.tokens import derive


class Throttle(Base):
    """Hits of one subject within one window."""

    __tablename__ = "throttle"

    key: Mapped[str] = mapped_column(String(80, collation="C"), primary_key=True)
    hits: Mapped[int] = mapped_column(Integer)
    ends_at: Mapped[datetime] = mapped_column(Timestamp, index=True)


MOST_HITS = 2_000_000_000
"""What the column holds; anyone who goes on beyond a limit is not counted further."""
STANDING = """
    SELECT key, hits, CAST(greatest(1, ceil(extract(epoch FROM ends_at - now()))) AS integer)
      FROM throttle WHERE key = ANY(%s) AND ends_at > now()
"""

COUNT = text("""
    INSERT INTO throttle AS t (key, hits, ends_at)
    SELECT s.key, s.hits, now() + s.length
      FROM unnest(CAST(:keys AS text[]), CAST(:hits AS integer[]), CAST(:lengths AS interval[]))
           AS s (key, hits, length)
    ON CONFLICT (key) DO UPDATE
       SET hits = CASE WHEN t.ends_at <= now() THEN excluded.hits
                       ELSE least(CAST(t.hits AS bigint) + excluded.hits, :most) END,
           ends_at = CASE WHEN t.ends_at <= now() THEN excluded.ends_at ELSE t.ends_at END
    RETURNING key, hits, CAST(greatest(1, ceil(extract(epoch FROM ends_at - now()))) AS integer)
""")


@dataclass(frozen=True)
class Rule:
    """At most `count` hits within `window`; the count is multiplied by RATE_LIMIT_SCALE."""

    name: str
    count: int
    window: timedelta

    def times(self, share: int) -> "Rule":
        """The same for a network that `share` clients have in common."""
        return self if share == 1 else replace(self, name=f"{self.name}-wider", count=self.count * share)

    @property
    def allowed(self) -> int:
        return max(1, int(self.count * current_app.extensions["settings"].RATE_LIMIT_SCALE))


Subject = tuple[Rule, str]


@dataclass(frozen=True)
class ThrottleStatus:
    """Where a subject stands: its hits, and the seconds until its window ends."""

    rule: Rule
    hits: int
    seconds: int

    @property
    def exceeded(self) -> bool:
        return self.hits > self.rule.allowed

    @property
    def spent(self) -> bool:
        return self.hits >= self.rule.allowed


def by_network(rule: Rule, network: str) -> list[Subject]:
    """What a client network counts for: itself and, with a larger count, the wider network around it."""
    counted = network.counted if isinstance(network, Network) else (Network(network),)
    return [(rule.times(item.share), item) for item in counted]


def hit(session: OrmSession, rule: Rule, subject: str) -> ThrottleStatus:
    """Counts one more, in the open transaction. 64 at once are counted one after the other."""
    return hit_all(session, (rule, subject))[0]


def hit_all(session: OrmSession, *subjects: Subject) -> list[ThrottleStatus]:
    """Counts one more of several subjects in one statement; their standings in the order given."""
    return hit_many(session, dict.fromkeys(subjects, 1))


def hit_many(session: OrmSession, hits: Mapping[Subject, int]) -> list[ThrottleStatus]:
    """The same, with the number of hits that each subject gets."""
    counts = {key_of(rule, subject): (rule, count) for (rule, subject), count in hits.items()}
    # Everybody counts in the same order, or two who share several subjects would wait for each other.
    keys = sorted(counts)
    values = {
        "keys": keys,
        "hits": [counts[key][1] for key in keys],
        "lengths": [counts[key][0].window for key in keys],
        "most": MOST_HITS,
    }
    rows = session.execute(COUNT, values)
    result = {key: ThrottleStatus(counts[key][0], number, seconds) for key, number, seconds in rows}
    return [result[key] for key in counts]


def get_status(*subjects: Subject) -> list[ThrottleStatus]:
    """Where subjects stand now, in one query; those without hits are left out."""
    values = {key_of(rule, subject): rule for rule, subject in subjects}
    rows = fetch_rows(STANDING, (list(values),))
    return [ThrottleStatus(values[key], hits, seconds) for key, hits, seconds in rows]


def clear(session: OrmSession, rule: Rule, subject: str) -> None:
    """Forgets a subject's hits."""
    session.execute(delete(Throttle).where(Throttle.key == key_of(rule, subject)))


def delete_expired(session: OrmSession) -> None:
    """Removes windows that have ended."""
    session.execute(delete(Throttle).where(Throttle.ends_at < func.now()))


def key_of(rule: Rule, subject: str) -> str:
    """What STANDING knows a subject by."""
    return f"{rule.name}:{derive('throttle', rule.name, subject).hex()[:32]}"
