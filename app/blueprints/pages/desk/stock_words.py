"""How the desk names the numbers of an item, and why they change."""

from app.inventory.item_fields import BUCKETS, REASONS

BUCKET_LABELS = dict(zip(BUCKETS, ("On hand", "Reserved", "Damaged"), strict=True))
ALL_BUCKET_LABELS = {**BUCKET_LABELS, "onOrder": "On order"}
REASON_LABELS = dict(
    zip(
        REASONS,
        ("Received", "Sold", "Waste", "Damage", "Transfer", "Count", "Return", "Correction"),
        strict=True,
    )
)
WRONG_NUMBER = {
    "invalid_type": "Enter a number like 12 or 12.5.",
    "too_precise": "Enter at most three decimals.",
    "too_small": "Enter 0 or more.",
}
WRONG_PRICE = {**WRONG_NUMBER, "too_precise": "Enter at most four decimals."}
STOCK_MESSAGES = {
    "INSUFFICIENT_STOCK": "More would be reserved and damaged than is on hand.",
    "QUANTITY_TOO_LARGE": "This number is too large.",
    "STALE_VERSION": "Somebody else has changed this item. Look at its numbers, and save again.",
    "SKU_TAKEN": "Another item has this SKU. It may be archived.",
}
