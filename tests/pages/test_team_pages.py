"""The pages of teams, as a browser without scripts uses them."""

import re
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from app.accounts.models import Account, OrganiserProfile
from app.core.transaction import transaction
from tests.factories.accounts import create_account, create_customer, create_signed_in_client
from tests.factories.events import create_event
from tests.factories.payouts import execute_sql, fetch_scalar
from tests.factories.second_factors import turn_on
from tests.http import Client, data
from tests.pages.pages import Visitor
from tests.pages.test_account_page import sign_in_browser
from tests.teams.test_members import accept, find_token, invite

TEAM = "/desk/team"


def create_owner(name: str = "Windhoek Lights") -> Account:
    owner = create_account("organiser")
    with transaction() as session:
        session.add(OrganiserProfile(account_id=owner.id, org_name=name))
    return owner


def add_member(client: Client, owner: Account, member: Account, role: str = "manager", **fields: object) -> None:
    invite(create_signed_in_client(client, owner), member.email, role, **fields)
    accept(client, member)


def press(visitor: Visitor, action: str, **typed: str) -> str:
    """The text of the page after the form with this action was sent."""
    number = next(number for number, form in enumerate(visitor.forms) if form.action.endswith(action))
    return visitor.send(form=number, **typed).text


@pytest.fixture
def owner(app: Flask) -> Account:
    return create_owner()


def test_the_owner_needs_a_second_factor_before_they_require_one(app: Flask, owner: Account) -> None:
    visitor = sign_in_browser(app, owner)
    page = visitor.open(TEAM).text
    assert "You need one yourself first." in page and 'href="/account/second-factor"' in page
    token = visitor.forms[0].fields["csrf_token"]
    answer = visitor.flask.post(f"{TEAM}/second-factor", data={"csrf_token": token, "required": "true"})
    assert answer.status_code == 409 and "You need a second factor yourself first." in answer.text
    assert fetch_scalar("SELECT count(*) FROM organiser_profile WHERE requires_second_factor") == 0


def test_the_owner_requires_a_second_factor_and_sees_who_has_none(client: Client, app: Flask, owner: Account) -> None:
    member, secured = create_customer(name="Tuli Hamutenya"), create_customer(name="Selma Nangolo")
    add_member(client, owner, member)
    add_member(client, owner, secured)
    visitor, colleague = sign_in_browser(app, owner), sign_in_browser(app, member)
    for account in (owner, secured):
        turn_on(account)
    page = visitor.open(TEAM).text
    lacking = page[page.index("They lose access immediately") : page.index("Require a second factor")]
    assert "Tuli Hamutenya" in lacking and "Selma Nangolo" not in lacking
    page = press(visitor, "/second-factor")
    assert "Members of the team now need a second factor." in page and "No longer require it" in page
    assert fetch_scalar("SELECT count(*) FROM organiser_profile WHERE requires_second_factor") == 1
    assert "An organisation that you work for requires one." in colleague.open("/account").text
    assert "Turn on a second factor" in colleague.open("/desk/devices").text
    page = press(visitor, "/second-factor")
    assert "no longer need a second factor" in page
    assert fetch_scalar("SELECT count(*) FROM organiser_profile WHERE requires_second_factor") == 0


def test_only_the_owner_sees_and_changes_the_rule(client: Client, app: Flask, owner: Account) -> None:
    manager = create_customer()
    add_member(client, owner, manager)
    visitor = sign_in_browser(app, manager)
    assert "Second factor" not in visitor.open(TEAM).text
    token = visitor.forms[0].fields["csrf_token"]
    data = {"csrf_token": token, "required": "true"}
    assert visitor.flask.post(f"{TEAM}/second-factor", data=data).status_code == 403


def test_a_business_has_no_such_rule(app: Flask) -> None:
    visitor = sign_in_browser(app, create_account("merchant"))
    assert "second factor" not in visitor.open("/account/team/merchant").text


