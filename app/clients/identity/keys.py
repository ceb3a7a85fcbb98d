"""Cache of a provider's published keys in the process."""

import logging
import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import jwt

from app.clients.identity.download import KeySet, download
from app.clients.identity.errors import IdentityRejected, KeysUnavailable

TIMEOUT = 3.0
SHORTEST, USUAL, LONGEST = 300, 3600, 86_400
UNKNOWN_KEY_PAUSE = 300
FAILURE_PAUSE = 10

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Kept:
    """A key set with the time it came. Replaced as a whole, so it can be read without the lock."""

    published: KeySet = field(default_factory=lambda: KeySet({}, None))
    since: float = -math.inf

    def key(self, kid: str) -> jwt.PyJWK | None:
        return self.published.keys.get(kid)

    def fresh(self, now: float) -> bool:
        max_age = USUAL if self.published.max_age is None else self.published.max_age
        return _within(min(max(max_age, SHORTEST), LONGEST), self.since, now)


class KeyCache:
    """The keys published at one URL: one download at a time, and expired keys rather than none in an outage.

    An unknown key id may be a new key, so it triggers a download. It may also be invented, so no other unknown
    key id triggers one for 5 minutes.
    """

    def __init__(self, url: str, *, clock: Callable[[], float] = time.time, timeout: float = TIMEOUT) -> None:
        self._url = url
        self._clock = clock
        self._timeout = timeout
        self._lock = threading.Lock()
        self._kept = _Kept()
        self._unknown_fetch_at = -math.inf
        self._failed_at: float | None = None

    def find(self, kid: str) -> jwt.PyJWK:
        """The key `kid`; raises IdentityRejected("unknown_key") or KeysUnavailable."""
        kept = self._kept
        key = kept.key(kid)
        if key is not None and kept.fresh(self._clock()):
            return key
        # With an expired key, do not wait for another thread's download.
        if not self._lock.acquire(blocking=key is None) and key is not None:
            return key
        try:
            return self._find_or_fetch(kid)
        finally:
            self._lock.release()

    def _find_or_fetch(self, kid: str) -> jwt.PyJWK:
        now = self._clock()
        if self._worth_fetching(kid, now):
            self._fetch_for(kid, now)
        key = self._kept.key(kid)
        if key is not None:
            return key
        # After a failed download an unknown key may be valid, so the token is not rejected.
        if self._failed_at is not None:
            raise KeysUnavailable(self._url)
        raise IdentityRejected("unknown_key")

    def _worth_fetching(self, kid: str, now: float) -> bool:
        if self._failed_at is not None and _within(FAILURE_PAUSE, self._failed_at, now):
            return False
        if not self._kept.fresh(now):
            return True
        return self._kept.key(kid) is None and not _within(UNKNOWN_KEY_PAUSE, self._unknown_fetch_at, now)

    def _fetch_for(self, kid: str, now: float) -> None:
        because_unknown = self._kept.fresh(now)
        try:
            self._kept = _Kept(download(self._url, timeout=self._timeout), since=now)
            self._failed_at = None
            because_unknown = because_unknown or self._kept.key(kid) is None
        except KeysUnavailable as error:
            self._failed_at = now
            log.warning("identity keys not fetched: %s", error)
        if because_unknown:
            self._unknown_fetch_at = now


def _within(seconds: float, since: float, now: float) -> bool:
    """Whether less than `seconds` have passed; a clock that was set back counts as long ago."""
    return 0 <= now - since < seconds
