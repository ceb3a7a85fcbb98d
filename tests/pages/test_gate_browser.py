"""The page of the gate in a real browser, with a camera that sees real QR codes."""

import json
import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread

import pytest
from flask import Flask
from playwright.sync_api import Browser, BrowserContext, Page, Playwright, expect, sync_playwright
from werkzeug.serving import make_server

from app.allocations.ticket_pdf import draw_ticket_pdf
from tests.allocations.documents import build_ticket
from tests.factories.events import create_organiser_client, create_published_event
from tests.factories.gate import Gate
from tests.factories.payouts import fetch_scalar
from tests.http import Client, data
from tests.pages.browser import open_view
from tests.pages.conftest import FLAGS, Quiet, find_chromium
from tests.pages.gate_frames import BENT, FAR, FLAT, PAGE, TILTED, bend, draw_code, photograph, render_pdf, write_film
from tests.pages.gate_service import GateService, Guest
from tests.timing import assert_in_time
from tests.waiting import wait_until

SERIES = "gate"
log = logging.getLogger("gate")
VERDICT_TIMES = "performance.getEntriesByName('gate-verdict').map((entry) => Math.round(entry.duration))"
READ_EVERYTHING = """new Promise((resolve) => {
  const request = indexedDB.open("gate");
  request.onsuccess = async () => {
    const stores = [...request.result.objectStoreNames];
    const read = (name) => new Promise((done) => {
      const rows = request.result.transaction(name).objectStore(name).getAll();
      rows.onsuccess = () => done(rows.result);
    });
    resolve(JSON.stringify(await Promise.all(stores.map(read))));
  };
})"""


@pytest.fixture(scope="module")
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as started:
        yield started


@pytest.fixture(scope="module")
def chromium(playwright: Playwright) -> Iterator[Browser]:
    with launch(playwright) as browser:
        yield browser


@contextmanager
def launch(playwright: Playwright, *flags: str) -> Iterator[Browser]:
    browser = playwright.chromium.launch(executable_path=find_chromium(), args=[*FLAGS, *flags])
    yield browser
    browser.close()


@pytest.fixture
def service(app: Flask) -> Iterator[GateService]:
    """The application on a port, with a gate that three guests have places for."""
    service = GateService(app)
    service.guests = [
        Guest("a" * 24, "A1B2C3D4E5", "María Nangolo"),
        Guest("b" * 24, "B1B2C3D4E5", "Jonas Haufiku", party="e" * 24),
        Guest("c" * 24, "C1B2C3D4E5", "Helvi Haufiku", party="e" * 24),
    ]
    with serve(service):
        yield service


@contextmanager
def serve(service: GateService) -> Iterator[None]:
    """Answer on a port of its own."""
    server = make_server("127.0.0.1", 0, service, threaded=True, request_handler=Quiet)
    thread = Thread(target=server.serve_forever)
    thread.start()
    service.address = f"http://127.0.0.1:{server.server_port}"
    yield
    server.shutdown()
    thread.join()
    server.server_close()


def pair(client: Client, page: Page, address: str) -> None:
    """Pair the browser of the page with a new event, and open the gate."""
    organiser = create_organiser_client(client)
    event = create_published_event(organiser, name="Windhoek Lights")
    pair_with(organiser, event["id"], page, address)


def pair_with(organiser: Client, event_id: str, page: Page, address: str) -> None:
    """Pair the browser of the page with an event, and open the gate."""
    body = {"kind": "gate", "name": "Gate A, phone 1"}
    device = data(organiser.post(f"/api/events/{event_id}/devices", body), 201)
    pair_by_code(page, address, device["pairingCode"])


def pair_by_code(page: Page, address: str, code: str) -> None:
    """Pair the browser of the page by a code of the organiser's page, and open the gate."""
    page.goto(f"{address}/pair/{code}")
    page.get_by_role("button", name="Pair this phone").click()
    page.get_by_role("link", name="Open the gate").click()
    expect(page.locator("#state")).to_contain_text("All scans are sent.")
    expect(page.locator("#state")).to_contain_text(re.compile(r"[1-9]\d* places"))


def go_offline(service: GateService, context: BrowserContext) -> Page:
    """Stop the service and open the page again, from what the browser has kept."""
    page = context.pages[0]
    page.evaluate("navigator.serviceWorker.ready")
    wait_until(lambda: page.evaluate("caches.keys().then((names) => names.length)") == 1)
    service.is_down = True
    page.close()
    page = context.new_page()
    page.goto(f"{service.address}/gate")
    expect(page.locator("#state")).to_contain_text("Offline")
    return page


