"""The colours of states in the tables of the desk."""

from app.blueprints.pages.desk.status_colours import DONE, WRONG
from tests.factories.events import create_event, create_published_event, update_event
from tests.factories.gate import Gate
from tests.http import Client, data
from tests.pages.pages import Visitor


def test_no_state_has_two_colours() -> None:
    assert DONE.isdisjoint(WRONG)


def test_what_is_published_is_green_and_what_is_cancelled_red(organiser: Client, desk: Visitor) -> None:
    create_event(organiser, name="River Nights")
    create_published_event(organiser, name="Market")
    cancelled = create_published_event(organiser, name="Fair")
    update_event(organiser, cancelled, visibility="cancelled")
    page = desk.open("/desk/events").text
    for state, colour in {"Draft": "tag", "Published": "tag done", "Cancelled": "tag wrong"}.items():
        assert f'<span class="{colour}">{state}</span>' in page


def test_an_undone_scan_is_no_problem(client: Client, organiser: Client, desk: Visitor) -> None:
    gate = Gate(client, owner=organiser)
    data(gate.undo(data(gate.scan(gate.sell().secret))["admissionId"]))
    page = desk.open(f"/desk/events/{gate.event_id}/gate/log").text
    assert '<span class="tag">Undone</span>' in page and "tag wrong" not in page
