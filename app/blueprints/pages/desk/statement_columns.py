"""The page on which people say what the columns of a bank statement are.

The form has the file itself, compressed: a statement is not stored before it is recorded.
"""

import binascii
import zlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping

from flask import Response

from app.applications.errors import StatementUnreadable
from app.applications.fee_statement import StatementSample
from app.applications.statement_columns import FIELDS, REQUIRED_FIELDS, TEXT_FIELDS, suggest_mapping
from app.blueprints.pages.desk.column_form import ColumnForm, describe_known
from app.blueprints.pages.desk.shell import DeskEvent, render_desk
from app.blueprints.pages.desk.stalls import MAX_STATEMENT_BYTES
from app.blueprints.pages.forms import FilledForm
from app.core.languages import gettext, lazy_gettext
from app.core.text_normalization import clean_file_name

MAX_PACKED_LENGTH = 400 * 1024
"""A form may have 512 KB. 5,000 rows of 150 characters have some 150 KB."""
COLUMNS = ColumnForm(
    {
        "date": lazy_gettext("Day"),
        "amount": lazy_gettext("Amount, or money in"),
        "moneyOut": lazy_gettext("Money out"),
        "direction": lazy_gettext("Word that says whether money came in or went out"),
        "text": lazy_gettext("Text"),
    },
    REQUIRED_FIELDS,
    repeated={"text": TEXT_FIELDS},
)


def pack_file(data: bytes) -> str:
    """Return the file as the value of a hidden field. Raises StatementUnreadable."""
    packed = urlsafe_b64encode(zlib.compress(data)).decode()
    if len(packed) > MAX_PACKED_LENGTH:
        raise StatementUnreadable(gettext("This file is too large to choose its columns. Send it in parts."))
    return packed


def unpack_file(packed: str) -> bytes:
    """Return the file that `pack_file` has packed. Raises StatementUnreadable."""
    stream = zlib.decompressobj()
    try:
        data = stream.decompress(urlsafe_b64decode(packed.encode()), MAX_STATEMENT_BYTES)
    except (binascii.Error, zlib.error):
        data = b""
    if not stream.eof:
        raise StatementUnreadable(gettext("This form does not work any more. Open the page again."))
    return data


def suggest_columns(sample: StatementSample, known: Mapping[str, str], *, is_same: bool) -> FilledForm:
    """The form with the columns of earlier statements, and for the others what their headings and values are like."""
    others = [] if is_same else [column for column in sample.columns if column["name"] not in known.values()]
    return COLUMNS.fill(sample.columns, {**suggest_mapping(others), **known})


def describe_columns(mapping: Mapping[str, str]) -> str:
    """The columns that were chosen, in words."""
    labels = {**COLUMNS.labels, **dict.fromkeys(TEXT_FIELDS, COLUMNS.labels["text"])}
    return " · ".join(f"{labels[name]}: {mapping[name]}" for name in FIELDS if name in mapping)


def render_columns(
    form: FilledForm,
    sample: StatementSample,
    content: str,
    *,
    file_name: str,
    path: str,
    event: DeskEvent | None,
    known: Mapping[str, str] | None = None,
    is_same: bool = False,
) -> Response:
    """The page with a list to choose from for each column."""
    return render_desk(
        "desk/import_columns.html",
        event=event,
        form=form,
        title=gettext("What are the columns?"),
        lead=gettext(
            "Choose what each column is. A statement needs the day, the amount and a text. If money in and money out are "
            "two columns, choose both. If the reference may be in several columns, choose each as “Text”."
        ),
        button=gettext("Check what it pays"),
        back=path,
        path=path,
        content=content,
        file_name=clean_file_name(file_name) or "",
        rows=sample.rows,
        remembered=describe_known(known or {}, is_same=is_same),
    )
