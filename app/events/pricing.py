"""The present price of a ticket type and the status of its sale.

The first phase that applies sets the price. A phase applies between its start and its end while fewer tickets of the
type are sold than its quantity and the quantities of earlier phases add up to: the next phase gets what an early one
leaves unsold. If no phase applies, the type's own price does.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

LOW_SHARE = 10


class Phase(Protocol):
    """A price and its conditions: a `PricePhase`, or a row of its columns."""

    @property
    def name(self) -> str: ...
    @property
    def starts_at(self) -> datetime | None: ...
    @property
    def ends_at(self) -> datetime | None: ...
    @property
    def price_minor(self) -> int: ...
    @property
    def quantity(self) -> int | None: ...


def current_phase(phases: Sequence[Phase], *, sold: int, now: datetime) -> Phase | None:
    """The phase that sets the price; None when the type's own price applies."""
    places = 0
    for phase in phases:
        places += phase.quantity or 0
        if _is_running(phase, now) and (phase.quantity is None or sold < places):
            return phase
    return None


def sale_status(phases: Sequence[Phase], *, public: int, total: int, sales_end_at: datetime, now: datetime) -> str:
    """`ended`, `sold_out`, `not_started`, `low` (a tenth or less remains) or `on_sale`."""
    if now >= sales_end_at:
        return "ended"
    if public <= 0:
        return "sold_out"
    if phases and all(phase.starts_at is not None and phase.starts_at > now for phase in phases):
        return "not_started"
    return "low" if public * LOW_SHARE <= total else "on_sale"


def _is_running(phase: Phase, now: datetime) -> bool:
    started = phase.starts_at is None or phase.starts_at <= now
    return started and (phase.ends_at is None or now < phase.ends_at)
