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


@case("GET /api/events/<eventId>/admissions")
def listing_admissions(client: Client) -> Ask:
    gate = Gate(client)
    data(gate.scan(gate.sell().secret))
    return lambda: gate.owner.get(gate.path)


@case("GET /api/events/<eventId>/admissions/refused")
def listing_refused_scans(client: Client) -> Ask:
    gate = Gate(client)
    gate.scan("UNKNOWN")
    return lambda: gate.owner.get(f"{gate.path}/refused")


@case("GET /api/events/<eventId>/admissions/places")
def searching_guests(client: Client) -> Ask:
    gate = Gate(client)
    gate.claim()
    return lambda: gate.owner.get(f"{gate.path}/places", query_string={"q": "frieda"})


@case("POST /api/events/<eventId>/admissions/<admissionId>/undo")
def undoing_a_scan(client: Client) -> Ask:
    gate = Gate(client)
    scanned = data(gate.scan(gate.claim()["code"]))
    return lambda: gate.undo(scanned["admissionId"])
