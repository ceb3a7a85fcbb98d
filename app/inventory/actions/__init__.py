"""What is done with stock: one verb, one transaction."""

from app.inventory.actions.adjust import adjust
from app.inventory.actions.importing import import_stock
from app.inventory.actions.items import change_item, create_item
from app.inventory.actions.remind import change_reminder, trigger
from app.inventory.actions.reorder import reorder
from app.inventory.actions.report import report_on_paper

__all__ = [
    "adjust",
    "change_item",
    "change_reminder",
    "create_item",
    "import_stock",
    "reorder",
    "report_on_paper",
    "trigger",
]
