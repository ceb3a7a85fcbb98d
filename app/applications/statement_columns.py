"""The columns of bank statements: found by the words of banks, or named by a mapping that a person has chosen."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from app.applications.statement_cells import has_day, is_day
from app.core.column_samples import COLUMN_NUMBER, ColumnSample, match_columns
from app.core.languages import gettext
from app.core.spreadsheet import MAX_COLUMNS, NotASheet, column_key

DATE_COLUMNS = (
    "date",
    "transactiondate",
    "postingdate",
    "valuedate",
    "effectivedate",
    "bookingdate",
    "datum",
    "transaksiedatum",
    "boekdatum",
    "boekingsdatum",
    "waardedatum",
    "paymentdate",
    "trandate",
    "buchungstag",
    "buchungsdatum",
    "valuta",
    "wertstellung",
)
AMOUNT_COLUMNS = (
    "credit",
    "creditamount",
    "credits",
    "moneyin",
    "deposit",
    "deposits",
    "krediet",
    "amount",
    "amountnad",
    "transactionamount",
    "bedrag",
    "paidin",
    "amountin",
    "betrag",
    "gutschrift",
    "haben",
    "umsatz",
    "inbetaling",
)
DEBIT_COLUMNS = (
    "debit",
    "debitamount",
    "debits",
    "moneyout",
    "paidout",
    "withdrawal",
    "withdrawals",
    "debiet",
    "onttrekking",
    "onttrekkings",
    "amountout",
    "belastung",
    "lastschrift",
    "soll",
    "uitbetaling",
)
DIRECTION_COLUMNS = ("drcr", "debitcredit", "dc", "crdr", "creditdebit", "indicator", "type", "transactiontype")
BALANCE_COLUMNS = ("balance", "runningbalance", "saldo", "kontostand", "balans")
"""Columns with amounts that are no transfers."""
TYPE_COLUMNS = ("type", "transactiontype")
"""Columns for the direction that may have other words, such as `EFT`."""
TEXT_COLUMNS = (
    "description",
    "reference",
    "details",
    "narrative",
    "narration",
    "particulars",
    "remarks",
    "transactiondescription",
    "statementdescription",
    "yourreference",
    "theirreference",
    "customerreference",
    "payer",
    "beskrywing",
    "omskrywing",
    "verwysing",
    "besonderhede",
    "transactiondetails",
    "transactionreference",
    "paymentreference",
    "memo",
    "text",
    "verwendungszweck",
    "buchungstext",
    "transaksiebeskrywing",
)
COLUMNS = frozenset((*DATE_COLUMNS, *AMOUNT_COLUMNS, *TEXT_COLUMNS))
AMOUNT = re.compile(r"\D{0,5}\d[\d ,.'\u00a0]*[,.]\d{1,2}\D{0,3}")
"""A value with cents, which a column may have whose heading is not known."""
TEXT_FIELDS = ("text", "text2", "text3", "text4", "text5")
FIELDS = ("date", "amount", "moneyOut", "direction", *TEXT_FIELDS)
"""What a mapping names a column for. `amount` is the money that came in, or with a sign all money."""
REQUIRED_FIELDS = ("date", "amount", "text")


class StatementColumns(NamedTuple):
    """The positions of the columns of a statement, from 0.

    Every word of `known_directions` must be known, or the row pays nothing.
    """

    date: int
    amount: int
    debits: Sequence[int]
    directions: Sequence[int]
    texts: Sequence[int]
    known_directions: Sequence[int]


def rate_header(cells: Sequence[str], mapping: Mapping[str, str] | None = None) -> int:
    """How likely a row has the headings: by known words or those of a mapping, and then by cells with words only.

    A row with a day has none.
    """
    if has_day(cells):
        return 0
    keys = COLUMNS if mapping is None else {_build_key(column) for column in mapping.values()}
    words = sum(any(map(str.isalpha, cell)) and not any(map(str.isdigit, cell)) for cell in cells)
    return len(keys.intersection(map(_build_key, cells))) * MAX_COLUMNS + min(words, MAX_COLUMNS - 1)


def find_columns(header: Sequence[str], mapping: Mapping[str, str] | None = None) -> StatementColumns:
    """The columns of a statement with these headings. Raises NotASheet."""
    if mapping is not None:
        return _find_mapped_columns(header, mapping)
    positions = {column_key(name): position for position, name in reversed(list(enumerate(header)))}
    dates, amounts, debits, directions = (
        [positions[name] for name in names if name in positions]
        for names in (DATE_COLUMNS, AMOUNT_COLUMNS, DEBIT_COLUMNS, DIRECTION_COLUMNS)
    )
    texts = [position for position, name in enumerate(header) if _build_key(name) in TEXT_COLUMNS]
    if not (dates and amounts and texts):
        raise NotASheet(describe_unknown_columns(header))
    return _build_columns(header, dates[0], amounts[0], debits, directions, texts)


def describe_unknown_columns(header: Sequence[str]) -> str:
    """What people read about a file without the headings of a statement."""
    return gettext(
        "A statement needs a row of headings, with a column each for the date, the amount, and the description or "
        "reference: “Date”, “Amount”, “Description”, or other words that banks use. This one has: %(columns)s. "
        "Write these words above the columns, and choose the file again.",
        columns=", ".join(name.strip()[:40] for name in header[:20] if name.strip()) or "–",
    )


def suggest_mapping(columns: Sequence[ColumnSample]) -> dict[str, str]:
    """The column of each field that has one of the words of banks, or else values like those of the field.

    Several columns may be texts; of several that may be the amount none is suggested.
    """
    names = [column["name"] for column in columns]
    words = {"amount": AMOUNT_COLUMNS, "moneyOut": DEBIT_COLUMNS, "direction": DIRECTION_COLUMNS}
    mapping = match_columns([it["name"] for it in columns if _may_be_day(it)], {"date": DATE_COLUMNS})
    mapping |= match_columns(names, words)
    texts = [name for name in names if column_key(name) in TEXT_COLUMNS]
    others = [it for it in columns if it["values"] and it["name"] not in (*mapping.values(), *texts)]
    days = [it["name"] for it in others if all(map(is_day, it["values"]))]
    amounts = [it["name"] for it in others if all(map(AMOUNT.fullmatch, it["values"])) and not _is_balance(it["name"])]
    if days:
        mapping.setdefault("date", days[0])
    if len(amounts) == 1:
        mapping.setdefault("amount", amounts[0])
    texts = texts or [it["name"] for it in others if it["name"] not in mapping.values() and _may_be_text(it)]
    return {**mapping, **dict(zip(TEXT_FIELDS, texts, strict=False))}


def is_certain(columns: Sequence[ColumnSample]) -> bool:
    """Whether one column each can be the day and the amount, and at least one the text."""
    keys = [_build_key(column["name"]) for column in columns]
    counts = [sum(key in names for key in keys) for names in (DATE_COLUMNS, AMOUNT_COLUMNS, TEXT_COLUMNS)]
    has_days = all(_may_be_day(column) for column in columns if _build_key(column["name"]) in DATE_COLUMNS)
    return counts[:2] == [1, 1] and counts[2] > 0 and has_days


def _may_be_day(column: ColumnSample) -> bool:
    """Whether one of the first values is a day: a column `Valuta` may have the currency."""
    return not column["values"] or any(map(is_day, column["values"]))


def _is_balance(name: str) -> bool:
    return _build_key(name) in BALANCE_COLUMNS


def _may_be_text(column: ColumnSample) -> bool:
    """Whether the first values have letters, are no days, and are not one value in all rows."""
    has_letters = any(character.isalpha() for value in column["values"] for character in value)
    return (
        has_letters
        and not any(map(is_day, column["values"]))
        and not (column["repeats"] and len(column["values"]) == 1)
    )


def _find_mapped_columns(header: Sequence[str], mapping: Mapping[str, str]) -> StatementColumns:
    """Each field has the column of exactly its name, or else the first of a like one. Raises NotASheet."""
    keys = [column_key(name) for name in header]
    positions: dict[str, int] = {}
    for field, column in mapping.items():
        if column not in header and column_key(column) not in keys:
            raise NotASheet(
                gettext("The file has no column “%(column)s”, which the mapping names.", column=column[:80])
            )
        position = header.index(column) if column in header else keys.index(column_key(column))
        if position in positions.values():
            raise NotASheet(gettext("The mapping names the column “%(column)s” twice.", column=column[:80]))
        positions[field] = position
    return _build_columns(
        header,
        positions["date"],
        positions["amount"],
        [positions["moneyOut"]] if "moneyOut" in positions else [],
        [positions["direction"]] if "direction" in positions else [],
        sorted(positions[field] for field in TEXT_FIELDS if field in positions),
    )


def _build_columns(
    header: Sequence[str],
    date: int,
    amount: int,
    debits: Sequence[int],
    directions: Sequence[int],
    texts: Sequence[int],
) -> StatementColumns:
    """The columns. Where money out has a column of its own, the words of the direction need not be known."""
    known_directions = [] if debits else [at for at in directions if column_key(header[at]) not in TYPE_COLUMNS]
    return StatementColumns(date, amount, debits, directions, texts, known_directions)


def _build_key(name: str) -> str:
    """The key of a column, without the number of one whose name an earlier one has."""
    return column_key(COLUMN_NUMBER.sub("", name))
