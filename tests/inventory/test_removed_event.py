"""What is written for the stock, or as a campaign, of an event that somebody removes at the same moment."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import text
from werkzeug.test import TestResponse

from app.core.db import db, transaction_engine
from app.core.outbox.executor import run_due_jobs
from app.inventory.actions import imports
from app.inventory.models import StockJob
from tests.factories.campaigns import CampaignEvent
from tests.factories.inventory import Stock, build_csv
from tests.http import Client, read_error

WAITING = text("SELECT count(*) FROM pg_locks WHERE NOT granted")
REMOVED = text("DELETE FROM event WHERE id = :id")
GOOD, BAD = "A,Lager,1,1,1,5,0,0", "A,Lager,1,1,1,5,9,0"
WRITES: dict[str, Callable[[Stock], TestResponse]] = {
    "item": lambda stock: stock.owner.post(f"{stock.path}/items", stock.body()),
    "import": lambda stock: stock.sheet(build_csv(GOOD)),
    "rejected import": lambda stock: stock.sheet(build_csv(BAD)),
    "report": lambda stock: stock.owner.get(f"{stock.path}/reports?type=valuation&format=pdf"),
}


def asked_during_removal(stock: Any, write: Callable[[Any], TestResponse]) -> TestResponse:
    """The answer to a request that read the event before its removal was committed."""
    db.session.remove()
    with ThreadPoolExecutor(1) as threads, transaction_engine(db.engine).connect() as other:
        other.execute(REMOVED, {"id": stock.event["id"]})
        answer = threads.submit(write, stock)
        for _ in range(40):
            if other.scalar(WAITING) or answer.done():
                break
            time.sleep(0.05)
        other.commit()
        return answer.result()


@pytest.mark.parametrize("kind", WRITES)
def test_stock_of_an_event_that_is_being_removed_is_not_found(client: Client, kind: str) -> None:
    assert read_error(asked_during_removal(Stock(client), WRITES[kind]))[0] == 404


def test_a_large_import_into_an_event_that_is_being_removed_is_not_found(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imports, "MAX_SYNC_ROWS", 0)
    assert read_error(asked_during_removal(Stock(client), WRITES["import"]))[0] == 404
    run_due_jobs(worker="test")
    assert not db.session.scalars(db.select(StockJob)).all()


def test_a_campaign_of_an_event_that_is_being_removed_is_not_found(client: Client) -> None:
    answer = asked_during_removal(
        CampaignEvent(client), lambda crowd: crowd.owner.post(f"{crowd.path}/broadcast", crowd.body(sendNow=False))
    )
    assert read_error(answer)[0] == 404
