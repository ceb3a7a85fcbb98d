"""The VAT of a period as CSV and as PDF."""

import csv
from io import StringIO

from app.accounts.organisation_details import load_organisation_details
from app.core.csv_export import BYTE_ORDER_MARK
from app.core.formatting import format_calendar_day, format_money
from app.core.languages import SOURCE_LANGUAGE, mark_for_translation, use_language
from app.core.pdf import Sheet
from app.invoicing.documents import CREDIT_NOTE, INVOICE, format_vat_number
from app.money.vat import VatLine, VatSummary

KIND_LABELS = {INVOICE: mark_for_translation("Invoices"), CREDIT_NOTE: mark_for_translation("Credit notes")}
CSV_HEADER = ("from", "to", "vatPercent", "documents", "number", "net", "vat", "gross", "currency")
TABLE_HEADINGS = ("Rate", "Documents", "Number", "Without VAT", "VAT", "With VAT")
NOTE_HEIGHT = 20.0
NO_VAT = "No document of this period has VAT."
RULE = "Tax invoices and tax credit notes by the day of their issue. Other documents have no VAT."


def build_vat_csv(summary: VatSummary) -> bytes:
    """Return the lines as CSV, amounts with a decimal point."""
    file = StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(CSV_HEADER)
    for line in summary.lines:
        amounts = (f"{amount / 100:.2f}" for amount in (line.net_minor, line.vat_minor, line.gross_minor))
        days = summary.since.isoformat(), summary.until.isoformat()
        writer.writerow((*days, format_rate(line), line.kind, line.documents, *amounts, summary.currency))
    return BYTE_ORDER_MARK + file.getvalue().encode()


def draw_vat_pdf(organisation_id: str, summary: VatSummary, event_name: str = "") -> bytes:
    """Return the summary as PDF, in English; `event_name` is the event that it is limited to."""
    organisation = load_organisation_details(organisation_id)
    with use_language(SOURCE_LANGUAGE):
        period = f"{format_calendar_day(summary.since)} to {format_calendar_day(summary.until)}"
        with Sheet(
            title="VAT summary",
            number=organisation.name,
            when=period,
            author=organisation.name,
            foot=f"{organisation.name} · VAT summary, {period}",
        ) as sheet:
            facts = [
                ("Organisation", organisation.name),
                ("", format_vat_number(organisation.vat_number)),
                ("Period", period),
                ("Event", event_name),
            ]
            sheet.facts(fact for fact in facts if fact[1])
            add_vat_lines(sheet, summary)
            sheet.total("VAT to be paid", format_money(summary.vat_minor))
            sheet.note(RULE)
    return sheet.data


def add_vat_lines(sheet: Sheet, summary: VatSummary, *, title: str = "", under: str = "") -> None:
    """Add the table of the lines with their sum, or say that there are none."""
    if not summary.lines:
        if title:
            sheet.heading(title, under=under, room=NOTE_HEIGHT)
        sheet.note(NO_VAT)
        return
    rows = [
        (
            f"{format_rate(line)} %",
            KIND_LABELS[line.kind],
            str(line.documents),
            *map(format_money, (line.net_minor, line.vat_minor, line.gross_minor)),
        )
        for line in summary.lines
    ]
    net_minor, gross_minor = (
        sum(getattr(line, name) for line in summary.lines) for name in ("net_minor", "gross_minor")
    )
    rows.append(("All", "", "", *map(format_money, (net_minor, summary.vat_minor, gross_minor))))
    sheet.table(TABLE_HEADINGS, rows, widths=(12, 18, 10, 20, 20, 20), figures=4, title=title, under=under)


def format_rate(line: VatLine) -> str:
    """Return the rate without zeros at its end: `15`, `15.5`."""
    return f"{line.vat_percent.normalize():f}"
