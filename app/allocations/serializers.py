"""Blocks, slots and links as the API tells them."""

from collections.abc import Mapping
from typing import Any

from app.allocations import link_tokens
from app.allocations.pricing import Cost, Discount, calculate_cost

HOLDER_FIELDS = ("name", "email", "phone", "organisation")
LINK_STATES = ("active", "expired", "used_up", "revoked", "none")


def serialize_block(row: Mapping[Any, Any]) -> dict[str, Any]:
    """A block as its organiser sees it: what it holds, what it costs, and its links."""
    cost = calculate_row_cost(row)
    return {
        **row,
        "holder": {name: row[f"holder_{name}"] for name in HOLDER_FIELDS},
        "currency": "NAD",
        "subtotal_minor": cost.subtotal_minor,
        "discount_minor": cost.discount_minor,
        "vat_minor": cost.vat_minor,
        "total_minor": cost.total_minor,
        "allocator_link": serialize_allocator_link(row),
        "open_link": serialize_open_link(row),
        "invoice": row.get("invoice"),
    }


def calculate_row_cost(row: Mapping[Any, Any]) -> Cost:
    """What the places that a block holds cost, at the terms agreed with it."""
    discounts = tuple(Discount(**discount) for discount in row["discounts"])
    return calculate_cost(row["ticket_type_name"], row["held"], row["unit_price_minor"], discounts)


def serialize_allocator_link(row: Mapping[Any, Any]) -> dict[str, Any]:
    """The link by which the holder hands out slots themselves."""
    if not row["allocator_live"]:
        return _serialize_missing_link(row["allocator_generation"])
    url = link_tokens.build_link_url("allocator", row["id"], row["allocator_generation"])
    return {"url": url, "status": "expired" if _is_block_ended(row) else "active", "remaining": row["available"]}


def serialize_open_link(row: Mapping[Any, Any]) -> dict[str, Any]:
    """The link by which anybody who has it takes a place."""
    if not row["open_live"]:
        return _serialize_missing_link(row["open_generation"])
    return {
        "url": link_tokens.build_link_url("open", row["id"], row["open_generation"]),
        "status": "expired"
        if row["open_expired"] or _is_block_ended(row)
        else "active"
        if count_open_link_slots(row)
        else "used_up",
        "remaining": count_open_link_slots(row),
        "expires_at": row["open_expires_at"],
        "max_claims": row["open_max_claims"],
        "max_per_claim": row["open_max_per_claim"],
        "claims": row["open_claims"],
    }


def count_open_link_slots(row: Mapping[Any, Any]) -> int:
    """Places that an open link can still give out."""
    max_claims = row["open_max_claims"]
    remaining_slots: int = (
        row["available"] if max_claims is None else min(row["available"], max_claims - row["open_claims"])
    )
    return remaining_slots


def _is_block_ended(row: Mapping[Any, Any]) -> bool:
    """Whether all links of a block have ended, with their event or at the block's release time."""
    return bool(row["called_off"] or row["event_over"] or row["over"])


def _serialize_missing_link(generation: int) -> dict[str, Any]:
    return {"url": None, "status": "revoked" if generation else "none", "remaining": 0}
