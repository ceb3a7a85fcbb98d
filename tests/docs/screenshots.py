"""`make shots`: the screenshots of the guides, taken from the demo in Chromium; pdftoppm renders PDFs.

Run it when a page has changed, and look at the pictures. Their dates are those of the day. `ARGS=account` takes only those
of the account.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from app.demo import PASSWORD
from tests.docs.screenshot_scenes import Scenes
from tests.faults.service import everything, kept_open
from tests.house.sources import ROOT
from tests.pages.conftest import FLAGS

FOLDER = ROOT / "docs" / "images"
ORGANISER, MERCHANT = "nangula@windhoek-lights.example", "tuli@kapana-corner.example"
MOST_BYTES = 120_000
COLOURS = 96


@dataclass(frozen=True)
class View:
    """How large the window is, and whether all of a long page is kept."""

    width: int
    height: int
    whole: bool = False


DESK, PHONE, MAIL, LONG = View(1120, 760), View(390, 780), View(640, 900, whole=True), View(900, 900, whole=True)


def take(browser: Browser, address: str, name: str, view: View, act: Callable[[Page], object] | None = None) -> Page:
    """Open a page, call `act` with it and write a screenshot. Return the open page."""
    size = {"width": view.width, "height": view.height}
    context = browser.new_context(viewport=size, color_scheme="light")  # type: ignore[arg-type]
    page = context.new_page()
    page.goto(address)
    if act:
        act(page)
    page.wait_for_load_state()
    keep(name, page.screenshot(full_page=view.whole, animations="disabled"))
    return page


def keep(name: str, picture: bytes) -> None:
    """Write a picture with few colours, which is enough for these pages."""
    path = FOLDER / f"{name}.png"
    few = Image.open(BytesIO(picture)).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    few.save(path, optimize=True)
    assert path.stat().st_size <= MOST_BYTES, f"{path.name} has {path.stat().st_size} bytes"


def render_pdf(document: bytes) -> bytes:
    """The first page of a PDF."""
    made = subprocess.run(
        ["pdftoppm", "-png", "-r", "80", "-l", "1", "-"], input=document, capture_output=True, check=True
    )
    return made.stdout


def claim(page: Page) -> None:
    page.get_by_role("button", name="Claim my ticket").click()
    page.locator("svg.qr").scroll_into_view_if_needed()


def sign_in(page: Page, email: str) -> None:
    page.get_by_label("E-mail address").fill(email)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()


def invite_helper(page: Page) -> None:
    sign_in(page, ORGANISER)
    page.get_by_label("E-mail address").fill("door@example.com")
    page.locator("input[value=door]").check()
    page.get_by_role("button", name="Send the invitation").click()
    page.get_by_text("We sent the invitation").wait_for()


def add_phone(page: Page) -> None:
    sign_in(page, ORGANISER)
    page.get_by_label("Name").fill("Gate A, phone 1")
    page.get_by_role("button", name="Show the code").click()
    page.locator("#code").wait_for()


def take_account(browser: Browser, base: str) -> None:
    """Take the screenshots of the pages for people who are signed in."""
    scenes = Scenes(base)
    for name, view, path, email in (
        ("account", LONG, "", ORGANISER),
        ("account-data", DESK, "/data", MERCHANT),
        ("second-factor", DESK, "/second-factor", ORGANISER),
    ):
        take(browser, f"{base}/account{path}", name, view, partial(sign_in, email=email))
    for name, path in (("desk", ""), ("desk-stalls", "/stalls"), ("desk-sales", "/sales"), ("desk-money", "/money")):
        address = f"{base}/desk/events/{scenes.event}{path}" if path else f"{base}/desk"
        take(browser, address, name, DESK, partial(sign_in, email=ORGANISER))
    take(browser, f"{base}/desk/keys", "api-keys", DESK, partial(sign_in, email=ORGANISER))
    take(browser, f"{base}/desk/team", "team", LONG, invite_helper)
    page = take(browser, f"{base}/desk/events/{scenes.event}/gate/phones/new", "phone-code", LONG, add_phone)
    take(browser, f"{base}/pair/{page.locator('#code').inner_text().strip()}", "pair-phone", PHONE)


def take_all(browser: Browser, base: str, operations_link: str) -> None:
    """Take every screenshot. Each scene needs the one before."""
    scenes = Scenes(base)
    take(browser, base + scenes.create_invitation(), "invitation", DESK)
    take(browser, base + scenes.approve_application(), "documents", DESK)
    take(browser, base + scenes.start_payment(), "pay-phone", PHONE)
    take(browser, base + scenes.pay(), "activate", DESK)
    claim_page = base + scenes.invite_guest()
    take(browser, claim_page, "claim-phone", PHONE)
    take(browser, claim_page, "ticket-phone", PHONE, claim)
    take(browser, base + scenes.create_holder_link(), "allocator", DESK)
    take(browser, base + scenes.find_ticket_mail(), "mail", MAIL)
    take(browser, base + scenes.find_unsubscribe_page(), "unsubscribe-phone", PHONE)
    take(browser, operations_link, "ops", LONG)
    keep("invoice", render_pdf(scenes.download_invoice()))
    take_account(browser, base)


def main() -> None:
    path = os.environ.get("CHROMIUM") or shutil.which("chromium")
    only_account = sys.argv[1:] == ["account"]
    assert path and (only_account or shutil.which("pdftoppm")), (
        "Chromium and pdftoppm are needed (Debian: chromium, poppler-utils)"
    )
    FOLDER.mkdir(exist_ok=True)
    with kept_open() as folder, everything(folder) as service, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        if only_account:
            take_account(browser, service.base)
        else:
            take_all(browser, service.base, build_operations_link(service.base, folder / "var"))
        browser.close()


def build_operations_link(base: str, data: Path) -> str:
    """A link to the operations page of the service that runs on these data."""
    command = [sys.executable, "-m", "flask", "--app", "wsgi", "ops", "link"]
    environment = {**os.environ, "DATA_DIR": str(data), "PUBLIC_BASE_URL": base}
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    ).stdout.split()[-1]


if __name__ == "__main__":
    main()
