"""An import whose process is killed has written everything or nothing, wherever it was."""

import os
import signal
from typing import Any

import pytest
from sqlalchemy import text

from app.core.db import ReadOrWriteSession, db
from app.inventory.stock_import import importer
from app.inventory.stock_import.importer import ImportOptions, import_rows
from app.inventory.stock_import.parser import parse_sheet
from tests.factories.inventory import Stock, assert_quantities_match_movements, build_csv
from tests.http import Client, data

ROUNDS = int(os.environ.get("KILLS", "20"))
COUNT = 300
SHEET = build_csv(*(f"S-{n},Item {n},1,1,1,{n},0,0" for n in range(COUNT))).encode()


def items(where: Any) -> int:
    return int(where.execute(text("SELECT count(*) FROM inventory_item WHERE name LIKE 'Item %'")).scalar())


def killed_after(statements: int, event_id: str) -> int:
    """Imports in a process that is killed after so many statements; how many items it had written by then."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            db.session.remove()
            db.engine.dispose(close=False)
            _stop_after(statements, writer)
            import_rows(parse_sheet(SHEET), ImportOptions(event_id, "0" * 24, b"digest", partial=bool(statements % 2)))
            os.write(writer, b"%d\n" % -1)
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as answers:
        seen = int(answers.readline())
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return seen


def _stop_after(statements: int, writer: int) -> None:
    """Lets the transaction say what it has written, and then wait for its death."""
    done = 0
    execute = ReadOrWriteSession.execute

    def counting(session: Any, *arguments: Any, **options: Any) -> Any:
        nonlocal done
        answer = execute(session, *arguments, **options)
        done += 1
        if done == statements:
            os.write(writer, b"%d\n" % int(execute(session, text("SELECT count(*) FROM inventory_item")).scalar() or 0))
            signal.pause()
        return answer

    ReadOrWriteSession.execute = counting  # type: ignore[method-assign]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills a process of its own")
def test_an_import_that_is_killed_leaves_nothing_behind(client: Client) -> None:
    stock = Stock(client)
    stock.item(sku="S-7", name="Known", onHand=1)
    inside = []
    for turn in range(ROUNDS):
        seen = killed_after(4 + turn % 8, stock.event["id"])
        with db.engine.connect() as connection:
            left = items(connection)
        inside.append(seen)
        assert left == 0, f"killed at statement {4 + turn % 8}"
        assert_quantities_match_movements()
    assert max(inside) >= COUNT, "some of them were killed after they had written every row"
    found = data(stock.sheet(SHEET))
    assert found["created"] + found["updated"] + found["unchanged"] == COUNT
    assert_quantities_match_movements()


@pytest.mark.control
def test_without_the_transaction_rows_would_stay(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same import in two transactions: dead between them, it leaves items without a book."""
    stock = Stock(client)
    apply = importer._write_plan

    def torn(session: ReadOrWriteSession, *arguments: Any) -> None:
        statements = [importer.INSERT_ITEMS_SQL]
        session.execute(statements[0], arguments[1])
        session.connection().connection.driver_connection.commit()  # type: ignore[union-attr]
        raise KeyboardInterrupt

    monkeypatch.setattr(importer, "_write_plan", torn)
    with pytest.raises(KeyboardInterrupt):
        import_rows(parse_sheet(SHEET), ImportOptions(stock.event["id"], "0" * 24, b"digest"))
    assert len(stock.items()) == 100
    with pytest.raises(AssertionError):
        assert_quantities_match_movements()
    assert apply is not torn
