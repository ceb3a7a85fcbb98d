"""What listeners of a stock get: its items page by page, then what has changed (see docs/inventory-stream.md)."""

from collections.abc import Iterable, Mapping, Set
from typing import Any

import orjson
from sqlalchemy import and_, select, true

from app.core.db import db
from app.inventory import feed, looking
from app.inventory.book import CHANNEL, MOVEMENT
from app.inventory.feed import StockChange
from app.inventory.filters import conditions
from app.inventory.queries import ITEM, LEDGER, ROW
from app.inventory.shown import item_shown, movement_id, movement_shown

PAGE = 200
Asked = tuple[tuple[str, Any], ...]
News = dict[Asked, bytes | None]
channel = CHANNEL
here = feed.here


def page(event_id: str, asked: Asked, after: str) -> tuple[bytes, str | None]:
    """Up to two hundred items that match, behind that key in the order of SKUs, as JSON; and the key to go on with."""
    place = (after, "") if after else None
    found = looking.page(event_id, dict(asked), sort="sku", limit=PAGE, after=place)
    shown = {"items": found.rows, "more": found.after is not None}
    return orjson.dumps(shown), found.after[0] if found.after else None


def told(event_id: str, waiting: Mapping[str, Set[Asked]]) -> tuple[str, dict[str, News | None]]:
    """What is new for those who wait at each of these positions, in three queries; None for who must begin anew."""
    found = feed.since_each(event_id, list(waiting))
    (position, *_) = {item.position for item in found.values()}
    changes = [change for item in found.values() for change in item.changes]
    told_of = _Changed(event_id, changes, {asked for item in waiting.values() for asked in item})
    return position, {
        before: None if item.resync else {asked: told_of.bytes(item.changes, asked) for asked in waiting[before]}
        for before, item in found.items()
    }


class _Changed:
    """Items and movements that changes are about, as JSON, and which of the questions each item answers."""

    def __init__(self, event_id: str, changes: Iterable[StockChange], questions: Set[Asked]) -> None:
        items = {change.item_id for change in changes if change.item_id}
        movements = {change.movement for change in changes if change.movement is not None}
        self.questions = {asked: f"asked_{at}" for at, asked in enumerate(questions)}
        self.items = {row["id"]: row for row in self._rows(event_id, items)} if items else {}
        self.shown = {id: orjson.Fragment(orjson.dumps(item_shown(row))) for id, row in self.items.items()}
        self.movements = {row["seq"]: _movement(row) for row in _booked(movements)} if movements else {}

    def bytes(self, changes: list[StockChange], asked: Asked) -> bytes | None:
        """An event's data: changes of items that match, those items as they are now, and the ids of the others."""
        if not changes:
            return None
        touched = list(dict.fromkeys(change.item_id for change in changes))
        column = self.questions[asked]
        matching = {id for id in touched if id in self.items and self.items[id][column]}
        return orjson.dumps(
            {
                "changes": [self._change(change) for change in changes if change.item_id in matching],
                "items": [self.shown[id] for id in touched if id in matching],
                "gone": [id for id in touched if id not in matching],
            }
        )

    def _change(self, change: StockChange) -> dict[str, Any]:
        shown: dict[str, Any] = {"seq": change.seq, "kind": change.kind, "itemId": change.item_id}
        if change.movement in self.movements:
            shown["movement"] = self.movements[change.movement]
        return shown

    def _rows(self, event_id: str, ids: Set[str]) -> Iterable[Any]:
        answers = [and_(true(), *conditions(dict(asked))).label(name) for asked, name in self.questions.items()]
        wanted = select(*ROW, *answers).where(ITEM.event_id == event_id, ITEM.id.in_(ids))
        return db.session.execute(wanted).mappings()


def _booked(seqs: Set[int]) -> Iterable[Any]:
    return db.session.execute(select(*(LEDGER[item] for item in MOVEMENT)).where(LEDGER.seq.in_(seqs))).mappings()


def _movement(row: Mapping[str, Any]) -> orjson.Fragment:
    return orjson.Fragment(orjson.dumps(movement_shown({**row, "id": movement_id(row["seq"])})))
