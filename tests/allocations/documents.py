"""Invoices and tickets for tests, and hostile texts that must be rendered as text."""

import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from app.allocations.ticket_data import Ticket
from app.events.visit import Visit
from app.invoicing.documents import FIRST_LAYOUT, INVOICE, LAYOUT_VERSION, DocumentLine, InvoiceDocument

HOSTILE = (
    '<img src="file:///etc/passwd"/>',
    "<font color=[[[1]]]>",
    "</para><b>&lt;&#0;",
    "{{7*7}} ${7*7}",
    "שלום עולם 2026",
    "محمد السلام",
    "Kapana \U0001f525\U0001f468\u200d\U0001f469\u200d\U0001f467 \u202egnp.exe",
    "W" * 200,
    "ǃGaroës " * 25,
)
VISIT = Visit(
    event_id="5f0c3a9b1d2e4f6a7b8c9d0a",
    event_name="Windhoek Lights 2026",
    starts_at=datetime(2026, 12, 4, 16, tzinfo=UTC),
    ends_at=datetime(2026, 12, 4, 21, tzinfo=UTC),
    timezone="Africa/Windhoek",
    venue="River grounds",
    city="Windhoek",
    latitude=None,
    longitude=None,
    visibility="published",
    event_version=3,
    updated_at=datetime(2026, 11, 20, 8, 30, tzinfo=UTC),
)
TICKET = Ticket(
    slot_id="5f0c3a9b1d2e4f6a7b8c9d0e",
    code="HJ7K2Q9XRD",
    name="Frieda Amupolo",
    email="frieda@example.com",
    delivery="e_ticket",
    status="claimed",
    generation=1,
    party=1,
    visit=VISIT,
    kind="Weekend pass",
    block="Main sponsor",
    host="Bank Windhoek",
    organiser="Windhoek Lights",
    organiser_id="5f0c3a9b1d2e4f6a7b8c9d0f",
    contact="nangula@windhoek-lights.example",
)


def build_ticket(*, event: str = VISIT.event_name, where: str = "", **changes: Any) -> Ticket:
    """Return a ticket with these changes; `where` replaces venue and city."""
    place = {"venue": where, "city": ""} if where else {}
    return replace(TICKET, visit=replace(VISIT, event_name=event, **place), **changes)


def build_invoice(lines: int = 2, **changes: Any) -> InvoiceDocument:
    """Return an invoice with a bulk discount and so many lines."""
    extra_lines = [
        DocumentLine(what=f"Table {number}", quantity=number, unit_price_minor=5000, amount_minor=5000 * number)
        for number in range(2, lines)
    ]
    document = InvoiceDocument(
        kind=INVOICE,
        number="2026-000001",
        issued="Fri 20 November 2026",
        seller=["Windhoek Lights", "Nangula Shikongo", "nangula@windhoek-lights.example"],
        buyer=["Bank Windhoek", "Tuli Hamutenya", "tuli@bank.example", "+264811234567"],
        facts=[
            ("Event", "Windhoek Lights 2026"),
            ("When", "Fri 4 December 2026, 18:00 (Windhoek)"),
            ("Where", "River grounds, Windhoek"),
            ("Reference", "Main sponsor · 5f0c3a9b1d2e4f6a7b8c9d0e"),
        ],
        lines=[
            DocumentLine(what="Weekend pass", quantity=40, unit_price_minor=85000, amount_minor=3400000),
            DocumentLine(
                what="Bulk discount 10 % (from 20 places)", quantity=40, unit_price_minor=-8500, amount_minor=-340000
            ),
            *extra_lines,
        ],
        vat_percent=15.0,
        vat_minor=399130,
        total_minor=3060000,
        notes=["All amounts are in Namibian dollars. Prices include VAT."],
        contact="nangula@windhoek-lights.example",
        layout=FIRST_LAYOUT,
    )
    return replace(document, **changes)


def extract_text(pdf: bytes) -> str:
    """Return the ASCII text of an uncompressed PDF, one line for each string drawn."""
    pieces = re.findall(rb"\(((?:[^()\\]|\\.)*)\) Tj", pdf)
    return "\n".join(re.sub(rb"\\([()\\])", rb"\1", piece).decode("latin-1") for piece in pieces)


def build_tax_invoice(lines: int = 2, **changes: Any) -> InvoiceDocument:
    """Return an invoice in the present layout, of a seller who is registered for VAT."""
    fields = {
        "seller": ["Windhoek Lights", "12 Lüderitz Street", "Windhoek", "nangula@windhoek-lights.example"],
        "vat_number": "1234567-01-5",
        "payment": [
            ("Account name", "Windhoek Lights CC"),
            ("Bank", "Bank Windhoek"),
            ("Account number", "8001234567"),
        ],
        "layout": LAYOUT_VERSION,
    }
    return build_invoice(lines, **{**fields, **changes})
