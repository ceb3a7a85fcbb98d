"""The pages of an organiser with a real festival: 60,000 tickets, 300 applications, 8,000 items, 40 blocks."""

from __future__ import annotations

import random
from http.cookies import SimpleCookie
from itertools import cycle, islice
from statistics import median
from typing import Any
from urllib.parse import quote_plus

import psycopg
from sqlalchemy import make_url, select, text

from app import demo
from app.accounts.caller import Caller, build_caller
from app.accounts.models import Account
from app.applications.actions.decisions import decide_application
from app.applications.actions.submission import submit_application
from app.applications.states import APPROVED, DECLINED, SUBMITTED, WAITLISTED
from app.core.db import db
from app.core.transaction import transaction
from app.events.actions.import_ticket_file import FileOptions, ImportSteps, import_data
from app.events.ticket_import_sql import PATIENCE
from app.gate import demo as demo_gate
from benchmarks.outcome import Outcome, of_rounds
from benchmarks.registry import Benchmark, Load, benchmark
from benchmarks.seed_allocations import FIRST, LAST, seed_block
from benchmarks.seed_inventory import seed_items
from benchmarks.stage import Stage

EVENT = "Katutura Food Weekend"
TICKETS, APPLICATIONS, ITEMS, BLOCKS, PLACES, SCANNED_SHARE = 60_000, 300, 8_000, 40, 100, 0.2
DECISIONS = (SUBMITTED, APPROVED, APPROVED, WAITLISTED, DECLINED, APPROVED)
PEOPLE = 2
SEARCHES = (
    "frieda", "amupolo", "großmann", "shikongo tuli", "BIG-00077", "BIG-5", "kapana", "grill 12", "jazz", "wristband",
    "SKU-0000123", "sponsor", "fan9", "namib", "zzz",
)  # fmt: skip
WIDEN_SQL = """
    UPDATE event SET stall_types = (SELECT jsonb_agg(item || '{"quantity": 1000}')
                                      FROM jsonb_array_elements(stall_types) item) WHERE id = :id"""
ORGANISER = demo.PEOPLE[0].email
_cookies_by_address: dict[str, str] = {}


def seed_festival(stage: Stage) -> None:
    """The demo, and its running festival as large as a real one."""
    demo.seed()
    account = db.session.scalars(select(Account).where(Account.email == ORGANISER)).one()
    caller, event_id = build_caller(account), _find(EVENT)
    if (_count("ticket", event_id)) >= TICKETS:
        return
    _import_tickets(caller, event_id)
    _submit_applications(caller, event_id)
    type_id = db.session.scalar(text("SELECT id FROM ticket_type WHERE event_id = :id LIMIT 1"), {"id": event_id})
    db.session.execute(text("ANALYZE ticket"))
    db.session.remove()
    with psycopg.connect(
        make_url(stage.environment["DATABASE_URL"]).set(drivername="postgresql").render_as_string(hide_password=False)
    ) as connection:
        seed_items(connection, event_id, ITEMS)
        connection.execute("UPDATE ticket_type SET total = total + %s WHERE id = %s", (BLOCKS * PLACES, type_id))
        for number in range(BLOCKS):
            state = "claimed" if number % 4 else "available"
            seed_block(connection, {"event": event_id, "type": type_id, "organiser": account.id}, state, PLACES)
    demo_gate.seed(caller, event_id, share=SCANNED_SHARE)
    db.session.remove()


def _import_tickets(caller: Caller, event_id: str) -> None:
    chance = random.Random(2026)
    lines = ["reference,ticketType,name,email,price,soldAt,status,secret"]
    for number in range(TICKETS):
        name, month, day = (
            f"{chance.choice(FIRST)} {chance.choice(LAST)}",
            chance.randrange(1, 11),
            chance.randrange(1, 29),
        )
        kind = chance.choice(("Entry", "Entry", "Weekend", "Child", "VIP"))
        lines.append(
            f"BIG-{number:05},{kind},{name},fan{number}@example.com,{chance.choice((80, 150, 300))}.00,"
            f"2026-{month:02}-{day:02}T12:00:00Z,sold,big{number:09}"
        )
    options = FileOptions(create_types=True, allow_oversell=True)
    data = "\n".join([*lines, ""]).encode()
    steps = ImportSteps(PATIENCE)
    result = import_data(event_id, data, "big.csv", caller.name, options, steps, max_bytes=len(data), max_rows=TICKETS)
    assert result["created"] == TICKETS, result["errors"][:3]


