"""Demo stalls: applications in every state at a festival to come, and stalls that take part in others.

An event that has applications is skipped, so seeding twice changes nothing.
"""

from collections.abc import Mapping, Sequence
from typing import NotRequired, TypedDict

from sqlalchemy import select

from app.accounts.caller import Caller, build_caller
from app.accounts.models import Account
from app.applications.actions.decisions import decide_application
from app.applications.actions.fees import receive_fee, waive_fee
from app.applications.actions.submission import submit_application
from app.applications.models import Application
from app.applications.states import ACTIVATED, APPROVED, DECLINED, SUBMITTED, WAITLISTED
from app.core.clock import utcnow
from app.core.db import db
from app.events.models import Event
from app.invitations.participation import set_floor_status


class DemoStall(TypedDict):
    """An application: of a demo account (`email`), or of somebody without one. `fee` is how the fee was settled."""

    business: str
    contact: str
    email: str
    phone: str
    stall_type: str
    products: str
    decision: NotRequired[str]
    reason: NotRequired[str]
    documents: NotRequired[Sequence[str]]
    fee: NotRequired[str]
    floor: NotRequired[str]


KAPANA: DemoStall = {
    "business": "Kapana Corner",
    "contact": "Tuli Hamutenya",
    "email": "tuli@kapana-corner.example",
    "phone": "+264811234567",
    "stall_type": "Food stall",
    "products": "Kapana, fat cakes, salsa",
    "decision": APPROVED,
    "documents": (),
    "fee": "received",
}
CRAFTS: DemoStall = {
    "business": "Omaere Crafts",
    "contact": "Maria ǃGaroës",
    "email": "maria@omaere-crafts.example",
    "phone": "+264815550123",
    "stall_type": "Craft stall",
    "products": "Ostrich shell jewellery, baskets",
    "decision": APPROVED,
    "documents": (),
}
BREWS: DemoStall = {
    "business": "Namib Brews",
    "contact": "Petrus Nel",
    "email": "petrus@namib-brews.example",
    "phone": "+264811230077",
    "stall_type": "Food stall",
    "products": "Ginger beer, cold coffee",
}
LIGHTS: Sequence[DemoStall] = (
    KAPANA,
    CRAFTS,
    BREWS,
    {
        "business": "Oshana Grill",
        "contact": "Helvi Nakambale",
        "email": "helvi@oshana-grill.example",
        "phone": "+264811230102",
        "stall_type": "Food stall",
        "products": "Grilled chicken, mahangu porridge",
    },
    {
        "business": "Dune Coffee",
        "contact": "Anna Coetzee",
        "email": "anna@dune-coffee.example",
        "phone": "+264811230103",
        "stall_type": "Food stall",
        "products": "Coffee from a van",
        "decision": APPROVED,
        "documents": ("business_registration", "food_safety"),
    },
    {
        "business": "Sesriem Samosas",
        "contact": "Asha Naidoo",
        "email": "asha@sesriem-samosas.example",
        "phone": "+264811230104",
        "stall_type": "Food stall",
        "products": "Samosas, chai",
        "decision": WAITLISTED,
    },
    {
        "business": "Party Toys Direct",
        "contact": "Ben Louw",
        "email": "ben@party-toys.example",
        "phone": "+264811230105",
        "stall_type": "Craft stall",
        "products": "Plastic toys",
        "decision": DECLINED,
        "reason": "We take local crafts only.",
    },
)
FOOD_WEEKEND: Sequence[DemoStall] = (
    {**KAPANA, "floor": "open"},
    {**BREWS, "decision": APPROVED, "documents": (), "fee": "received"},
)
NIGHT_MARKET: Sequence[DemoStall] = (
    KAPANA,
    {**CRAFTS, "fee": "waived"},
    {**BREWS, "decision": APPROVED, "documents": (), "fee": "received"},
)
STALLS_BY_EVENT: Mapping[str, Sequence[DemoStall]] = {
    "Windhoek Lights": LIGHTS,
    "Katutura Food Weekend": FOOD_WEEKEND,
    "Okahandja Night Market": NIGHT_MARKET,
}


def seed(organiser_id: str) -> int:
    """Create the demo applications of an organiser's events; return how many were created."""
    events = db.session.execute(
        select(Event.id, Event.name).where(
            Event.organiser_id == organiser_id,
            Event.name.in_(STALLS_BY_EVENT),
            ~select(Application.id).where(Application.event_id == Event.id).exists(),
        )
    ).all()
    stalls = [(event_id, stall) for event_id, name in events for stall in STALLS_BY_EVENT[name]]
    for event_id, stall in stalls:
        _create_stall(build_caller(db.session.get_one(Account, organiser_id)), event_id, stall)
    return len(stalls)


def _create_stall(organiser: Caller, event_id: str, stall: DemoStall) -> None:
    account = db.session.scalars(select(Account).where(Account.email == stall["email"])).one_or_none()
    merchant = build_caller(account) if account else None
    application = submit_application(
        caller=merchant,
        event_id=event_id,
        amount_minor=None,
        destination="bank",
        mode="now",
        business_name=stall["business"],
        contact_name=stall["contact"],
        email=stall["email"],
        phone=stall["phone"],
        stall_type=stall["stall_type"],
        products=stall["products"],
    )
    decision = stall.get("decision", SUBMITTED)
    if decision == SUBMITTED:
        return
    decide_application(
        organiser,
        application.id,
        decision=decision,
        reason=stall.get("reason"),
        documents_required=list(stall["documents"]) if "documents" in stall else None,
    )
    _settle_fee(organiser, application.id, application.amount_minor, stall)
    is_active = db.session.get_one(Application, application.id, populate_existing=True).status == ACTIVATED
    if merchant is not None and is_active and "floor" in stall:
        set_floor_status(caller=merchant, status=stall["floor"], event_id=event_id)


def _settle_fee(organiser: Caller, application_id: str, amount_minor: int, stall: DemoStall) -> None:
    fee = stall.get("fee")
    if fee == "received":
        reference = f"{stall['business']} stall"
        receive_fee(
            organiser,
            application_id,
            amount_minor=amount_minor,
            reference=reference,
            received_on=utcnow().date(),
        )
    elif fee == "waived":
        waive_fee(organiser, application_id, reason="Workshop for children")
