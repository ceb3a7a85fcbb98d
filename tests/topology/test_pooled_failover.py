"""The primary fails behind PgBouncer and HAProxy, as `deploy/` has them: it stands still, or it dies."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from app.core.connections import dedicated_connection
from tests.topology.balancer import Patroni, balancer
from tests.topology.conftest import needs
from tests.topology.pooler import pooler
from tests.topology.postgres import Server, eventually, pair
from tests.topology.test_failover import check, fail_over, log, service
from tests.topology.writers import Writers

ROUNDS = int(os.environ.get("FAILOVER_ROUNDS", "1"))
pytestmark = [pytest.mark.slow, needs("pgbouncer"), needs("haproxy")]
# What stands still is the harder one: its connections stay open, and nobody answers on them. Every second round.
ENDS: list[tuple[str, Callable[[Server], None]]] = [("stood still", Server.hang), ("died", Server.kill)]


@contextmanager
def pooled(folder: Path, patroni: Patroni) -> Iterator[dict[str, str]]:
    """The addresses of the settings."""
    with balancer(folder, patroni) as port:
        direct = f"postgresql://postgres@127.0.0.1:{port}/app"
        # When it starts it takes each server for well, until it has asked all of them once.
        eventually(lambda: {_answering(direct) for _ in range(6)} == {patroni.leader})
        with pooler(folder, direct) as url:
            yield {"DATABASE_URL": url, "DATABASE_DIRECT_URL": direct}


def _answering(url: str) -> int:
    with dedicated_connection(url) as connection:
        return int(connection.execute("SELECT inet_server_port()").fetchone()[0])  # type: ignore[index]


def handed_over(writers: Writers, patroni: Patroni, end: Callable[[], None], to: Server) -> float:
    """The same as anyone who watches them does it; seconds without a write."""

    def gone() -> None:
        end()
        patroni.leader = None

    def promote() -> None:
        to.promote()
        patroni.leader = to.port

    return fail_over(writers, gone, promote)


@pytest.mark.parametrize("round", range(ROUNDS))
def test_no_acknowledged_write_is_lost_behind_a_pooler(open_folder: Path, worker: str, round: int) -> None:
    what, end = ENDS[round % 2]
    with pair(open_folder) as (primary, replica):
        patroni = Patroni([primary.port, replica.port])
        with pooled(open_folder, patroni) as addresses, service(open_folder, worker, addresses) as writers:
            primary.wait_for_its_commits("replica")
            with writers.writing():
                outage = handed_over(writers, patroni, lambda: end(primary), replica)
            log.info(f"without writes for {outage:.2f} s: it {what}")
            check(writers, replica)
            assert outage < 15
        patroni.stop()
