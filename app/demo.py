"""Demo data: the people around the festival "Windhoek Lights". Seeding twice changes nothing."""

from dataclasses import dataclass, field
from datetime import timedelta

import click
from flask.cli import AppGroup, with_appcontext
from sqlalchemy import func, select, update

from app.accounts.account_lifecycle import Applicant, create_account
from app.accounts.authentication import hash_password
from app.accounts.caller import build_caller
from app.accounts.models import Account
from app.accounts.queries import lock_address
from app.allocations import demo as demo_allocations
from app.applications import demo as demo_applications
from app.campaigns import demo as demo_campaigns
from app.core.db import db
from app.core.transaction import transaction
from app.desk import demo as demo_desk
from app.events import demo as demo_events
from app.events.models import Event
from app.gate import demo as demo_gate
from app.inventory import demo as demo_inventory
from app.payouts import demo as demo_payouts

LIGHTS = "Windhoek Lights"
CLOSED = "Okahandja Night Market"
CLOSED_EARLIER = timedelta(days=2)
RUNNING = "Katutura Food Weekend"
SCANNED_SHARES = {RUNNING: 0.4, CLOSED: 0.9}
PASSWORD = "windhoek-lights-2026"
commands = AppGroup("demo", help="Demo data.")


@dataclass(frozen=True)
class Person:
    """A demo account."""

    role: str
    email: str
    name: str
    profile: dict[str, str] = field(default_factory=dict)


PEOPLE = (
    Person(
        "organiser",
        "nangula@windhoek-lights.example",
        "Nangula Shikongo",
        {
            "org_name": "Windhoek Lights",
            "address": "12 Lüderitz Street, Windhoek",
            "vat_number": "1234567015",
            "bank_account_name": "Windhoek Lights CC",
            "bank_account_number": "62001234567",
            "bank_name": "Bank Windhoek",
            "bank_branch_code": "482172",
        },
    ),
    Person("organiser", "jan@swakop-jazz.example", "Jan Beukes", {"org_name": "Swakop Jazz Days"}),
    Person(
        "merchant",
        "tuli@kapana-corner.example",
        "Tuli Hamutenya",
        {"business_name": "Kapana Corner", "stall_name": "Kapana Corner"},
    ),
    Person("merchant", "maria@omaere-crafts.example", "Maria ǃGaroës", {"business_name": "Omaere Crafts"}),
    Person("merchant", "petrus@namib-brews.example", "Petrus Nel", {"business_name": "Namib Brews"}),
    Person("customer", "frieda@example.com", "Frieda Amupolo"),
    Person("customer", "elago@example.com", "Elago Nghipandulwa"),
)

STORIES = {
    "nangula@windhoek-lights.example": demo_events.LIGHTS,
    "jan@swakop-jazz.example": demo_events.JAZZ,
}

EARNINGS = {
    "tuli@kapana-corner.example": demo_payouts.KAPANA,
    "maria@omaere-crafts.example": demo_payouts.CRAFTS,
    "petrus@namib-brews.example": demo_payouts.BREWS,
}


@commands.command("seed")
@with_appcontext
def seed_command() -> None:
    """Create the demo accounts, events, stalls, scans, earnings and payouts that are missing."""
    click.echo("seeded" if seed() else "everything was there")


def seed() -> bool:
    """Create the demo data that is missing; return whether any was."""
    has_created = create_accounts()
    for email, story in STORIES.items():
        organiser = db.session.scalars(select(Account).where(Account.email == email)).one()
        has_created = bool(demo_events.seed(organiser.id, story)) or has_created
        has_created = bool(demo_allocations.seed(organiser.id)) or has_created
        has_created = bool(demo_applications.seed(organiser.id)) or has_created
        has_created = seed_scans(organiser.id) or has_created
        has_created = seed_lights(organiser.id) or has_created
    for email, earned in EARNINGS.items():
        merchant = db.session.scalars(select(Account).where(Account.email == email)).one()
        has_created = demo_payouts.seed(merchant, earned, PASSWORD) or has_created
    return has_created


def seed_scans(organiser_id: str) -> bool:
    """Create the missing scans of the events that have begun, and end the one that is over; return whether any was."""
    has_created = False
    for name, share in SCANNED_SHARES.items():
        event = db.session.scalar(select(Event).where(Event.organiser_id == organiser_id, Event.name == name))
        if event is not None:
            caller = build_caller(db.session.get_one(Account, organiser_id))
            is_running = name == RUNNING
            has_created = bool(demo_gate.seed(caller, event.id, share=share, is_running=is_running)) or has_created
    with transaction() as session:
        # Stalls and guests come to an open event only, so it is over when all of them are there.
        session.execute(
            update(Event)
            .where(Event.organiser_id == organiser_id, Event.name == CLOSED, Event.ends_at > func.now())
            .values(ends_at=Event.ends_at - CLOSED_EARLIER, version=Event.version + 1)
        )
    return has_created


def seed_lights(organiser_id: str) -> bool:
    """Create the missing stock, campaigns and failed mail of "Windhoek Lights", if it is this organiser's.

    Return whether any was missing.
    """
    event_id = db.session.scalar(select(Event.id).where(Event.organiser_id == organiser_id, Event.name == LIGHTS))
    if event_id is None:
        return False
    caller = build_caller(db.session.get_one(Account, organiser_id))
    has_stocked = demo_inventory.seed(caller, event_id)
    has_failed_mail = demo_desk.seed(event_id)
    return bool(demo_campaigns.seed(caller, event_id) or has_stocked or has_failed_mail)


def create_accounts() -> bool:
    emails = [person.email for person in PEOPLE]
    if db.session.scalar(select(func.count()).where(Account.email.in_(emails))) == len(emails):
        return False
    password_hash = hash_password(PASSWORD)
    with transaction() as session:
        for person in PEOPLE:
            applicant = Applicant(
                role=person.role,
                email=person.email,
                name=person.name,
                password_hash=password_hash,
                profile=person.profile,
            )
            lock_address(session, person.email)
            create_account(session, applicant, verified=True)
    return True