def _submit_applications(caller: Caller, event_id: str) -> None:
    with transaction() as session:
        session.execute(text(WIDEN_SQL), {"id": event_id})
    for number, decision in enumerate(islice(cycle(DECISIONS), APPLICATIONS)):
        application = submit_application(
            caller=None,
            event_id=event_id,
            amount_minor=None,
            destination="bank",
            mode="now",
            business_name=f"{LAST[number % len(LAST)]} Grill {number}",
            contact_name=f"{FIRST[number % len(FIRST)]} {LAST[number % len(LAST)]}",
            email=f"stall{number}@example.com",
            phone="+264811234567",
            stall_type="Food stall",
            products="Kapana, fat cakes",
        )
        if decision != SUBMITTED:
            decide_application(caller, application.id, decision=decision, reason=None, documents_required=[])


def slowest_page(stage: Stage, it: Benchmark) -> Outcome:
    """The p99 of the slowest page, in ms, with two people at once. The note has the next ones."""
    load, found = it.prepare(stage), []
    for path in load.paths:
        page = Load(path, headers=load.headers)
        stage.run(page, clients=PEOPLE)
        runs = [stage.run(page, clients=PEOPLE) for _ in range(stage.rounds)]
        found.append((median(run.p99 for run in runs), path, runs))
    found.sort(key=lambda page: page[0], reverse=True)
    p99, path, runs = found[0]
    others = ", ".join(f"{_shorten(path)} {p99:.0f}" for p99, path, _ in found[1:6])
    note = f"{_shorten(path)}; then {others}; median of {len(found)} pages {median(p99 for p99, *_ in found):.0f}"
    return of_rounds([run.p99 for run in runs], "ms (p99)", runs, note)


@benchmark("desk", goal=150, at_most=True, seed=seed_festival, measure=slowest_page)
def desk(stage: Stage) -> Load:
    """Every page of the desk that needs no more than the event, and one of each that shows a single thing."""
    event_id = _find(EVENT)
    return _build_load(stage, [*_list_pages(stage, event_id), *_list_single_pages(event_id)])


@benchmark("desk-search", goal=200, at_most=True, seed=seed_festival, measure=slowest_page)
def desk_search(stage: Stage) -> Load:
    """The search of the desk for fifteen texts: people, merchants, order numbers, items, and nothing."""
    return _build_load(stage, [f"/desk/search?q={quote_plus(query)}" for query in SEARCHES])


def _build_load(stage: Stage, pages: list[str]) -> Load:
    """The pages that the organiser can read as they are: some only take a form, or lead elsewhere."""
    headers = {"Cookie": _sign_in(stage)}
    client = stage.app.test_client(use_cookies=False)
    paths = [path for path in pages if client.get(path, headers=headers).status_code == 200]
    return Load(paths[0], headers=headers, paths=paths)


def _shorten(path: str) -> str:
    return path.replace(_find(EVENT), "…")


def _list_pages(stage: Stage, event_id: str) -> list[str]:
    rules = (
        rule
        for rule in stage.app.url_map.iter_rules()
        if rule.rule.startswith("/desk") and "GET" in (rule.methods or ()) and rule.arguments <= {"event_id"}
    )
    return sorted({rule.rule.replace("<event_id>", event_id) for rule in rules})


def _list_single_pages(event_id: str) -> list[str]:
    tables = {"guests": "allocation_block", "stalls": "merchant_application", "stock": "inventory_item"}
    ids = {
        part: db.session.scalar(text(f"SELECT max(id) FROM {table} WHERE event_id = :id"), {"id": event_id})
        for part, table in tables.items()
    }
    db.session.remove()
    return [f"/desk/events/{event_id}/{part}/{id}" for part, id in ids.items()]


def _sign_in(stage: Stage) -> str:
    """The cookies of the organiser, who signs in once: Flask-WTF keeps the form's token with the context of this process."""
    if ORGANISER in _cookies_by_address:
        return _cookies_by_address[ORGANISER]
    client = stage.app.test_client()
    page: Any = client.get("/sign-in").text
    token = page.partition('name="csrf_token" value="')[2].partition('"')[0]
    response = client.post("/sign-in", data={"email": ORGANISER, "password": demo.PASSWORD, "csrf_token": token})
    cookies = SimpleCookie()
    for header in response.headers.getlist("Set-Cookie"):
        cookies.load(header)
    _cookies_by_address[ORGANISER] = "; ".join(f"{name}={cookie.value}" for name, cookie in cookies.items())
    return _cookies_by_address[ORGANISER]


def _find(name: str) -> str:
    found = db.session.scalar(text("SELECT id FROM event WHERE name = :name"), {"name": name})
    db.session.remove()
    return str(found)


def _count(table: str, event_id: str) -> int:
    found = db.session.scalar(text(f"SELECT count(*) FROM {table} WHERE event_id = :id"), {"id": event_id})
    db.session.remove()
    return int(found or 0)
