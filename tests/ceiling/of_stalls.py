"""Invitations both ways, stalls and their crew."""

from tests.ceiling.cases import Ask, case
from tests.factories.accounts import create_signed_in_client
from tests.factories.crew import create_stall, post_shift, replace_crew, start_shift
from tests.factories.events import create_event, create_organiser_client
from tests.factories.merchants import create_merchant_account, create_participant, invite_merchants
from tests.http import Client, data

INVITES = "/api/merchants/me/event-invites"
ONE = "/api/merchants/me/event-invites/<inviteId>"
CREW = "/api/merchants/me/events/<eventId>/crew"
FLOOR = "/api/merchants/me/pos-floor-status"


@case("GET /api/events/<id>/merchant-directory")
def searching_the_directory(client: Client) -> Ask:
    owner = create_organiser_client(client)
    made = create_event(owner)
    create_merchant_account("Kapana Corner")
    return lambda: owner.get(f"/api/events/{made['id']}/merchant-directory?q=kapana&withTotal=true")


@case("GET /api/events/<eventId>/stalls")
def the_stall_plan(client: Client) -> Ask:
    owner = create_organiser_client(client)
    made = create_event(owner)
    return lambda: owner.get(f"/api/events/{made['id']}/stalls?withTotal=true")


@case("PATCH /api/events/<eventId>/stalls/<merchantId>")
def placing_a_stall(client: Client) -> Ask:
    owner = create_organiser_client(client)
    made = create_event(owner)
    _, account = create_participant(client, owner, made["id"])
    return lambda: owner.patch(f"/api/events/{made['id']}/stalls/{account.id}", {"stallNumber": "B12"})


@case("POST /api/events/<id>/directory-invites", 201)
def inviting_some_and_some_again(client: Client) -> Ask:
    owner, who = create_organiser_client(client), [create_merchant_account() for _ in range(5)]
    made = create_event(owner)
    invite_merchants(owner, made["id"], *who[:2])
    body = {"merchantIds": [item.id for item in who]}
    return lambda: owner.post(f"/api/events/{made['id']}/directory-invites", body, headers={"Idempotency-Key": "k" * 9})


@case("POST /api/events/<id>/directory-invites", 201)
def withdrawing_invitations(client: Client) -> Ask:
    owner, who = create_organiser_client(client), create_merchant_account()
    made = create_event(owner)
    invite_merchants(owner, made["id"], who)
    return lambda: owner.post(
        f"/api/events/{made['id']}/directory-invites", {"merchantIds": [who.id], "withdraw": True}
    )


@case("POST /api/events/<id>/merchant-invite", 201)
def a_link_by_mail(client: Client) -> Ask:
    owner = create_organiser_client(client)
    made = create_event(owner)
    body = {"email": "selma@example.com", "idempotencyKey": "k" * 9}
    return lambda: owner.post(f"/api/events/{made['id']}/merchant-invite", body)


@case("GET /api/events/merchant-invite/<slug>")
def reading_a_link(client: Client) -> Ask:
    owner = create_organiser_client(client)
    made = data(owner.post(f"/api/events/{create_event(owner)['id']}/merchant-invite", {}), 201)
    return lambda: client.get(f"/api/events/merchant-invite/{made['slug']}")


@case(f"GET {INVITES}")
def my_invitations(client: Client) -> Ask:
    me, _ = _invited(client)
    return lambda: me.get(f"{INVITES}?withTotal=true")


@case(f"GET {ONE}")
def my_invitation(client: Client) -> Ask:
    me, path = _invited(client)
    return lambda: me.get(path)


@case(f"PATCH {ONE}")
def accepting(client: Client) -> Ask:
    me, path = _invited(client)
    return lambda: me.patch(path, {"status": "accepted", "message": "With joy."})


@case(f"PATCH {ONE}")
def declining_an_invitation(client: Client) -> Ask:
    me, path = _invited(client)
    return lambda: me.patch(path, {"status": "declined"})


@case("GET /api/merchants/me/events")
def my_events(client: Client) -> Ask:
    owner = create_organiser_client(client)
    me, _ = create_participant(client, owner, create_event(owner)["id"])
    return lambda: me.get("/api/merchants/me/events?withTotal=true")


@case(f"PATCH {FLOOR}")
def opening_all_stalls(client: Client) -> Ask:
    owner = create_organiser_client(client)
    me, _ = create_participant(client, owner, create_event(owner)["id"])
    return lambda: me.patch(FLOOR, {"status": "open"})


