"""Scans at the gate."""

from tests.ceiling.cases import Ask, case
from tests.factories.gate import Gate
from tests.http import Client, data

SCAN = "POST /api/events/<eventId>/admissions"


@case(SCAN)
def scanning_a_ticket(client: Client) -> Ask:
    gate = Gate(client)
    secret = gate.sell().secret
    return lambda: gate.scan(secret)


@case(SCAN)
def scanning_a_party(client: Client) -> Ask:
    gate = Gate(client)
    codes = gate.claim_party(3)
    return lambda: gate.scan(codes[0], count=3)


@case(SCAN, 409)
def scanning_a_ticket_again(client: Client) -> Ask:
    gate = Gate(client)
    slot = gate.claim()
    data(gate.scan(slot["code"]))
    return lambda: gate.scan(slot["code"])


@case("GET /api/events/<eventId>/admissions/stats")
def reading_the_figures(client: Client) -> Ask:
    gate = Gate(client)
    data(gate.scan(gate.sell().secret))
    return lambda: gate.owner.get(f"{gate.path}/stats")
