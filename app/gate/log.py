"""The log of admissions for people: with the guest's name, what became of each scan, and a search."""

from typing import Any

from sqlalchemy import ColumnElement, Select, case, cast, func, literal, or_, select
from sqlalchemy.dialects.postgresql import INTERVAL, TSQUERY

from app.accounts.caller import Caller
from app.admissions.kinds import IN, OUT
from app.admissions.models import Admission, RefusedScan
from app.admissions.queries import list_admissions_query
from app.allocations.models import AllocationSlot
from app.allocations.will_call import build_tsquery
from app.core.db import db
from app.core.errors import NotFound
from app.events.models import Event, Ticket
from app.events.tickets import visible_reference_sql
from app.gate.undo import OWN_TIME

ENTERED, RETURNED, LEFT, CONFLICT, UNDONE = RESULTS = ("entered", "returned", "left", "conflict", "undone")
RESULT: ColumnElement[str] = case(
    (Admission.undone_at.is_not(None), UNDONE),
    (Admission.conflict.is_not(None), CONFLICT),
    (Admission.direction == OUT, LEFT),
    (Admission.is_reentry, RETURNED),
    else_=ENTERED,
)
FIRST_CONFLICT = "first_conflict"
IS_FIRST = (Admission.direction == IN) & Admission.place_id.is_not(None) & ~Admission.is_reentry
OUTCOME: ColumnElement[str] = case(((RESULT == CONFLICT) & IS_FIRST, FIRST_CONFLICT), else_=RESULT)
"""For people, a result that tells the earliest scan of a place that is a conflict because it arrived after another."""
PLACES = (AllocationSlot, Ticket)
SORTS: dict[str, ColumnElement[Any]] = {"occurredAt": Admission.occurred_at.expression}
"""By the time of the scan: what a phone without a network sends late stands where it belongs."""


def list_log_query(
    caller: Caller, event_id: str, *, q: str | None = None, result: str | None = None, **filters: Any
) -> Select[Any]:
    """Return the log of an event with `name`, `ticket_number`, `result`, `outcome`, `timezone`, and `is_recent`: who scanned
    may still undo it.

    `q` has beginnings of words of the guest's name or address, or a code; `result` is one of RESULTS, the other filters
    are those of `list_admissions_query`. Raises NotFound.
    """
    statement = list_admissions_query(caller, event_id, **filters).add_columns(
        find_guest_name(),
        find_ticket_number(),
        RESULT.label("result"),
        OUTCOME.label("outcome"),
        select(Event.timezone).where(Event.id == Admission.event_id).scalar_subquery().label("timezone"),
        (Admission.recorded_at > func.now() - cast(literal(OWN_TIME), INTERVAL)).label("is_recent"),
    )
    if q is not None:
        words = cast(literal(build_tsquery(q, event_id)), TSQUERY)
        statement = statement.where(is_of_guest(Admission, event_id, words))
    if result is not None:
        statement = statement.where(RESULT.in_([result]))
    return statement


def get_log_entry(caller: Caller, event_id: str, admission_id: str) -> dict[str, Any]:
    """Return one row of the log, with `people`: how many the scan has. Raises NotFound."""
    statement = list_log_query(caller, event_id).where(Admission.id == admission_id)
    row = db.session.execute(statement).mappings().first()
    if row is None:
        raise NotFound()
    people = select(func.count()).where(Admission.event_id == event_id, Admission.scan_id == row["scan_id"])
    return {**row, "people": db.session.scalar(people)}


def is_of_guest(
    log: type[Admission] | type[RefusedScan], event_id: str, words: ColumnElement[Any]
) -> ColumnElement[bool]:
    """The condition that a row of the log is of a guest whom the words find."""
    return or_(
        *(
            log.place_id.in_(select(place.id).where(place.event_id == event_id, place.search.op("@@")(words)))
            for place in PLACES
        )
    )


def find_guest_name(log: type[Admission] | type[RefusedScan] = Admission) -> ColumnElement[str | None]:
    """The name of the guest of a row of the log, as it is now: names are not in the log."""
    names = (
        select(place.name)
        .where(place.id == log.place_id, place.event_id == log.event_id)
        .correlate(log)
        .scalar_subquery()
        for place in PLACES
    )
    return func.coalesce(*names).label("name")


def find_ticket_number(log: type[Admission] | type[RefusedScan] = Admission) -> ColumnElement[str | None]:
    """The number of the ticket of a row of the log; of one that is its code the end, which admits nobody."""
    code_end = literal("…").concat(func.right(AllocationSlot.code, 4))
    numbers = (
        select(number).where(place.id == log.place_id, place.event_id == log.event_id).correlate(log).scalar_subquery()
        for place, number in ((AllocationSlot, code_end), (Ticket, visible_reference_sql()))
    )
    return func.coalesce(*numbers).label("ticket_number")