def test_the_account_lists_all_organisations(client: Client, app: Flask, owner: Account) -> None:
    other = create_owner("Swakop Jazz")
    event = create_event(create_signed_in_client(client, other), name="Jazz by the Sea")
    member = create_owner("Etosha Nights")
    add_member(client, owner, member, "finance")
    add_member(client, other, member, "door", eventIds=[event["id"]])
    visitor = sign_in_browser(app, member)
    page = visitor.open("/account").text
    rows = re.findall(r"<strong>([^<]+)</strong>\s*<p class=\"fine\">([^<]+)", page)
    assert rows == [
        ("Etosha Nights", "You are the owner. "),
        ("Windhoek Lights", "You are a member of the finance staff."),
        ("Swakop Jazz", "You are a member of the door staff, for Jazz by the Sea."),
    ]
    assert 'href="/desk/team"' in page
    form = next(number for number, form in enumerate(visitor.forms) if form.action.endswith("/leave"))
    assert visitor.press(form=form).status_code == 303
    assert "You have left the team." in visitor.send(form=form).text
    assert "Windhoek Lights" not in visitor.open("/account").text
    assert fetch_scalar("SELECT count(*) FROM team_member") == 1


def test_the_team_says_for_which_events_somebody_is_invited(client: Client, app: Flask, owner: Account) -> None:
    event = create_event(create_signed_in_client(client, owner), name="Jazz <by> the Sea")
    visitor = sign_in_browser(app, owner)
    visitor.open("/desk/team")
    visitor.send(form=-1, email="tuli@example.com", role="door", event=event["id"])
    page = visitor.open("/desk/team").text
    assert re.search(r"The invitation works until [^<]+ · for Jazz &lt;by&gt; the Sea</p>", page)
    execute_sql("UPDATE team_invite SET event_ids = ARRAY['000000000000000000000000']")
    assert " · for 1 event</p>" in visitor.open("/desk/team").text


def test_a_removed_event_leaves_the_number_of_events(client: Client, app: Flask, owner: Account) -> None:
    event = create_event(create_signed_in_client(client, owner))
    member = create_customer()
    add_member(client, owner, member, "door", eventIds=[event["id"]])
    execute_sql("UPDATE team_member SET event_ids = ARRAY['000000000000000000000000']")
    assert ", for 1 event." in sign_in_browser(app, member).open("/account").text


def show_code(organiser: Visitor, event: dict[str, Any], kind: str) -> str:
    """The page with the code of a new phone."""
    organiser.open(f"/desk/events/{event['id']}/gate/phones/new")
    return organiser.send(form=1, kind=kind, name="Phone 1").text


def read_code(page: str) -> str:
    code = re.search(r'id="code">(\w+)', page)
    assert code
    return code[1]


def test_a_paired_phone_says_what_works(client: Client, app: Flask, owner: Account, visitor: Visitor) -> None:
    event = create_event(create_signed_in_client(client, owner))
    organiser = sign_in_browser(app, owner)
    assert f"/desk/events/{event['id']}/gate/phones" in organiser.open("/desk/devices").text
    page = show_code(organiser, event, "gate")
    assert "enter the code in the app" in page and "Pair this phone" in page
    assert "enter the code in the app instead" in visitor.open(f"/pair/{read_code(page)}").text
    page = visitor.send().text
    assert 'href="/gate"' in page and 'href="/pair"' in page


def test_a_browser_does_not_use_up_the_code_of_a_scanner_app(
    client: Client, app: Flask, owner: Account, visitor: Visitor
) -> None:
    event = create_event(create_signed_in_client(client, owner))
    page = show_code(sign_in_browser(app, owner), event, "stock")
    assert "Enter this code in the scanner app." in page and "Pair this phone" not in page
    code = read_code(page)
    visitor.open(f"/pair/{code}")
    page = visitor.send()
    assert page.status_code == 422 and "a code for the stock works in a scanner app only" in page.text
    assert data(client.post("/api/devices/pair", {"code": code}))["kind"] == "stock"


@pytest.mark.parametrize("role", ["manager", "door", "door of one event"])
def test_who_joins_comes_to_the_first_page_of_their_role(app: Flask, client: Client, owner: Account, role: str) -> None:
    member, host = create_owner("Other Lights"), create_signed_in_client(client, owner)
    fields: dict[str, object] = {"eventIds": [create_event(host)["id"]]} if "of" in role else {}
    page = _join(app, host, member, role.partition(" ")[0], **fields)
    assert page.request.path == (f"/desk/events/{fields['eventIds'][0]}/gate" if fields else "/desk")  # type: ignore[index]
    assert page.text.count("notice done") == 1 and "Welcome to the team." in page.text
    assert "Windhoek Lights" in page.text and "Other Lights" not in page.text


