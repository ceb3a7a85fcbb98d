"""Blocks, slots and links as the API tells them."""

from collections.abc import Mapping
from typing import Any

from app.allocations import links
from app.allocations.prices import Cost, Discount, cost

HOLDER = ("name", "email", "phone", "organisation")
LINK_STATES = ("active", "expired", "used_up", "revoked", "none")


def block(row: Mapping[Any, Any]) -> dict[str, Any]:
    """A block as its organiser sees it: what it holds, what it costs, and its links."""
    found = cost_of_row(row)
    return {
        **row,
        "holder": {name: row[f"holder_{name}"] for name in HOLDER},
        "currency": "NAD",
        "subtotal_minor": found.subtotal_minor,
        "discount_minor": found.discount_minor,
        "vat_minor": found.vat_minor,
        "total_minor": found.total_minor,
        "allocator_link": allocator_link(row),
        "open_link": open_link(row),
        "invoice": row.get("invoice"),
    }


def cost_of_row(row: Mapping[Any, Any]) -> Cost:
    """What the places that a block holds cost, at the terms agreed with it."""
    discounts = tuple(Discount(**each) for each in row["discounts"])
    return cost(row["ticket_type_name"], row["held"], row["unit_price_minor"], discounts)


def allocator_link(row: Mapping[Any, Any]) -> dict[str, Any]:
    """The link by which the holder hands out slots himself."""
    if not row["allocator_live"]:
        return _no_link(row["allocator_generation"])
    url = links.url_of("allocator", row["id"], row["allocator_generation"])
    return {"url": url, "status": "expired" if _ended(row) else "active", "remaining": row["available"]}


def open_link(row: Mapping[Any, Any]) -> dict[str, Any]:
    """The link by which anybody who has it takes a place."""
    if not row["open_live"]:
        return _no_link(row["open_generation"])
    return {
        "url": links.url_of("open", row["id"], row["open_generation"]),
        "status": "expired" if row["open_expired"] or _ended(row) else "active" if remaining(row) else "used_up",
        "remaining": remaining(row),
        "expires_at": row["open_expires_at"],
        "max_claims": row["open_max_claims"],
        "max_per_claim": row["open_max_per_claim"],
        "claims": row["open_claims"],
    }


def remaining(row: Mapping[Any, Any]) -> int:
    """Places that an open link can still give out."""
    most = row["open_max_claims"]
    left: int = row["available"] if most is None else min(row["available"], most - row["open_claims"])
    return left


def _ended(row: Mapping[Any, Any]) -> bool:
    """Whether all links of a block have ended, with their event or at the block's release time."""
    return bool(row["called_off"] or row["event_over"] or row["over"])


def _no_link(generation: int) -> dict[str, Any]:
    return {"url": None, "status": "revoked" if generation else "none", "remaining": 0}
