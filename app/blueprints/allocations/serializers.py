"""JSON of blocks, links, claim codes, packs and the gate's slots."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from flask import Response, current_app, request

from app.accounts.caller import Caller
from app.accounts.permissions import GUESTS_WRITE, MONEY_READ
from app.allocations import links
from app.allocations.actions.admission import Admission
from app.allocations.actions.blocks import HOLDER_FIELDS
from app.allocations.guest_report import GuestReport, draw_guest_report
from app.allocations.invoice_buyers import BUYER_FIELDS, PreviousBuyer
from app.allocations.invoices import InvoicePreview
from app.allocations.link_summaries import describe_allocator_link, describe_open_link
from app.allocations.pricing import calculate_row_cost
from app.allocations.queries import BlockRow
from app.allocations.release_plan import list_release_steps
from app.allocations.slot_queries import SLOT_ID, SlotsQuery
from app.allocations.ticket_data import Ticket
from app.allocations.ticket_packs import PackStatus
from app.allocations.will_call import WillCallSlot
from app.core.clock import rfc3339
from app.core.paging import Order, page_of
from app.web import paging
from app.web.envelope import dump_json, envelope_response
from app.web.file_responses import build_pdf_response

CSV_TYPE, JSON_TYPE, PDF_TYPE = "text/csv", "application/json", "application/pdf"
MONEY_FIELDS = (
    "unit_price_minor",
    "subtotal_minor",
    "discount_minor",
    "vat_minor",
    "total_minor",
    "invoice",
    *BUYER_FIELDS,
)
JsonObject = dict[str, object]


def serialize_block(block: BlockRow, caller: Caller) -> JsonObject:
    """Return a block with its holder, its cost and its links, and its slots if it has a page of them.

    Money and the buyer are None for a caller who may not read money. URLs of links and codes of slots, with which places
    are taken, are None for a caller who may not change guests.
    """
    event = {"organisation_id": block["sender_id"], "event_id": block["event_id"]}
    may_write = caller.may(GUESTS_WRITE, **event)
    hidden_url, hidden_code = ({}, {}) if may_write else ({"url": None}, {"code": None})
    return {
        **block,
        "holder": {name: block[f"holder_{name}"] for name in HOLDER_FIELDS},
        "release_plan": list_release_steps(block["release_plan"]),
        "currency": "NAD",
        **(_serialize_money(block) if caller.may(MONEY_READ, **event) else dict.fromkeys(MONEY_FIELDS)),
        "allocator_link": {**describe_allocator_link(block), **hidden_url},
        "open_link": {**describe_open_link(block), **hidden_url},
        "slots": [{**slot, **hidden_code} for slot in block.get("slots", ())],
    }


def _serialize_money(block: BlockRow) -> JsonObject:
    cost = calculate_row_cost(block)
    return {
        "unit_price_minor": block["unit_price_minor"],
        "subtotal_minor": cost.subtotal_minor,
        "discount_minor": cost.discount_minor,
        "vat_minor": cost.vat_minor,
        "total_minor": cost.total_minor,
        "invoice": block.get("invoice"),
        **{name: block[name] for name in BUYER_FIELDS},
    }


def add_slot_page(
    block: Mapping[Any, Any],
    slots_query: Callable[..., SlotsQuery],
    *,
    limit: int,
    with_total: bool,
    cursor: str | None = None,
    **filters: str | None,
) -> JsonObject:
    """Return a block with a page of the slots that `slots_query` selects, in the order of their ids."""
    cursor_scope = f"slots {block['id']}"
    page = page_of(
        slots_query(block["id"], **filters),
        id_column=SLOT_ID,
        order=Order(SLOT_ID, False),
        limit=limit,
        after=paging.decode_cursor(cursor, cursor_scope, SLOT_ID) if cursor is not None else None,
        with_total=with_total,
    )
    return {**block, "slots": page.rows, "pagination": paging.serialize_pagination(page, cursor_scope)}


def build_code_response(codes: Sequence[Mapping[Any, Any]], status: int) -> Response:
    """Return claim codes as JSON or CSV, as the client prefers. There may be 5,000, so no schema dumps them."""
    url_prefix = links.build_url_prefix("claim")
    if request.accept_mimetypes.best_match([JSON_TYPE, CSV_TYPE]) == CSV_TYPE:
        lines = ["code,url,slotId", *(f"{code['code']},{url_prefix}{code['code']},{code['slot_id']}" for code in codes)]
        headers = {"Content-Disposition": 'attachment; filename="codes.csv"'}
        return Response("\r\n".join(lines) + "\r\n", status, headers, content_type="text/csv; charset=utf-8")
    serialized_codes = [_serialize_code(code) for code in codes]
    return envelope_response(dump_json({"codes": serialized_codes, "claimUrl": url_prefix}), status)


def serialize_linked_tickets(tickets: Sequence[Ticket]) -> JsonObject:
    """Return the tickets of a link, with their event."""
    visit = tickets[0].visit
    names = ("event_name", "starts_at", "ends_at", "valid_from", "valid_until", "timezone", "place", "map_url")
    event = {name: getattr(visit, name) for name in names}
    return {**event, "event_cancelled": visit.is_cancelled, "tickets": tickets}


def wants_pdf(format: str | None) -> bool:
    """Return whether the client prefers a PDF to JSON."""
    types = {"json": JSON_TYPE, "pdf": PDF_TYPE}
    return (types[format] if format else request.accept_mimetypes.best_match([JSON_TYPE, PDF_TYPE])) == PDF_TYPE


def build_report_pdf_response(report: GuestReport) -> Response:
    """Return the report of a block as a PDF."""
    return build_pdf_response(draw_guest_report(report), f"guests-{report['block_id']}")


def serialize_invoice_preview(preview: InvoicePreview, previous_buyer: PreviousBuyer | None) -> JsonObject:
    """Return a preview with its lines, and the buyer of last time."""
    document = preview.document
    pairs = {
        name: [{"label": label, "value": value} for label, value in getattr(document, name)]
        for name in ("facts", "payment")
    }
    lines = [{**asdict(line), "description": line.what} for line in document.lines]
    return {
        **document.to_json(),
        "title": document.title,
        "lines": lines,
        **pairs,
        "digest": preview.digest,
        "previous_buyer": previous_buyer,
    }


def serialize_pack(pack: PackStatus, event_id: str, block_id: str) -> JsonObject:
    """Return a pack with the URL of its PDF."""
    base_url = current_app.extensions["settings"].PUBLIC_BASE_URL
    url = f"{base_url}/api/events/{event_id}/allocations/{block_id}/packs/{pack.id}/tickets.pdf"
    created_at = {} if pack.created_at is None else {"created_at": pack.created_at}
    return {
        "id": pack.id,
        "count": pack.count,
        "status": pack.status,
        "progress": pack.progress,
        "url": url,
        **created_at,
    }


def serialize_admission(admission: Admission) -> JsonObject:
    """Return an admission as JSON: at the gate each millisecond is a queue, so no schema dumps it."""
    slot = admission.slot
    return {
        "slotId": slot.id,
        "status": slot.status,
        "name": slot.name,
        "email": slot.email,
        "phone": slot.phone,
        "code": slot.code,
        "ticketTypeId": slot.ticket_type_id,
        "blockId": slot.block_id,
        "partyId": slot.party_id,
        "partySize": slot.party_size,
        "version": slot.version,
        "admittedAt": slot.admitted_at,
        "gate": slot.gate,
        "admittedBy": admission.admitted_by,
        "count": len(admission.slot_ids),
        "slotIds": admission.slot_ids,
    }


def serialize_will_call_slot(slot: WillCallSlot) -> JsonObject:
    """Return a slot of the will-call list as JSON, without a schema."""
    return {
        "slotId": slot.id,
        "name": slot.name,
        "email": slot.email,
        "phone": slot.phone,
        "code": slot.code,
        "status": slot.status,
        "delivery": slot.delivery,
        "partyId": slot.party_id,
        "partySize": slot.party_size,
        "version": slot.version,
        "claimedAt": rfc3339(slot.claimed_at) if slot.claimed_at else None,
        "admittedAt": rfc3339(slot.admitted_at) if slot.admitted_at else None,
        "gate": slot.gate,
        "blockId": slot.block_id,
        "ticketTypeId": slot.ticket_type_id,
        "ticketTypeName": slot.ticket_type_name,
        "blockName": slot.block_name,
        "kind": slot.kind,
        "organisation": slot.organisation,
    }


def _serialize_code(code: Mapping[Any, Any]) -> JsonObject:
    serialized: JsonObject = {"slotId": code["slot_id"], "code": code["code"]}
    if "status" in code:
        serialized |= {"status": code["status"], "name": code["name"], "email": code["email"]}
    return serialized
