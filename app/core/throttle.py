"""Limits per time that hold even while Redis is away, for sign-ins, codes and secrets; rows in PostgreSQL.

A window starts with its first hit and ends after its length. Subjects are stored as keyed hashes, so the table has no
personal data.

The subject can be a client network. An IPv6 subscriber has a /64 at least, so the /64 counts as one client. Many have a
/48, which holds 65,536 of them; the /48 is counted as well, with a larger limit.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from ipaddress import IPv6Address, ip_address, ip_network

from flask import current_app
from sqlalchemy import Integer, String, delete, func, text
from sqlalchemy.orm import Mapped, mapped_column
from sqlalchemy.orm import Session as OrmSession

from app.core.db import Base, Timestamp, fetch_rows
from app.core.tokens import derive


class Throttle(Base):
    """Hits of one subject within one window."""

    __tablename__ = "throttle"

    key: Mapped[str] = mapped_column(String(80, collation="C"), primary_key=True)
    hits: Mapped[int] = mapped_column(Integer)
    ends_at: Mapped[datetime] = mapped_column(Timestamp, index=True)


MAX_HITS = 2_000_000_000
"""The most that the column holds; hits beyond it are not counted."""
STANDING = """
    SELECT key, hits, CAST(greatest(1, ceil(extract(epoch FROM ends_at - now()))) AS integer)
      FROM throttle WHERE key = ANY(%s) AND ends_at > now()
"""
ADD_HITS = text("""
    INSERT INTO throttle (key, hits, ends_at)
    SELECT subject.key, subject.hits, now() + subject.length
      FROM unnest(CAST(:keys AS text[]), CAST(:hits AS integer[]), CAST(:lengths AS interval[]))
           AS subject (key, hits, length)
    ON CONFLICT (key) DO UPDATE
       SET hits = CASE WHEN throttle.ends_at <= now() THEN excluded.hits
                       ELSE least(CAST(throttle.hits AS bigint) + excluded.hits, :max_hits) END,
           ends_at = CASE WHEN throttle.ends_at <= now() THEN excluded.ends_at ELSE throttle.ends_at END
    RETURNING key, hits, CAST(greatest(1, ceil(extract(epoch FROM ends_at - now()))) AS integer)
""")


@dataclass(frozen=True)
class Rule:
    """At most `count` hits within `window`; the count is multiplied by RATE_LIMIT_SCALE."""

    name: str
    count: int
    window: timedelta

    def times(self, share: int) -> "Rule":
        """Return the rule for a network that `share` clients have in common."""
        return self if share == 1 else replace(self, name=f"{self.name}-wider", count=self.count * share)

    @property
    def allowed(self) -> int:
        return max(1, int(self.count * current_app.extensions["settings"].RATE_LIMIT_SCALE))


Subject = tuple[Rule, str]


@dataclass(frozen=True)
class ThrottleStatus:
    """The hits of a subject, and the seconds until its window ends."""

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
    """Return the subjects of a client network: itself and, with a larger count, the wider network around it."""
    networks = network.counted if isinstance(network, Network) else (Network(network),)
    return [(rule.times(counted.share), counted) for counted in networks]


def hit(session: OrmSession, rule: Rule, subject: str) -> ThrottleStatus:
    """Add a hit in the open transaction. Concurrent hits of one subject wait for each other."""
    return hit_all(session, (rule, subject))[0]


def hit_all(session: OrmSession, *subjects: Subject) -> list[ThrottleStatus]:
    """Add a hit to several subjects in one statement; return their statuses in the same order."""
    return hit_many(session, dict.fromkeys(subjects, 1))


def hit_many(session: OrmSession, hits: Mapping[Subject, int]) -> list[ThrottleStatus]:
    """Add several hits to each subject in one statement; return their statuses in the same order."""
    counts = {key_of(rule, subject): (rule, count) for (rule, subject), count in hits.items()}
    # All requests lock the rows in the same order; otherwise two with common subjects would deadlock.
    keys = sorted(counts)
    params = {
        "keys": keys,
        "hits": [counts[key][1] for key in keys],
        "lengths": [counts[key][0].window for key in keys],
        "max_hits": MAX_HITS,
    }
    rows = session.execute(ADD_HITS, params)
    statuses = {key: ThrottleStatus(counts[key][0], number, seconds) for key, number, seconds in rows}
    return [statuses[key] for key in counts]


def get_status(*subjects: Subject) -> list[ThrottleStatus]:
    """Return the statuses of the subjects that have hits, in one query."""
    rules = {key_of(rule, subject): rule for rule, subject in subjects}
    rows = fetch_rows(STANDING, (list(rules),))
    return [ThrottleStatus(rules[key], hits, seconds) for key, hits, seconds in rows]


def clear(session: OrmSession, rule: Rule, subject: str) -> None:
    """Delete the hits of a subject."""
    session.execute(delete(Throttle).where(Throttle.key == key_of(rule, subject)))


def delete_expired(session: OrmSession) -> None:
    """Delete the windows that have ended."""
    session.execute(delete(Throttle).where(Throttle.ends_at < func.now()))


def key_of(rule: Rule, subject: str) -> str:
    """Return the primary key of a subject: the rule's name and a keyed hash."""
    return f"{rule.name}:{derive('throttle', rule.name, subject).hex()[:32]}"


SUBSCRIBER_BITS, WIDER_BITS = 64, 48
WIDER_SHARE = 16


class Network(str):
    """A client's network. `wider` is the network around it, which is limited too; its limit is `share` times higher."""

    share: int = 1
    wider: "Network | None" = None

    @property
    def counted(self) -> tuple["Network", ...]:
        """Return every network that a request of this client counts for."""
        return (self,) if self.wider is None else (self, self.wider)


def network_of(address: str | None) -> Network:
    """Return the network of a client's IP address: the IPv4 address itself, or the /64 of an IPv6 address."""
    try:
        parsed = ip_address(address or "")
    except ValueError:
        return Network("unknown")
    if not isinstance(parsed, IPv6Address):
        return Network(parsed)
    if parsed.ipv4_mapped:
        return Network(parsed.ipv4_mapped)
    network = _prefix(parsed, SUBSCRIBER_BITS)
    network.wider = _prefix(parsed, WIDER_BITS)
    network.wider.share = WIDER_SHARE
    return network


def _prefix(address: IPv6Address, bits: int) -> Network:
    return Network(ip_network((int(address), bits), strict=False))
