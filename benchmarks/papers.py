"""Documents: what drawing one costs, beside a page that reportlab's own layout engine makes of the same content."""

from __future__ import annotations

import io
import time
from collections.abc import Callable
from xml.sax.saxutils import escape

from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.platypus import Paragraph, SimpleDocTemplate, Table, TableStyle

from app.core.formatting import format_money
from app.invoicing.documents import INVOICE, DocumentLine, InvoiceDocument
from app.invoicing.invoice_pdf import draw_invoice_pdf
from benchmarks.outcome import Outcome, of_rounds
from benchmarks.registry import Benchmark, Load, benchmark
from benchmarks.stage import Stage

TIMES = 60


def drawn_against_platypus(stage: Stage, it: Benchmark) -> Outcome:
    """CPU of our invoice of twelve lines as a multiple of that of a plain page with the same lines in Helvetica."""
    paper, found, seconds = _paper(), [], []
    for _ in range(max(3, stage.rounds)):
        plain = _cpu(lambda: _platypus(paper))
        seconds.append(_cpu(lambda: draw_invoice_pdf(paper)))
        found.append(seconds[-1] / plain)
    return of_rounds(found, "× a platypus page", note=f"{1000 * min(seconds) / TIMES:.1f} ms CPU each")


@benchmark("invoice-pdf", goal=1.3, at_most=True, measure=drawn_against_platypus)
def invoice_pdf(stage: Stage) -> Load:
    """Drawing an invoice of twelve lines, beside a plain platypus page with the same lines."""
    return Load("/health")


def _cpu(call: Callable[[], object]) -> float:
    call()
    began = time.thread_time()
    for _ in range(TIMES):
        call()
    return time.thread_time() - began


def _paper() -> InvoiceDocument:
    lines = [
        DocumentLine(what=f"Weekend pass, row {n}", quantity=n, unit_price_minor=85000, amount_minor=85000 * n)
        for n in range(1, 13)
    ]
    return InvoiceDocument(
        kind=INVOICE,
        number="2026-000001",
        issued="Fri 20 November 2026",
        seller=["Windhoek Lights", "Nangula Shikongo", "nangula@windhoek-lights.example"],
        buyer=["Bank Windhoek", "Tuli Hamutenya", "tuli@bank.example"],
        facts=[
            ("Event", "Windhoek Lights 2026"),
            ("When", "Fri 4 December 2026, 18:00 (Windhoek)"),
            ("Where", "River grounds, Windhoek"),
        ],
        lines=lines,
        vat_percent=15.0,
        vat_minor=864783,
        total_minor=6630000,
        notes=["All amounts are in Namibian dollars. Prices include VAT."],
    )


def _platypus(paper: InvoiceDocument) -> bytes:
    out = io.BytesIO()
    plain = ParagraphStyle("plain", fontName="Helvetica", fontSize=10, leading=14)
    large = ParagraphStyle("large", fontName="Helvetica-Bold", fontSize=20, leading=26)

    def text(words: str) -> Paragraph:
        return Paragraph(escape(words), plain)

    rows = [
        [text(line.what), str(line.quantity), format_money(line.unit_price_minor or 0), format_money(line.amount_minor)]
        for line in paper.lines
    ]
    style = TableStyle(
        [
            ("FONT", (0, 0), (-1, -1), "Helvetica", 10),
            ("ALIGN", (1, 0), (-1, -1), "RIGHT"),
            ("LINEBELOW", (0, 0), (-1, -1), 0.5, "#DCCFBD"),
        ]
    )
    story = [
        Paragraph(f"{paper.title} {paper.number}", large),
        text(paper.issued),
        Table([[[text(item) for item in paper.seller], [text(item) for item in paper.buyer]]]),
        Table([[text(label), text(value)] for label, value in paper.facts]),
        Table([["What", "Quantity", "Each", "Amount"], *rows], style=style),
        text(f"VAT {format_money(paper.vat_minor)}"),
        Paragraph(f"Total {format_money(paper.total_minor)}", large),
        *(text(note) for note in paper.notes),
    ]
    SimpleDocTemplate(out, pagesize=A4, invariant=1).build(story)
    return out.getvalue()