def test_who_joins_for_an_event_that_is_gone_comes_to_the_desk(app: Flask, client: Client, owner: Account) -> None:
    member, host = create_owner("Other Lights"), create_signed_in_client(client, owner)
    event = create_event(host)
    invite(host, member.email, "door", eventIds=[event["id"]])
    visitor = sign_in_browser(app, member)
    visitor.open(f"/join/{find_token(member.email)}")
    data(host.delete(f"/api/events/{event['id']}"))
    page = visitor.send(form=1)
    assert page.request.path == "/desk" and page.status_code == 200


def test_who_joins_without_the_second_factor_that_is_required_comes_to_the_account(
    app: Flask, client: Client, owner: Account
) -> None:
    execute_sql("UPDATE organiser_profile SET requires_second_factor = true")
    page = _join(app, create_signed_in_client(client, owner), create_customer(), "manager")
    assert page.request.path == "/account" and "Turn on a second factor." in page.text


def _join(app: Flask, host: Client, member: Account, role: str, **fields: object) -> TestResponse:
    """The page after the invitation to the team of the host is accepted."""
    invite(host, member.email, role, **fields)
    visitor = sign_in_browser(app, member)
    visitor.open(f"/join/{find_token(member.email)}")
    return visitor.send(form=1)


def test_a_person_in_two_organisations_chooses_the_one_to_work_with(app: Flask, client: Client) -> None:
    first, second = create_owner("First Lights"), create_owner("Second Lights")
    add_member(client, second, first)
    visitor = sign_in_browser(app, first)
    assert "The team of First Lights" in visitor.open(TEAM).text
    page = visitor.open("/account").text
    assert page.count("in use on these pages") == 1 and "Use Second Lights" in page
    press(visitor, "/organiser/choose")
    page = visitor.open(TEAM).text
    assert "The team of Second Lights" in page and first.email in page
    assert "Use First Lights" in visitor.open("/account").text
    token = visitor.forms[-1].fields["csrf_token"]
    foreign = {"csrf_token": token, "team": create_owner("Third").id}
    assert visitor.flask.post("/account/team/organiser/choose", data=foreign).status_code == 404
    execute_sql("DELETE FROM team_member")
    assert "The team of First Lights" in visitor.open(TEAM).text
    assert "in use on these pages" not in visitor.open("/account").text


def test_a_form_of_one_organisation_does_nothing_in_another(app: Flask, client: Client) -> None:
    first, second = create_owner("First Lights"), create_owner("Second Lights")
    add_member(client, second, first)
    visitor = sign_in_browser(app, first)
    visitor.open("/desk/events/new")
    times = {"startsAt": "2090-06-04T17:00", "endsAt": "2090-06-05T23:00", "country": "NA"}
    typed = {**visitor.forms[1].fields, **times, "name": "For the first", "venue": "River grounds", "city": "Windhoek"}
    visitor.open("/account")
    press(visitor, "/organiser/choose")
    answer = visitor.flask.post("/desk/events/new", data=typed)
    assert answer.status_code == 400 and "Open the page again" in answer.text
    assert fetch_scalar("SELECT count(*) FROM event") == 0
    visitor.open("/desk/events/new")
    typed["csrf_token"] = visitor.forms[1].fields["csrf_token"]
    assert visitor.flask.post("/desk/events/new", data=typed).status_code == 303
    assert fetch_scalar("SELECT organiser_id FROM event") == second.id


def test_an_event_that_does_not_exist_limits_nobody_to_all_events(app: Flask, owner: Account) -> None:
    visitor = sign_in_browser(app, owner)
    visitor.open(TEAM)
    token = visitor.forms[-1].fields["csrf_token"]
    for event in ("0" * 24, "nonsense", "\x00"):
        body = {"csrf_token": token, "email": "a@example.com", "role": "door", "event": event}
        assert visitor.flask.post(f"{TEAM}/invite", data=body).status_code == 422
    assert fetch_scalar("SELECT count(*) FROM team_invite") == 0
