"""Which rows of a bank statement are transfers that are recorded.

A recorded transfer is one row of a statement only, whichever event of the organisation it is recorded at. First come the
rows that name a fee or an invoice with the text that was recorded; then the rows whose reference a person has chosen; then
the other rows that name it. A fee is recorded once and may have any text: of the other rows that name it the first is the
transfer, and each further one is a payment of a fee that is paid already.
"""

from collections import defaultdict, deque
from collections.abc import Collection, Iterator, Sequence
from datetime import date
from typing import NamedTuple

from app.applications.fee_statement import MAX_TEXT, RECORDED, MatchedRow, build_assigned_text
from app.core.db import fetch_rows
from app.money.sql import RECORDED_TRANSFERS_SQL

ASSIGNABLE_REASONS = ("no_reference", "unknown_reference")
"""The reasons of rows that a person may assign."""
NAMED, ASSIGNED, BY_HAND, ANY_TEXT = "named", "assigned", "by_hand", "any_text"
"""How a row is known as a transfer: by its reference and text, by its text behind a chosen reference, by its text, or by its
reference."""
Key = tuple[object, ...]


class RecordedTransfer(NamedTuple):
    """A row of RECORDED_TRANSFERS_SQL."""

    amount_minor: int
    received_on: date
    text: str
    reference: str
    event_id: str
    application_id: str | None
    block_id: str | None


def take_transfers(
    event_ids: Sequence[str], organisation_event_ids: Sequence[str], rows: Sequence[MatchedRow]
) -> list[RecordedTransfer | None]:
    """The recorded transfer that each row is, of all events of the organisation; each transfer is one row only.

    The rows that name what was paid with the text that was recorded come first, then those to which a person has given the
    reference, then the others that name a fee. `event_ids` are the events that the statement is recorded for.
    """
    days = {matched.row.day for matched in rows if matched.row.day and not matched.row.problem}
    params = {"events": [*organisation_event_ids], "days": [*days]}
    transfers = [RecordedTransfer(*fields) for fields in fetch_rows(RECORDED_TRANSFERS_SQL, params)] if days else []
    own_ids = set(event_ids)
    transfers.sort(key=lambda transfer: (transfer.event_id not in own_ids, transfer.reference))
    lengths = sorted({len(transfer.reference) for transfer in transfers})
    numbers_by_key: dict[Key, deque[int]] = defaultdict(deque)
    for number, transfer in enumerate(transfers):
        for key in _list_keys(transfer, own_ids):
            numbers_by_key[transfer.amount_minor, transfer.received_on, *key].append(number)
    taken: dict[int, int] = {}
    used: set[int] = set()
    for list_row_keys in (_list_named_keys, _list_assigned_keys, _list_other_keys):
        for position, matched in enumerate(rows):
            if position in taken or matched.row.is_assigned_now:
                continue
            for key in list_row_keys(matched, lengths):
                numbers = numbers_by_key.get((matched.row.amount_minor, matched.row.day, *key), deque())
                while numbers and numbers[0] in used:
                    numbers.popleft()
                if numbers:
                    taken[position] = numbers[0]
                    used.add(numbers[0])
                    break
    return [transfers[taken[position]] if position in taken else None for position in range(len(rows))]


def _list_keys(transfer: RecordedTransfer, event_ids: Collection[str]) -> Iterator[Key]:
    """By what a row of the transfer's amount and day may be known as this transfer."""
    text, reference = transfer.text, transfer.reference
    yield NAMED, reference, text
    yield BY_HAND, text
    prefix = build_assigned_text(reference, "")
    if text.startswith(prefix):
        yield ASSIGNED, len(reference), text.removeprefix(prefix)
    # Of an invoice of these events the payments of an amount and a day are counted, whatever their text.
    if transfer.application_id or transfer.event_id not in event_ids:
        yield ANY_TEXT, reference


def _list_named_keys(matched: MatchedRow, lengths: Sequence[int]) -> Iterator[Key]:
    """What a row names, each with the text of the row."""
    for name in _list_names(matched):
        yield NAMED, name, matched.row.text[:MAX_TEXT]


def _list_assigned_keys(matched: MatchedRow, lengths: Sequence[int]) -> Iterator[Key]:
    """The text of a row to which a person may have given a reference of one of these lengths.

    A person who records a fee or an invoice by hand may have used the text as it is.
    """
    if matched.status == RECORDED or matched.row.problem:
        return
    for length in lengths:
        yield ASSIGNED, length, matched.row.text[: MAX_TEXT - len(build_assigned_text("", "")) - length]
    if matched.reason in ASSIGNABLE_REASONS:
        yield BY_HAND, matched.row.text[:MAX_TEXT]


def _list_other_keys(matched: MatchedRow, lengths: Sequence[int]) -> Iterator[Key]:
    """What a row names, with any text."""
    for name in _list_names(matched):
        yield ANY_TEXT, name


def _list_names(matched: MatchedRow) -> list[str]:
    if matched.reason not in (None, *ASSIGNABLE_REASONS):
        return []
    return sorted(matched.row.possible_references | matched.row.possible_numbers)
