"""Which rows of a bank statement are transfers that are recorded.

A recorded transfer is one row of a statement only. First come the rows that name a fee or an invoice with the text that was
recorded; then the rows whose reference a person has chosen; then the other rows that name it. A fee is recorded once and may
have any text: of the other rows that name it the first is the transfer, and each further one is a payment of a fee that is
paid already.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import date
from typing import NamedTuple

from app.applications.fee_statement import MAX_TEXT, MatchedRow, build_assigned_text
from app.core.db import fetch_rows
from app.money.sql import RECORDED_TRANSFERS_SQL

ASSIGNABLE_REASONS = ("no_reference", "unknown_reference")
"""The reasons of rows that a person may assign."""
FeeTexts = Mapping[tuple[object, ...], str]
"""The text that was recorded for a fee, by amount, day and reference."""


class RecordedTransfer(NamedTuple):
    """A row of RECORDED_TRANSFERS_SQL."""

    amount_minor: int
    received_on: date
    text: str
    reference: str
    event_id: str
    application_id: str | None
    block_id: str | None


def take_transfers(event_ids: Sequence[str], rows: Sequence[MatchedRow]) -> list[RecordedTransfer | None]:
    """The recorded transfer that each row is; each transfer is one row only.

    The rows that name what was paid with the text that was recorded come first, then those to which a person has given the
    reference, then the others that name a fee.
    """
    days = {matched.row.day for matched in rows if matched.reason in ASSIGNABLE_REASONS and matched.row.day}
    transfers: dict[tuple[object, ...], list[RecordedTransfer]] = defaultdict(list)
    references: dict[tuple[object, ...], set[str]] = defaultdict(set)
    fee_texts: dict[tuple[object, ...], str] = {}
    for fields in fetch_rows(RECORDED_TRANSFERS_SQL, {"events": [*event_ids], "days": [*days]}) if days else ():
        transfer = RecordedTransfer(*fields)
        amount_and_day: tuple[int | None, date | None] = transfer.amount_minor, transfer.received_on
        transfers[*amount_and_day, transfer.reference, transfer.text].append(transfer)
        references[amount_and_day].add(transfer.reference)
        if transfer.application_id:
            fee_texts[*amount_and_day, transfer.reference] = transfer.text
    taken: dict[int, RecordedTransfer] = {}
    for list_texts in (_list_named_texts, _list_assigned_texts, _list_fee_texts):
        for position, matched in enumerate(rows):
            amount_and_day = matched.row.amount_minor, matched.row.day
            if position in taken or amount_and_day not in references:
                continue
            texts = list_texts(matched, references[amount_and_day], fee_texts)
            same = next((same for it in texts if (same := transfers.get((*amount_and_day, *it)))), None)
            if same:
                taken[position] = same.pop(0)
    return [taken.get(position) for position in range(len(rows))]


def _list_named_texts(matched: MatchedRow, references: Collection[str], fee_texts: FeeTexts) -> list[tuple[str, str]]:
    """What a row names among the references of its amount and day, each with the text of the row."""
    return [(name, matched.row.text[:MAX_TEXT]) for name in _list_names(matched, references)]


def _list_assigned_texts(
    matched: MatchedRow, references: Collection[str], fee_texts: FeeTexts
) -> list[tuple[str, str]]:
    """The references that a person may have given a row, each with the text recorded then.

    A person who records a fee or an invoice by hand may have used the text as it is.
    """
    if matched.reason not in ASSIGNABLE_REASONS:
        return []
    text = matched.row.text
    assigned = [(it, build_assigned_text(it, text)[:MAX_TEXT]) for it in sorted(references)]
    return [*assigned, *((it, text[:MAX_TEXT]) for it in sorted(references))]


def _list_fee_texts(matched: MatchedRow, references: Collection[str], fee_texts: FeeTexts) -> list[tuple[str, str]]:
    """The fees that a row names, each with the text that was recorded for it: any."""
    key = matched.row.amount_minor, matched.row.day
    return [(name, fee_texts[*key, name]) for name in _list_names(matched, references) if (*key, name) in fee_texts]


def _list_names(matched: MatchedRow, references: Collection[str]) -> list[str]:
    row = matched.row
    if row.is_assigned_now or matched.reason not in (None, *ASSIGNABLE_REASONS):
        return []
    return sorted((row.possible_references | row.possible_numbers).intersection(references))
