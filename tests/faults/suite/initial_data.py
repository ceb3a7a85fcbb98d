"""Data before the load begins: an organiser with tickets, stock and an audience, merchants with money, sessions."""

import threading
from collections import deque
from dataclasses import dataclass, field
from typing import Any

from tests.factories.accounts import PASSWORD, create_account, sign_in
from tests.factories.allocations import Block
from tests.factories.campaigns import CampaignEvent
from tests.factories.events import WEEKEND, create_published_event
from tests.factories.inventory import Stock
from tests.factories.payouts import create_earning_merchant
from tests.faults.suite.gate_load import GateEvent, create_gate_events
from tests.faults.suite.stack import Stack
from tests.faults.suite.stall_fee_load import Stall, stalls_of
from tests.http import Client, data

PLENTY, SCARCE = 100_000, 10
MERCHANTS, PEOPLE, ITEMS, BURNED = 4, 16, 12, 3
MANNERS = ("slow", "drop", "later", "never")
"""How the mail server treats recipients whose address begins so; see tests.faults.sink."""


@dataclass
class Person:
    """Somebody with a session; its refresh token is used by one thread at a time."""

    email: str
    refresh_token: str
    lock: threading.Lock = field(default_factory=threading.Lock)


@dataclass
class Merchant:
    """Somebody with money, or with little of it."""

    id: str
    email: str
    token: str


@dataclass
class World:
    """What the load works on. Tokens live a quarter of an hour; `token_of` gives a fresh one when they are over."""

    client: Client
    owner_email: str
    owner: str
    event: dict[str, Any]
    codes: deque[str]
    claimed: deque[str]
    stock_path: str
    items: list[str]
    scarce: list[str]
    crowd_path: str
    audience: list[str]
    merchants: list[Merchant]
    people: list[Person]
    burned: list[str]
    stalls: list[Stall]
    gate_events: list[GateEvent]

    @property
    def event_id(self) -> str:
        return str(self.event["id"])


def made(stack: Stack, *, places: int, gate_places: int, audience: int, manners: bool = False, fees: int = 0) -> World:
    """A world with so many places to claim, and so many tickets for each gate; with `manners`, some of the audience have a mail server of that sort."""
    client = Client(stack.app.test_client())
    stock = Stock(client)
    crowd = CampaignEvent(client, owner=stock.owner)
    addresses = [f"fan{number}@example.com" for number in range(audience)]
    if manners:
        addresses += [f"{manner}.fan{number}@example.com" for manner in MANNERS for number in range(3)]
    crowd.sold(*addresses)
    event, codes = _tickets(stock.owner, places)
    merchants = _merchants(client)
    return World(
        client=client,
        owner_email=_address(stock.owner),
        owner=stock.owner.headers["Authorization"],
        event=event,
        codes=deque(codes),
        claimed=deque(),
        stock_path=stock.path,
        items=[stock.item(onHand=PLENTY)["id"] for _ in range(ITEMS)],
        scarce=[stock.item(onHand=SCARCE)["id"] for _ in range(2)],
        crowd_path=crowd.path,
        audience=addresses,
        merchants=merchants,
        people=_people(client),
        burned=_burned(client),
        stalls=stalls_of(client, stock.owner, merchants, fees),
        gate_events=create_gate_events(client, stock.owner, gate_places),
    )


def fresh_token(world: World, email: str) -> str:
    """What the Authorization header says after another sign-in."""
    return f"Bearer {sign_in(world.client, email)['accessToken']}"


def _address(who: Client) -> str:
    return str(data(who.get("/api/auth/me"))["email"])


def _tickets(owner: Client, places: int) -> tuple[dict[str, Any], list[str]]:
    event = create_published_event(owner, ticketTypes=[{**WEEKEND, "quantity": places + 100}])
    sent = {"ticketTypeId": event["ticketTypes"][0]["id"], "quantity": places, "kind": "sponsor", "name": "Gold"}
    made = data(owner.post(f"/api/events/{event['id']}/allocations", {**sent, "unitPriceMinor": 0}), 201)
    return event, Block(owner, event, made).codes()


def _merchants(client: Client) -> list[Merchant]:
    found = []
    for number in range(MERCHANTS):
        # The last one has hardly anything, so that some wishes are refused.
        me, who = create_earning_merchant(client, 50_000_000 if number < MERCHANTS - 1 else 5_000)
        found.append(Merchant(who.id, who.email, me.headers["Authorization"]))
    return found


def _people(client: Client) -> list[Person]:
    who = [create_account("customer") for _ in range(PEOPLE)]
    return [Person(item.email, sign_in(client, item.email)["refreshToken"]) for item in who]


def _burned(client: Client) -> list[str]:
    """Addresses whose codes are guessed at: after five wrong ones, the right one is worth nothing."""
    found = [f"burned{number}@example.com" for number in range(BURNED)]
    for email in found:
        body = {"email": email, "password": PASSWORD, "firstName": "Nobody", "lastName": "Home"}
        data(client.post("/api/auth/register/customer", body), 201)
    return found
