"""Which rows of a bank statement are transfers that are recorded.

A recorded transfer is one row of a statement only, whichever event of the organisation it is recorded at. First come the
rows that name a fee or an invoice with the text that was recorded; then the rows whose reference a person chose; then
the other rows that name it, for a person may have recorded it with any text.
"""

from collections import defaultdict, deque
from collections.abc import Collection, Iterator, Sequence, Set
from datetime import date
from typing import NamedTuple

from app.applications.fee_statement import MAX_TEXT, StatementRow, build_assigned_text
from app.core.db import fetch_rows
from app.core.tokens import derived_text
from app.money.sql import RECORDED_TRANSFERS_SQL

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


class NamedRow(NamedTuple):
    """A row with the references and the numbers in its text that fees and invoices of the statement's events have."""

    row: StatementRow
    references: Set[str]
    numbers: Set[str]

    @property
    def rank(self) -> tuple[bool, bool]:
        """Of rows with the same text those without a problem come first, and before others those that name nothing."""
        return self.row.problem is not None, bool(self.references or self.numbers)

    @property
    def names(self) -> list[str]:
        """What the row may have paid, with any text: not what is one of several, and a fee rather than an invoice."""
        of_several = self.references if len(self.references) > 1 else frozenset()
        outranked = self.numbers if self.references or len(self.numbers) > 1 else frozenset()
        return sorted((self.row.possible_references | self.row.possible_numbers) - of_several - outranked)


def load_transfers(
    event_ids: Collection[str], organisation_event_ids: Sequence[str], rows: Sequence[StatementRow]
) -> list[RecordedTransfer]:
    """The recorded transfers of the days of these rows, of all events of the organisation, those of `event_ids` first."""
    days = {row.day for row in rows if row.day}
    params = {"events": [*organisation_event_ids], "days": [*days]}
    transfers = [RecordedTransfer(*fields) for fields in fetch_rows(RECORDED_TRANSFERS_SQL, params)] if days else []
    return sorted(transfers, key=lambda it: (it.event_id not in event_ids, it.reference, it.text))


def match_transfers(transfers: Sequence[RecordedTransfer], rows: Sequence[NamedRow]) -> list[RecordedTransfer | None]:
    """The transfer that each row is, the first one that no other row is. Each transfer is one row only.

    A row with a problem, as one whose money went back, is a transfer only if it has the text that was recorded and no other
    row has it.
    """
    lengths = sorted({len(transfer.reference) for transfer in transfers})
    numbers_by_key: dict[Key, deque[int]] = defaultdict(deque)
    for number, transfer in enumerate(transfers):
        for key in _list_keys(transfer):
            numbers_by_key[transfer.amount_minor, transfer.received_on, *key].append(number)
    taken: dict[int, int] = {}
    used: set[int] = set()
    positions = sorted(range(len(rows)), key=lambda position: rows[position].rank)
    for list_row_keys in (_list_named_keys, _list_assigned_keys, _list_other_keys):
        for position in positions:
            if position in taken:
                continue
            row = rows[position].row
            for key in list_row_keys(rows[position], lengths):
                numbers = numbers_by_key.get((row.amount_minor, row.day, *key), deque())
                while numbers and numbers[0] in used:
                    numbers.popleft()
                if numbers:
                    taken[position] = numbers[0]
                    used.add(numbers[0])
                    break
    return [transfers[taken[position]] if position in taken else None for position in range(len(rows))]


def digest_transfers(transfers: Sequence[RecordedTransfer], rows: Sequence[StatementRow]) -> str:
    """A text that is another one once a transfer of an amount and a day of these rows is recorded or taken back."""
    keys = {(row.amount_minor, row.day) for row in rows}
    parts = sorted(map(repr, (it for it in transfers if (it.amount_minor, it.received_on) in keys)))
    return derived_text("bank-statement", *parts)


def _list_keys(transfer: RecordedTransfer) -> Iterator[Key]:
    """By what a row of the transfer's amount and day may be known as this transfer."""
    text, reference = transfer.text.rstrip(), transfer.reference
    yield NAMED, reference, text
    yield BY_HAND, text
    prefix = build_assigned_text(reference, "")
    if f"{text} ".startswith(prefix):
        yield ASSIGNED, len(reference), f"{text} ".removeprefix(prefix).rstrip()
    yield ANY_TEXT, reference


def _list_named_keys(named: NamedRow, lengths: Sequence[int]) -> Iterator[Key]:
    """What a row names, each with the text of the row."""
    for name in sorted(named.row.possible_references | named.row.possible_numbers):
        yield NAMED, name, _cut(named.row.text, MAX_TEXT)


def _list_assigned_keys(named: NamedRow, lengths: Sequence[int]) -> Iterator[Key]:
    """The text of a row to which a person may have given a reference of one of these lengths.

    A person who records a fee or an invoice by hand may have used the text as it is.
    """
    for length in lengths:
        yield ASSIGNED, length, _cut(named.row.text, MAX_TEXT - len(build_assigned_text("", "")) - length)
    yield BY_HAND, _cut(named.row.text, MAX_TEXT)


def _list_other_keys(named: NamedRow, lengths: Sequence[int]) -> Iterator[Key]:
    """What a row names, with any text."""
    if not named.row.problem:
        for name in named.names:
            yield ANY_TEXT, name


def _cut(text: str, length: int) -> str:
    """The text as it is recorded. Forms leave out a blank at its end."""
    return text[:length].rstrip()
