"""Stock for tests, created over HTTP by an organiser."""

from io import BytesIO
from itertools import count
from pathlib import Path
from typing import Any

from werkzeug.test import TestResponse

from app.inventory.commands import list_differences
from tests.factories.events import create_event, create_organiser_client
from tests.http import Client, data

SHEETS = Path(__file__).parents[1] / "data" / "inventory"
HEADER = "sku,name,parLevel,minOrderQty,reorderLevel,onHand,reserved,damaged"
_numbers = count(1)


class Stock:
    """The stock of a new event, and its organiser's client."""

    def __init__(self, client: Client, **fields: Any) -> None:
        self.owner = create_organiser_client(client)
        self.event = create_event(self.owner, **fields)
        self.path = f"/api/events/{self.event['id']}/inventory"

    def body(self, **fields: Any) -> dict[str, Any]:
        number = next(_numbers)
        return {
            "name": f"Lager {number}",
            "sku": f"BEE-{number:05}",
            "parLevel": 120,
            "minOrderQty": 24,
            "reorderLevel": 4,
            "onHand": 10,
            "reserved": 0,
            "damaged": 0,
            **fields,
        }

    def item(self, **fields: Any) -> dict[str, Any]:
        return data(self.owner.post(f"{self.path}/items", self.body(**fields)), 201)

    def read(self, item: dict[str, Any]) -> dict[str, Any]:
        return data(self.owner.get(f"{self.path}/items/{item['id']}"))

    def adjust(self, item: dict[str, Any], delta: float | None = None, **body: Any) -> TestResponse:
        request_body = body if delta is None else {"delta": delta, **body}
        return self.owner.post(f"{self.path}/items/{item['id']}/adjust", request_body)

    def book(self, item: dict[str, Any]) -> list[dict[str, Any]]:
        """The movements of an item by the time when they occurred."""
        path = f"{self.path}/items/{item['id']}/movements?limit=100&sort=occurredAt"
        return list(data(self.owner.get(path))["movements"])

    def items(self, **query: Any) -> list[dict[str, Any]]:
        return list(data(self.owner.get(self.path, query_string={"limit": 100, **query}))["items"])

    def sheet(self, content: str | bytes | Path, **query: Any) -> TestResponse:
        """The response to an import of a CSV body."""
        raw = content.read_bytes() if isinstance(content, Path) else content
        raw = raw.encode() if isinstance(raw, str) else raw
        return self.owner.post(f"{self.path}/import", data=raw, content_type="text/csv", query_string=query)

    def form(self, content: bytes, name: str = "stock.csv", **query: Any) -> TestResponse:
        form_data = {"file": (BytesIO(content), name)}
        return self.owner.post(
            f"{self.path}/import", data=form_data, content_type="multipart/form-data", query_string=query
        )

    def export(self) -> bytes:
        response = self.owner.get(f"{self.path}/export.csv")
        assert response.status_code == 200, response.get_data(as_text=True)
        return response.get_data()


def build_csv(*lines: str) -> str:
    """A CSV sheet with the required columns and these rows."""
    return "\n".join([HEADER, *lines]) + "\n"


def assert_quantities_match_movements() -> None:
    """Asserts that every quantity is the sum of its movements."""
    assert list(list_differences()) == []
