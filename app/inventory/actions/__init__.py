"""The changes of the stock; each function is one transaction."""

from app.inventory.actions.imports import (
    check_prepared_import,
    discard_prepared_import,
    import_stock,
    prepare_import,
    start_prepared_import,
)
from app.inventory.actions.items import adjust_item, create_item, update_item
from app.inventory.actions.purchase_orders import ArrivedLine, cancel_order, receive_order, reorder_items
from app.inventory.actions.reminders import enqueue_digest, update_reminder
from app.inventory.actions.reports import request_report_pdf

__all__ = [
    "ArrivedLine",
    "adjust_item",
    "update_item",
    "update_reminder",
    "create_item",
    "check_prepared_import",
    "discard_prepared_import",
    "import_stock",
    "prepare_import",
    "start_prepared_import",
    "cancel_order",
    "receive_order",
    "reorder_items",
    "request_report_pdf",
    "enqueue_digest",
]
