"""Campaigns: counting a crowd, making its rows, sending, and what everybody else notices of it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import psycopg
from sqlalchemy import make_url, text

from app.core.db import db, transaction_engine
from benchmarks import processes
from benchmarks.accounts import account, me, tokens
from benchmarks.outbox import workers
from benchmarks.outcome import Failed, Outcome, of_rounds
from benchmarks.registry import Benchmark, Load, benchmark
from benchmarks.seed_campaigns import seed_crowd
from benchmarks.stage import Stage

CROWD, MAILS, PATIENCE = 100_000, 2_000, 240.0
BODY = {
    "name": "Gates",
    "templateId": "event-reminder",
    "title": "{eventName}: see you soon",
    "body": "Hello {firstName}, you have {tickets}.",
    "href": "https://example.com/gates",
    "channels": ["email"],
    "sendNow": True,
    "audienceType": "event_ticket_holders",
    "respectPreferences": True,
}
FANNED = text("""
    SELECT fanned_out_at - started_at,
           coalesce((SELECT sum(total) FROM campaign_tally t WHERE t.campaign_id = campaign.id), 0)
      FROM campaign WHERE id = :id
""")
LEFT = text("SELECT count(*) FROM campaign_recipient WHERE campaign_id = :id AND state = 'pending'")
CALL_OFF = text(
    "UPDATE outbox SET state = 'canceled', done_at = now() WHERE kind LIKE 'campaigns.%' AND state = 'ready'"
)
_made: dict[int, dict[str, Any]] = {}


def preview_p99(stage: Stage, it: Benchmark) -> Outcome:
    """The slowest hundredth of previews, in ms, one after the other."""
    runs = [stage.run(it.prepare(stage), clients=1) for _ in range(stage.rounds)]
    return of_rounds([run.p99 for run in runs], "ms (p99)", runs, f"{CROWD:,} tickets, one client")


def fan_out_seconds(stage: Stage, it: Benchmark) -> Outcome:
    """From the start of a fan-out until its last row, and the most memory its process has used."""
    crowd, rounds, peaks = _crowd(stage, CROWD), [], []
    for _ in range(max(1, stage.rounds // 2)):
        with workers(stage, 1), _watching(peaks):
            began, rows = _broadcast(stage, crowd), 0
            took, rows = _fanned_out(began)
        _call_off()
        rounds.append(took)
    return of_rounds(rounds, "s", note=f"{rows:,} rows, at most {max(peaks):.0f} MiB")


def mails_a_second(stage: Stage, it: Benchmark) -> Outcome:
    """From the broadcast until the last of MAILS messages is sent, by 4 workers to a local SMTP server."""
    crowd, rounds = _crowd(stage, MAILS), []
    with workers(stage):
        for _ in range(stage.rounds):
            began = time.monotonic()
            rows = _settled(_broadcast(stage, crowd))
            rounds.append(rows / (time.monotonic() - began))
    return of_rounds(rounds, "/s", note=f"{rows} mails, fan-out included, 4 workers, one relay, a local SMTP server")


def slower_beside(stage: Stage, it: Benchmark) -> Outcome:
    """How much longer the slowest hundredth of a read takes while a campaign is sent."""
    crowd, rounds, runs = _crowd(stage, CROWD), [], []
    for _ in range(stage.rounds):
        alone = stage.run(it.prepare(stage))
        with workers(stage):
            began = _broadcast(stage, crowd)
            _under_way(began)
            runs.append(stage.run(it.prepare(stage)))
        _call_off()
        rounds.append(runs[-1].p99 / alone.p99)
    return of_rounds(rounds, "× p99 alone", runs)


@benchmark("campaign-preview", goal=300, at_most=True, measure=preview_p99)
def preview(stage: Stage) -> Load:
    """`POST …/audience-preview` of 100,000 tickets."""
    crowd = _crowd(stage, CROWD)
    return Load(f"{_path(crowd)}/audience-preview", method="POST", headers=_bearer(crowd), bodies=[{}])


@benchmark("campaign-fan-out", goal=30, at_most=True, measure=fan_out_seconds)
def fan_out(stage: Stage) -> Load:
    """The rows and the work of a campaign to 100,000."""
    return Load("/health")


@benchmark("campaign-mails", goal=100, measure=mails_a_second)
def mails(stage: Stage) -> Load:
    """Mails of a campaign over SMTP by 4 workers."""
    return Load("/health")


@benchmark("beside-campaign", goal=2, at_most=True, measure=slower_beside)
def beside(stage: Stage) -> Load:
    """`GET /api/auth/me` by 8 clients while a campaign to 100,000 is sent by 4 workers."""
    return me(stage)


@benchmark("broadcast", goal=0.19)
def broadcast(stage: Stage) -> Load:
    """`POST …/broadcast` of a draft to 100,000, which must not cost 1.5 times as much as a simple write."""
    crowd = _crowd(stage, CROWD)
    body = {**BODY, "sendNow": False}
    return Load(f"{_path(crowd)}/broadcast", method="POST", headers=_bearer(crowd), bodies=[body])


def _crowd(stage: Stage, count: int) -> dict[str, Any]:
    if count not in _made:
        owner = account(stage, "organiser")
        with _connected(stage) as connection:
            made = seed_crowd(connection, owner.id, count)
        _made[count] = {**made, "token": tokens(owner)["access_token"]}
    return _made[count]


def _broadcast(stage: Stage, crowd: dict[str, Any]) -> str:
    answer = httpx.post(f"{stage.service.address}{_path(crowd)}/broadcast", json=BODY, headers=_bearer(crowd))
    if answer.status_code != 202:
        raise Failed(answer.text)
    return str(answer.json()["data"]["campaignId"])


def _fanned_out(campaign: str) -> tuple[float, int]:
    for _ in _meanwhile():
        took, rows = _asked(FANNED, campaign)
        if took is not None:
            return float(took.total_seconds()), int(rows)
    raise Failed("the fan-out did not end")


def _under_way(campaign: str) -> None:
    for _ in _meanwhile():
        if _asked(FANNED, campaign)[1]:
            return
    raise Failed("the fan-out did not begin")


def _settled(campaign: str) -> int:
    for _ in _meanwhile():
        took, rows = _asked(FANNED, campaign)
        if took is not None and _asked(LEFT, campaign)[0] == 0:
            return int(rows)
    raise Failed("the mails were not sent")


def _meanwhile() -> Iterator[None]:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        yield
        time.sleep(0.05)


def _asked(statement: Any, campaign: str) -> Any:
    with db.engine.connect() as connection:
        return connection.execute(statement, {"id": campaign}).one()


def _call_off() -> None:
    """What is left of a campaign goes, and is swept up: the next round starts on calm ground."""
    with transaction_engine(db.engine).begin() as connection:
        connection.execute(CALL_OFF)
    with db.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("VACUUM (ANALYZE) outbox, campaign_recipient, campaign_tally"))
        connection.execute(text("CHECKPOINT"))


@contextmanager
def _watching(peaks: list[float]) -> Iterator[None]:
    """Notes the most memory that any worker or its child has, ten times a second."""
    over = threading.Event()

    def watch() -> None:
        while not over.wait(0.1):
            for process in processes.descendants(processes.own()):
                if "app.worker" in processes.command(process):
                    peaks.append(processes.memory_mb(process, "Rss"))

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _path(crowd: dict[str, Any]) -> str:
    return f"/api/events/{crowd['event']}/notifications"


def _bearer(crowd: dict[str, Any]) -> dict[str, str]:
    return {"Authorization": f"Bearer {crowd['token']}"}


def _connected(stage: Stage) -> psycopg.Connection[Any]:
    url = make_url(stage.environment["DATABASE_URL"]).set(drivername="postgresql")
    return psycopg.connect(url.render_as_string(hide_password=False))
