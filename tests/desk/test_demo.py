"""The demo of "Windhoek Lights": a festival to come, one that runs, one that is over; created once, books in order."""

import pytest
from sqlalchemy import func, select

from app.accounts.caller import build_caller
from app.accounts.models import Account
from app.admissions.models import Admission, RefusedScan
from app.allocations import demo as allocations
from app.applications import demo as applications
from app.applications.models import Application
from app.core.clock import utcnow
from app.core.db import db
from app.demo import CLOSED, PEOPLE, create_accounts, seed_scans
from app.events import demo as events
from app.events.models import Event
from app.ledger.commands import list_differences
from app.money.event_money import load_event_money


@pytest.mark.usefixtures("client")
def test_the_demo_tells_the_story_of_three_festivals() -> None:
    create_accounts()
    organiser = db.session.scalars(select(Account).where(Account.email == PEOPLE[0].email)).one()
    events.seed(organiser.id, events.LIGHTS)
    allocations.seed(organiser.id)
    assert applications.seed(organiser.id) == 12 and applications.seed(organiser.id) == 0
    assert seed_scans(organiser.id) and not seed_scans(organiser.id)

    statuses: dict[str, set[tuple[str, str]]] = {}
    query = select(Event.name, Application.business_name, Application.status).join(
        Event, Event.id == Application.event_id
    )
    for event, business, status in db.session.execute(query):
        statuses.setdefault(event, set()).add((str(business), status))
    assert statuses == {
        "Windhoek Lights": {
            ("Kapana Corner", "activated"),
            ("Omaere Crafts", "awaiting_payment"),
            ("Namib Brews", "submitted"),
            ("Oshana Grill", "submitted"),
            ("Dune Coffee", "awaiting_documents"),
            ("Sesriem Samosas", "waitlisted"),
            ("Party Toys Direct", "declined"),
        },
        "Katutura Food Weekend": {("Kapana Corner", "activated"), ("Namib Brews", "activated")},
        CLOSED: {("Kapana Corner", "activated"), ("Omaere Crafts", "activated"), ("Namib Brews", "activated")},
    }
    scans = select(Event.name, Admission.conflict.is_(None), func.count()).join(Event, Event.id == Admission.event_id)
    assert set(db.session.execute(scans.group_by(Event.name, Admission.conflict.is_(None))).all()) == {
        ("Katutura Food Weekend", True, 172),
        ("Katutura Food Weekend", False, 1),
        (CLOSED, True, 318),
        (CLOSED, False, 1),
    }
    refused = select(RefusedScan.reason, func.count()).group_by(RefusedScan.reason)
    assert dict(db.session.execute(refused).all()) == {"ALREADY_ADMITTED": 6, "TICKET_NOT_FOUND": 2}
    closed = db.session.scalars(select(Event).where(Event.name == CLOSED)).one()
    assert closed.ends_at < utcnow()
    money = load_event_money(build_caller(organiser), closed.id)
    assert money.reconciled and money.block_invoices.open_minor == 0 < money.block_invoices.paid_minor
    assert money.stall_fees.received_minor == 180_000 and money.stall_fees.open_minor == 0
    assert list(list_differences()) == []
