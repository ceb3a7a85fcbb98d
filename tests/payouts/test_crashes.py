"""Workers killed between submission, call and recording never make the rail pay a payout twice."""

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from flask import Flask

from tests.factories.payouts import assert_ledger_integrity, create_earning_merchant, fetch_scalar, request_payout
from tests.http import Client
from tests.settings import SECRET_KEY

SEEDS = int(os.environ.get("PAYOUT_KILL_SEEDS", "4"))
PAYOUTS = 3


@contextmanager
def nursery(app: Flask, sink: Path, *options: str) -> Iterator[Callable[[int], int]]:
    """Plays one seed after the other; answers how many workers were killed."""
    settings = app.extensions["settings"]
    environment = {
        **os.environ,
        "DATABASE_URL": settings.DATABASE_URL,
        "REDIS_URL": settings.REDIS_URL,
        "SECRET_KEY": SECRET_KEY,
        "LOG_LEVEL": "error",
        "DATA_DIR": str(settings.DATA_DIR),
    }
    command = [sys.executable, "-m", "tests.payouts.crashing_worker", str(sink), *options]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "env": environment}
    with subprocess.Popen(command, **pipes) as process:  # type: ignore[call-overload]

        def play(seed: int) -> int:
            process.stdin.write(f"{seed}\n")
            process.stdin.flush()
            return int(process.stdout.readline())

        yield play


def played(app: Flask, client: Client, sink: Path, seeds: int, *options: str) -> tuple[int, Counter[str], int]:
    """How many workers were killed, what the rail did for each payout, and how many payouts there were."""
    sink.touch()
    me, _ = create_earning_merchant(client, 1_000_000)
    killed = 0
    with nursery(app, sink, *options) as play:
        for seed in range(seeds):
            for _ in range(PAYOUTS):
                request_payout(me)
            killed += play(seed)
    return killed, Counter(sink.read_text().split()), seeds * PAYOUTS


def test_killed_worker_never_pays_twice(app: Flask, client: Client, tmp_path: Path) -> None:
    killed, sent, payouts = played(app, client, tmp_path / "rail", SEEDS)
    assert killed >= SEEDS
    assert set(sent.values()) == {1} and len(sent) == payouts
    assert fetch_scalar("SELECT count(*) FROM payout WHERE status = 'paid'") == payouts
    assert fetch_scalar("SELECT count(*) FROM outbox WHERE payload->>'template' = 'payout_paid'") == payouts
    assert_ledger_integrity()


@pytest.mark.slow
@pytest.mark.control
def test_without_status_check_a_payout_would_be_paid_twice(app: Flask, client: Client, tmp_path: Path) -> None:
    killed, sent, _ = played(app, client, tmp_path / "rail", 2, "--unasked")
    assert killed and max(sent.values()) > 1
