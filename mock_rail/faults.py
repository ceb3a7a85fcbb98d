"""Faults of the mock rail.

    {"do": "hang", "on": "send", "times": 1, "seconds": 20, "reference": "…"}

Only `do` is needed; `times` is how often it happens (without a limit when absent). In the way of a request (`on` is send,
status, start, confirm, refund or any):

    hang      do it, then answer nothing for `seconds` (20) and hang up: a timeout after the commit
    late      do it, answer after `seconds` (5)
    fail      do it, answer `status` (500)
    error     do nothing, answer `status` (500)
    busy      do nothing, answer 503 with Retry-After `seconds` (1), or `status` 429 too
    drop      do nothing, hang up
    drip      do it, then send the answer one byte every `seconds` (0.2)
    garbage, huge, other_amount, other_reference, not_found    do it, then answer just that

With a confirmation of a charge:

    capture_late    the money is taken only after `seconds` (26); until then the charge says `code_sent`, and the
                    confirmation is not answered

With a transfer that is sent:

    accept    it is settled only after `seconds`
    bounce    it is returned `seconds` after it was sent (days are seconds, too: the clock can be moved)
    decline   it fails

With callbacks:

    duplicate    each comes `times_each` (2) times
    contradict   each is followed by one that says the opposite, with its own id and a good signature
    forge        each is followed by one that says the opposite, signed with another secret
    delay        each comes `seconds` later
    lose         none comes
    hold         none comes until `flush`, and then all in a random order
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from threading import Lock

REQUESTS = ("hang", "late", "fail", "error", "busy", "drop", "drip")
ANSWERS = ("garbage", "huge", "other_amount", "other_reference", "not_found")
TRANSFERS = ("accept", "bounce", "decline")
CHARGES = ("capture_late",)
CALLBACKS = ("duplicate", "contradict", "forge", "delay", "lose", "hold")
ON = ("any", "send", "status", "start", "confirm", "refund")
SECONDS = {
    "hang": 20.0,
    "late": 5.0,
    "busy": 1.0,
    "drip": 0.2,
    "accept": 30.0,
    "bounce": 60.0,
    "delay": 60.0,
    "capture_late": 26.0,
}


class InvalidFault(ValueError):
    """The text is not a fault that the server knows."""


@dataclass(frozen=True, kw_only=True)
class Fault:
    """A fault; the docstring of this module explains the fields."""

    do: str
    on: str = "any"
    times: int | None = None
    seconds: float | None = None
    reference: str | None = None
    status: int = 0
    times_each: int = 2

    def __post_init__(self) -> None:
        if self.do not in (*REQUESTS, *ANSWERS, *CHARGES, *TRANSFERS, *CALLBACKS) or self.on not in ON:
            raise InvalidFault(f"no such fault: {self.do} on {self.on}")

    @property
    def pause(self) -> float:
        """The fault's time in seconds."""
        return SECONDS.get(self.do, 0.0) if self.seconds is None else self.seconds


def parse_faults(text: str) -> list[Fault]:
    """Parse faults: a JSON object, a list of objects, or the name of a fault. Raises InvalidFault."""
    if text.strip().isidentifier():
        return [Fault(do=text.strip())]
    try:
        data = json.loads(text)
    except ValueError as error:
        raise InvalidFault("not JSON") from error
    return [_parse_fault(item) for item in (data if isinstance(data, list) else [data])]


def _parse_fault(item: object) -> Fault:
    known = {field.name for field in fields(Fault)}
    if not isinstance(item, dict) or not set(item) <= known or "do" not in item:
        raise InvalidFault(f"a fault is an object with `do` and some of {', '.join(sorted(known))}")
    return Fault(**item)


class Faults:
    """The faults that are switched on, for all threads."""

    def __init__(self, faults: Iterable[Fault] = ()) -> None:
        self._lock, self._active = Lock(), list(faults)

    def set(self, faults: Iterable[Fault]) -> None:
        """Replace the faults."""
        with self._lock:
            self._active = list(faults)

    def take(self, kinds: tuple[str, ...], *, on: str = "any", reference: str | None = None) -> Fault | None:
        """Return the first fault of these kinds that applies, and count it; None if there is none."""
        with self._lock:
            for index, fault in enumerate(self._active):
                if fault.do in kinds and fault.on in ("any", on) and fault.reference in (None, reference):
                    self._count(index, fault)
                    return fault
        return None

    def _count(self, index: int, fault: Fault) -> None:
        if fault.times is None:
            return
        if fault.times <= 1:
            del self._active[index]
        else:
            self._active[index] = replace(fault, times=fault.times - 1)
