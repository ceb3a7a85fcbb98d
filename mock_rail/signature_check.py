"""Signature checks of the mock rail, as in docs/payrail.md: known key, fresh timestamp, new nonce, unchanged body."""

import time
from collections.abc import Mapping
from threading import Lock

from app.clients.payrail import signing


class SignatureCheck:
    """Checks the signatures of requests; `skew` is how many seconds the server's clock is off."""

    def __init__(self, key: str, secret: str, skew: float = 0.0) -> None:
        self._key, self._secret, self.skew = key, secret, skew
        self._lock, self._nonces = Lock(), dict[str, float]()

    def find_problem(self, headers: Mapping[str, str], method: str, path: str, body: bytes) -> str | None:
        """Why the request is refused; None if it is accepted."""
        names = (signing.KEY, signing.TIMESTAMP, signing.NONCE, signing.SIGNATURE)
        key, timestamp, nonce, signature = (headers.get(name) or "" for name in names)
        now = time.time() + self.skew
        if key != self._key:
            return "unknown_key"
        if not signing.is_fresh(timestamp, now):
            return "stale_timestamp"
        expected = signing.request_signature(
            self._secret, key=key, timestamp=timestamp, nonce=nonce, method=method, path=path, body=body
        )
        if not signing.signatures_match(expected, signature):
            return "wrong_signature"
        return None if 16 <= len(nonce) <= 64 and self._is_new(nonce, now) else "used_nonce"

    def _is_new(self, nonce: str, now: float) -> bool:
        with self._lock:
            while self._nonces and next(iter(self._nonces.values())) < now - 2 * signing.WINDOW:
                del self._nonces[next(iter(self._nonces))]
            if nonce in self._nonces:
                return False
            self._nonces[nonce] = now
            return True