@case(f"GET {CREW}")
def the_crew(client: Client) -> Ask:
    me, path = create_stall(client)
    replace_crew(me, path, {"name": "Selma"})
    return lambda: me.get(path)


@case(f"PUT {CREW}")
def replacing_the_crew(client: Client) -> Ask:
    me, path = create_stall(client)
    replace_crew(me, path, *({"name": f"Selma {n}"} for n in range(10)))
    return lambda: me.put(path, {"crew": [{"name": f"Selma {n}"} for n in range(5, 15)]})


@case(f"GET {CREW}/<crewMemberId>/stats")
def hours(client: Client) -> Ask:
    me, path = create_stall(client)
    (selma,) = replace_crew(me, path, {"name": "Selma"})
    start_shift(me, path, selma["shiftCode"])
    return lambda: me.get(f"{path}/{selma['id']}/stats")


@case(f"POST {CREW}/shift-verify")
def beginning_a_shift(client: Client) -> Ask:
    me, path = create_stall(client)
    (selma,) = replace_crew(me, path, {"name": "Selma"})
    return lambda: post_shift(me, path, "verify", code=selma["shiftCode"])


@case(f"POST {CREW}/shift-verify", 422)
def a_wrong_shift_code(client: Client) -> Ask:
    me, path = create_stall(client)
    replace_crew(me, path, {"name": "Selma"})
    return lambda: post_shift(me, path, "verify", code="000000")


@case(f"POST {CREW}/shift-checkout")
def checking_everybody_out(client: Client) -> Ask:
    me, path = create_stall(client)
    for item in replace_crew(me, path, *({"name": f"Selma {n}"} for n in range(5))):
        start_shift(me, path, item["shiftCode"])
    data(post_shift(me, path, "checkout", status="on_break"))
    return lambda: post_shift(me, path, "checkout", status="checked_out")


@case(f"GET {CREW}/planned-shifts")
def the_planned_shifts(client: Client) -> Ask:
    me, path, _ = _planned(client)
    return lambda: me.get(f"{path}/planned-shifts")


@case(f"PUT {CREW}/planned-shifts")
def planning_shifts_again(client: Client) -> Ask:
    me, path, body = _planned(client)
    return lambda: me.put(f"{path}/planned-shifts", body)


@case(f"GET {CREW}/at-risk")
def who_is_missing(client: Client) -> Ask:
    me, path, _ = _planned(client)
    return lambda: me.get(f"{path}/at-risk")


@case(f"GET {CREW}/hours.csv")
def the_hours_as_csv(client: Client) -> Ask:
    me, path = _worked(client)
    return lambda: me.get(f"{path}/hours.csv")


@case(f"GET {CREW}/hours.pdf")
def the_hours_as_pdf(client: Client) -> Ask:
    me, path = _worked(client)
    return lambda: me.get(f"{path}/hours.pdf")


@case(f"GET {CREW}/rotating-code")
def the_rotating_code(client: Client) -> Ask:
    me, path = create_stall(client)
    data(me.put(f"{path}/rotating-code", {"rotatingCode": True}))
    return lambda: me.get(f"{path}/rotating-code")


@case(f"PUT {CREW}/rotating-code")
def turning_the_rotating_code_on(client: Client) -> Ask:
    me, path = create_stall(client)
    return lambda: me.put(f"{path}/rotating-code", {"rotatingCode": True})


def _planned(client: Client) -> tuple[Client, str, dict[str, object]]:
    """A stall with a planned shift of each of five people, and the body that plans them."""
    me, path = create_stall(client)
    members = replace_crew(me, path, *({"name": f"Selma {n}"} for n in range(5)))
    times = {"startsAt": "2030-06-04T18:00:00+02:00", "endsAt": "2030-06-04T23:00:00+02:00"}
    body: dict[str, object] = {"plannedShifts": [{"crewMemberId": member["id"], **times} for member in members]}
    data(me.put(f"{path}/planned-shifts", body))
    return me, path, body


def _worked(client: Client) -> tuple[Client, str]:
    """A stall at which two people have worked."""
    me, path = create_stall(client)
    for member in replace_crew(me, path, {"name": "Selma"}, {"name": "Jonas"}):
        start_shift(me, path, member["shiftCode"])
    data(post_shift(me, path, "checkout", status="on_break"))
    return me, path


def _invited(client: Client) -> tuple[Client, str]:
    owner, who = create_organiser_client(client), create_merchant_account()
    found = invite_merchants(owner, create_event(owner)["id"], who)["invited"][0]
    return create_signed_in_client(client, who), f"{INVITES}/{found['inviteId']}"