def type_code(page: Page, code: str) -> None:
    """Type as a handheld scanner does."""
    page.keyboard.type(code)
    page.keyboard.press("Enter")


def expect_verdict(page: Page, *texts: str) -> None:
    for text in texts:
        expect(page.locator("#verdict")).to_contain_text(text)


def test_the_camera_reads_codes_that_are_bent_dark_and_far(
    client: Client, service: GateService, playwright: Playwright, tmp_path: Path
) -> None:
    names = ("flat", "bent", "dark", "far", "tilted", "bent and tilted", "PDF")
    service.guests = [Guest(str(number) * 24, f"A1B2C3D4E{number}", name) for number, name in enumerate(names)]
    flat, bent, dark, far, tilted, both, _ = [draw_code(guest.code) for guest in service.guests]
    pdf = draw_ticket_pdf([build_ticket(code=service.guests[-1].code)])
    film = write_film(
        tmp_path / "film.mjpeg",
        photograph(flat, FLAT),
        photograph(bend(bent, 12), FLAT),
        photograph(dark, FLAT, brightness=0.2, noise=6),
        photograph(far, FAR),
        photograph(tilted, TILTED),
        photograph(bend(both, 4), BENT),
        photograph(render_pdf(pdf, tmp_path), PAGE),
    )
    camera = ("--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream")
    with launch(playwright, *camera, f"--use-file-for-fake-video-capture={film}") as browser:
        page = browser.new_context().new_page()
        pair(client, page, service.address)
        page.get_by_role("button", name="Start the camera").click()
        with suppress(TimeoutError):
            wait_until(lambda: all(guest.state == "a" for guest in service.guests), seconds=60)
        assert [guest.name for guest in service.guests if guest.state != "a"] == []
        online = page.evaluate(VERDICT_TIMES)
        for guest in service.guests:
            guest.state, guest.admitted_at = "c", None
        page.reload()
        page.get_by_label("Name, e-mail, ticket or order number, or code").fill("flat")
        expect(page.get_by_role("button", name="Admit flat")).to_be_visible()
        page = go_offline(service, page.context)
        page.get_by_role("button", name="Start the camera").click()
        expect(page.locator("#state-waiting")).to_have_text("Waiting to be sent: 7.", timeout=60_000)
        offline = page.evaluate(VERDICT_TIMES)
    log.info("from the frame to the verdict, ms: online %s, offline %s", sorted(online), sorted(offline))
    assert_in_time(sorted(online)[len(online) // 2] <= 400)
    assert_in_time(sorted(offline)[len(offline) // 2] <= 150)


def test_a_cold_start_without_a_network(client: Client, service: GateService, chromium: Browser) -> None:
    with open_view(chromium, SERIES) as view:
        pair(client, view.page, service.address)
        page = go_offline(service, view.page.context)
        type_code(page, "a1b2-c3d4e5")
        expect_verdict(page, "Come in", "María Nangolo", "Day ticket", "Not confirmed yet")
        type_code(page, "A1B2C3D4E5")
        expect_verdict(page, "No entry", "Already in", "Gate A")
        type_code(page, "Z1B2C3D4E5")
        expect_verdict(page, "Check", "Not on the list of this phone")
        page.get_by_role("button", name="Let in anyway").click()
        expect_verdict(page, "Come in", "Not confirmed yet")
        page.reload()
        expect(page.locator("#state-waiting")).to_have_text("Waiting to be sent: 2.")
        type_code(page, "A1B2C3D4E5")
        expect_verdict(page, "No entry", "Already in")
        service.is_down = False
        expect(page.locator("#state-waiting")).to_have_text("All scans are sent.", timeout=20_000)
        (sent,) = service.batches
        assert [item["code"] for item in sent] == ["a1b2-c3d4e5", "Z1B2C3D4E5"]
        page.get_by_role("button", name="Next").click()
        page.get_by_text("Last scans").click()
        expect(page.locator("#recent")).to_contain_text("was a conflict: tell the organiser")


def test_a_scan_whose_answer_was_lost_counts_once(client: Client, service: GateService, chromium: Browser) -> None:
    with open_view(chromium, SERIES) as view:
        page = view.page
        pair(client, page, service.address)
        service.loses_answers = True
        type_code(page, "A1B2C3D4E5")
        expect_verdict(page, "Come in", "Not confirmed yet")
        type_code(page, "A1B2C3D4E5")
        expect_verdict(page, "No entry", "Already in")
        expect(page.locator("#state-waiting")).to_have_text("All scans are sent.", timeout=20_000)
        assert [item["nonce"] for batch in service.batches for item in batch] == list(service.answers)


def test_two_tabs_admit_a_guest_once(client: Client, service: GateService, chromium: Browser) -> None:
    with open_view(chromium, SERIES) as view:
        pair(client, view.page, service.address)
        first = go_offline(service, view.page.context)
        second = first.context.new_page()
        second.goto(f"{service.address}/gate")
        expect(second.locator("#state")).to_contain_text("Offline")
        type_code(first, "A1B2C3D4E5")
        expect_verdict(first, "Come in")
        type_code(second, "A1B2C3D4E5")
        expect_verdict(second, "No entry", "Already in")
        service.is_down = False
        for page in (first, second):
            expect(page.locator("#state-waiting")).to_have_text("All scans are sent.", timeout=20_000)
        assert len({item["nonce"] for batch in service.batches for item in batch}) == 1


def test_a_guest_is_found_by_name_and_a_party_comes_in(client: Client, service: GateService, chromium: Browser) -> None:
    with open_view(chromium, SERIES) as view:
        page = view.page
        pair(client, page, service.address)
        page.get_by_label("Name, e-mail, ticket or order number, or code").fill("nang maria")
        expect(page.locator("#results li")).to_have_count(1)
        page.get_by_label("Name, e-mail, ticket or order number, or code").fill("haufiku")
        view.check("search")
        page.get_by_role("button", name="Admit Helvi Haufiku").click()
        expect_verdict(page, "Come in", "Helvi Haufiku", "Of this party still outside: 1")
        view.check("party")
        page.get_by_role("button", name="Admit 1 more").click()
        expect_verdict(page, "Come in")
        wait_until(lambda: [guest.state for guest in service.guests] == ["c", "a", "a"])
        page.get_by_role("button", name="Undo").click()
        expect(page.locator("#undone")).to_have_text("The scan is undone: Helvi Haufiku")
        wait_until(lambda: service.guests[1].state == "c" or service.guests[2].state == "c")
        page.get_by_text("Last scans").click()
        expect(page.locator("#recent")).to_contain_text("undone")
        page.get_by_text("Counts", exact=True).click()
        expect(page.locator("#counts-types")).to_contain_text("Day ticket")
        page.get_by_text("Settings", exact=True).click()
        page.get_by_label("The left hand").check()
        page.get_by_label("Name of the gate").fill("North")
        page.get_by_label("Name of the gate").blur()
        view.check("opened")
        page.reload()
        expect(page.locator("#gate-name")).to_have_text("North")
        expect(page.locator("#scanner")).to_have_attribute("data-hand", "left")


def test_guests_of_the_same_name_are_told_apart(client: Client, service: GateService, chromium: Browser) -> None:
    service.guests[1].name = service.guests[2].name = "Anna Shilongo"
    service.details = {
        service.guests[1].id: ["Gold sponsor", "…D4E5"],
        service.guests[2].id: ["Press", "a•••@paper.example"],
    }
    with open_view(chromium, SERIES) as view:
        page = view.page
        pair(client, page, service.address)
        page.get_by_label("Name, e-mail, ticket or order number, or code").fill("anna")
        expect(page.locator("#results li").first).to_contain_text("Day ticket · Gold sponsor · …D4E5")
        expect(page.locator("#results li").last).to_contain_text("Press · a•••@paper.example")
        view.check("same-name")
        assert "paper.example" not in page.evaluate(READ_EVERYTHING), "it is not kept"


def test_a_typed_ticket_number_finds_its_guest(client: Client, service: GateService, chromium: Browser) -> None:
    service.details = {service.guests[0].id: ["…4711"]}
    with open_view(chromium, SERIES) as view:
        page = view.page
        pair(client, page, service.address)
        field = page.get_by_label("Name, e-mail, ticket or order number, or code")
        page.set_viewport_size({"width": 320, "height": 420})
        field.fill("WLN-4711")
        field.press("Enter")
        expect(page.get_by_role("button", name="Admit María Nangolo")).to_be_in_viewport()
        expect(page.locator("#results li")).to_contain_text("…4711")
        expect(page.locator("#verdict")).to_be_hidden()
        assert service.guests[0].state == "c"
        field.fill("A1B2C3D4E5")
        field.press("Enter")
        expect_verdict(page, "Come in", "María Nangolo")
        page.get_by_role("button", name="Next").click()
        field.fill("wln-4711")
        field.press("Enter")
        expect_verdict(page, "No entry", "Already in")


def test_the_page_says_that_the_event_begins_later(client: Client, service: GateService, chromium: Browser) -> None:
    service.starts_at = "2126-12-04T16:00:00.000Z"
    with open_view(chromium, SERIES) as view:
        page = view.page
        pair(client, page, service.address)
        expect(page.locator("#far-away")).to_have_text(
            re.compile(r"This event begins on .*December.*18:00.*\. Scans before that count too\.")
        )
        view.check("far-away")
        type_code(page, "A1B2C3D4E5")
        expect_verdict(page, "Come in", "María Nangolo")


def test_one_failed_scan_does_not_keep_a_phone_offline(client: Client, service: GateService, chromium: Browser) -> None:
    service.streams = True
    with open_view(chromium, SERIES) as view:
        page = view.page
        pair(client, page, service.address)
        service.failures = 1
        type_code(page, "A1B2C3D4E5")
        expect_verdict(page, "Come in", "María Nangolo")
        page.keyboard.press("Escape")
        expect(page.locator("#state-waiting")).to_have_text("All scans are sent.", timeout=15_000)
        expect(page.locator("#state")).not_to_contain_text("Offline")
        assert len(service.batches) == 1 and service.guests[0].state == "a"
        service.streams = False


def test_training_admits_nobody_and_ends_with_the_page(client: Client, service: GateService, chromium: Browser) -> None:
    with open_view(chromium, SERIES) as view:
        page = view.page
        pair(client, page, service.address)
        page.get_by_text("Settings", exact=True).click()
        page.get_by_label("Training").check()
        for _ in range(2):
            type_code(page, "A1B2C3D4E5")
            expect_verdict(page, "Come in", "María Nangolo", "Training: nothing is counted")
            expect(page.locator("#verdict-undo")).to_be_hidden()
        view.check("training-verdict")
        type_code(page, "Z1B2C3D4E5")
        expect_verdict(page, "No entry", "Not a ticket of this event", "Training: nothing is counted")
        assert service.trained == 3 and not service.batches
        service.is_down = True
        for _ in range(2):
            type_code(page, "A1B2C3D4E5")
            expect_verdict(page, "Come in", "María Nangolo", "Training: nothing is counted")
        page.keyboard.press("Escape")
        expect(page.locator("#state-waiting")).to_have_text("All scans are sent.")
        view.check("training")
        assert "A1B2C3D4E5" not in page.evaluate(READ_EVERYTHING)
        service.is_down = False
        page.reload()
        expect(page.locator("#training")).to_be_hidden()
        assert service.guests[0].state == "c"


def test_verdicts_on_every_screen(client: Client, service: GateService, chromium: Browser) -> None:
    with open_view(chromium, SERIES) as view:
        page = view.page
        pair(client, page, service.address)
        view.check("start")
        expect(page.locator("#far-away")).to_be_hidden()
        service.guests[0].state, service.guests[0].admitted_at, service.guests[0].gate = "a", 1_764_000_000, "North"
        type_code(page, "A1B2C3D4E5")
        expect_verdict(page, "No entry", "María Nangolo", "Already in", "North · Phone 2")
        view.check("no")
        type_code(page, "Z1B2C3D4E5")
        expect_verdict(page, "No entry", "Not a ticket of this event")
        service.guests[1].state, service.guests[1].admitted_at = "a", 1_764_000_000
        type_code(page, "B1B2C3D4E5")
        expect_verdict(page, "Check", "Jonas Haufiku", "Already in", "Of this party still outside: 1")
        view.check("look")


def test_the_form_without_scripts(client: Client, service: GateService, chromium: Browser) -> None:
    service.is_real = True
    gate = Gate(client)
    code = gate.claim("María Nangolo")["code"]
    device = data(gate.owner.post(f"/api/events/{gate.event_id}/devices", {"kind": "gate", "name": "Gate A"}), 201)
    with open_view(chromium, SERIES, scripts=False) as view:
        page = view.page
        page.goto(f"{service.address}/gate")
        view.check("unpaired")
        page.goto(f"{service.address}/pair/{device['pairingCode']}")
        page.get_by_role("button", name="Pair this phone").click()
        view.check("paired")
        page.get_by_role("link", name="Open the gate").click()
        page.get_by_label("Search by name").fill("nangolo")
        page.get_by_role("button", name="Search").click()
        view.check("form")
        page.get_by_label("Code of the ticket").fill(code)
        page.get_by_role("button", name="Scan").click()
        expect_verdict(page, "Come in", "María Nangolo")
        view.check("form-yes")


def test_a_phone_that_was_ended_forgets_the_guests(client: Client, service: GateService, chromium: Browser) -> None:
    with open_view(chromium, SERIES) as view:
        pair(client, view.page, service.address)
        page = go_offline(service, view.page.context)
        type_code(page, "A1B2C3D4E5")
        expect_verdict(page, "Come in")
        service.has_ended_device, service.is_down = True, False
        expect(page.get_by_role("heading", name="This phone is not paired any more")).to_be_visible(timeout=20_000)
        expect(page.locator("#unsent")).to_contain_text("Scans that the service has not taken: 1")
        expect(page.locator("#state")).to_be_hidden()
        with page.expect_download() as download:
            page.get_by_role("button", name="Download the scans").click()
        (scan,) = json.loads(Path(download.value.path()).read_text())
        assert scan["code"] == "A1B2C3D4E5" and len(scan["nonce"]) == 36
        kept = page.evaluate(READ_EVERYTHING)
        assert "Nangolo" not in kept and "Haufiku" not in kept and scan["nonce"] in kept
        page.get_by_role("button", name="Delete them from this phone").click()
        expect(page.locator("#unsent")).to_be_hidden()


def test_with_the_real_service(client: Client, service: GateService, chromium: Browser) -> None:
    """Online, a ticket that is taken back, the network away and back, and a conflict with another device."""
    service.is_real = True
    gate = Gate(client)
    maria, jonas, helvi = (gate.claim(name) for name in ("María Nangolo", "Jonas Haufiku", "Helvi Haufiku"))
    sold = gate.sell(secret="shop-secret-1", name="Otto Brand")
    with open_view(chromium, SERIES) as view:
        page = view.page
        pair_with(gate.owner, gate.event_id, page, service.address)
        expect(page.locator("#state")).to_contain_text("4 places")
        type_code(page, maria["code"])
        expect_verdict(page, "Come in", "María Nangolo")
        expect(page.locator("#verdict-mark")).to_be_hidden()
        type_code(page, maria["code"])
        expect_verdict(page, "No entry", "Already in", "Gate A · Gate A, phone 1")
        page.get_by_role("button", name="Next").click()
        data(gate.owner.post(f"{gate.block.path}/slots/{jonas['slotId']}/revoke"))
        page.get_by_label("Name, e-mail, ticket or order number, or code").fill("jonas")
        expect(page.locator("#results")).to_contain_text("This ticket was taken back.", timeout=20_000)
        page = go_offline(service, page.context)
        type_code(page, jonas["code"])
        expect_verdict(page, "No entry", "This ticket was taken back.")
        for code, name in ((sold.secret, "Otto Brand"), (helvi["code"], "Helvi Haufiku")):
            type_code(page, code)
            expect_verdict(page, "Come in", name, "Not confirmed yet")
        assert gate.scan(helvi["code"]).status_code == 200
        service.is_down = False
        expect(page.locator("#state-waiting")).to_have_text("All scans are sent.", timeout=30_000)
        expect(page.locator("#verdict")).to_be_hidden(timeout=20_000)
        page.get_by_text("Last scans").click()
        expect(page.locator("#recent")).to_contain_text("was a conflict: tell the organiser")
        page.get_by_role("button", name="Undo Otto Brand").click()
        wait_until(lambda: fetch_scalar("SELECT count(*) FROM admission WHERE undone_at IS NOT NULL") == 1)
        expect(page.locator("#recent")).to_contain_text("undone")
    assert fetch_scalar("SELECT count(*) FROM admission WHERE conflict = 'ALREADY_ADMITTED'") == 1
