"""The pages of a team as a browser without scripts uses them: removing a member with devices and keys."""

import html

from flask import Flask

from tests.factories.accounts import create_account, create_signed_in_client
from tests.factories.events import create_event
from tests.http import Client, data, read_error
from tests.pages.pages import Visitor
from tests.pages.test_account_page import sign_in_browser
from tests.teams.test_api_keys import make_key
from tests.teams.test_devices import add_device, pair
from tests.teams.test_members import accept, find_member, invite

REMOVE = "/remove"


def create_team_with_phone(client: Client, app: Flask) -> tuple[Visitor, Client, str]:
    """The owner's browser, a phone that their manager paired, and the path of the manager's page."""
    organiser, helper = create_account("organiser", name="Ndapewa Iita"), create_account(name="Tuli Hamutenya")
    owner = create_signed_in_client(client, organiser)
    invite(owner, helper.email)
    manager = accept(client, helper)
    event_id = create_event(owner)["id"]
    phone = pair(client, add_device(manager, event_id)["pairingCode"])
    make_key(owner, "gate")
    browser = sign_in_browser(app, organiser)
    assert "Added by Tuli Hamutenya" in browser.open(f"/desk/events/{event_id}/gate/phones").text
    assert "Made by Ndapewa Iita" in browser.open("/desk/keys").text
    return browser, phone, f"/desk/team/members/{find_member(owner, helper)}"


def remove(browser: Visitor, path: str, **typed: str) -> str:
    assert "Tuli Hamutenya made 1 phone for the organisation." in html.unescape(browser.open(path).text)
    form = next(number for number, form in enumerate(browser.forms) if form.action.endswith(REMOVE))
    assert "endDevicesAndKeys" not in browser.forms[form].fields
    return html.unescape(browser.send(form=form, **typed).text)


def test_a_removal_links_to_the_phones_that_still_work(client: Client, app: Flask) -> None:
    browser, phone, path = create_team_with_phone(client, app)
    page = remove(browser, path)
    assert "They made 1 phone for the organisation, which still work" in page
    assert 'href="/desk/devices"' in page and 'href="/desk/keys"' not in page
    data(phone.get("/api/events?mine=true"))


def test_a_removal_ends_the_phones_if_the_owner_ticks_it(client: Client, app: Flask) -> None:
    browser, phone, path = create_team_with_phone(client, app)
    page = remove(browser, path, endDevicesAndKeys="true")
    assert "They no longer see anything of the team" in page and "still work" not in page
    assert read_error(phone.get("/api/events?mine=true")) == (401, "SESSION_ENDED")


def test_a_removal_sent_twice_says_so(client: Client, app: Flask) -> None:
    browser, _, path = create_team_with_phone(client, app)
    browser.open(path)
    form = next(number for number, form in enumerate(browser.forms) if form.action.endswith(REMOVE))
    assert browser.press(form=form).status_code == 200
    assert "They are no longer in the team." in browser.send(form=form).text
    assert browser.open(path).status_code == 404
