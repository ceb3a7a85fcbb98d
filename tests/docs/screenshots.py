"""`make shots`: the pictures of the guides, taken from the demo in Chromium; PDFs are drawn by pdftoppm.

They are made by hand when a page has changed, and looked at; the dates in them are those of the day.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from tests.docs.story import Story
from tests.faults.service import everything, kept_open
from tests.house.sources import ROOT
from tests.pages.conftest import FLAGS

FOLDER = ROOT / "docs" / "images"
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
    """Opens a page, does what has to be done on it, and keeps a picture. The page stays open."""
    size = {"width": view.width, "height": view.height}
    context = browser.new_context(viewport=size, color_scheme="light")  # type: ignore[arg-type]
    page = context.new_page()
    page.goto(address)
    if act:
        act(page)
    keep(name, page.screenshot(full_page=view.whole, animations="disabled"))
    return page


def keep(name: str, picture: bytes) -> None:
    """Writes a picture with few colours, which is all that such pages have."""
    path = FOLDER / f"{name}.png"
    few = Image.open(BytesIO(picture)).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    few.save(path, optimize=True)
    assert path.stat().st_size <= MOST_BYTES, f"{path.name} has {path.stat().st_size} bytes"


def drawn(document: bytes) -> bytes:
    """The first page of a PDF."""
    made = subprocess.run(
        ["pdftoppm", "-png", "-r", "80", "-l", "1", "-"], input=document, capture_output=True, check=True
    )
    return made.stdout


def claim(page: Page) -> None:
    page.get_by_role("button", name="Claim my ticket").click()
    page.locator("svg.qr").scroll_into_view_if_needed()


def shoot(browser: Browser, base: str, ops: str) -> None:
    """Every picture, in the order in which the story goes."""
    story = Story(base)
    take(browser, base + story.invitation(), "invitation", DESK)
    take(browser, base + story.documents(), "documents", DESK)
    take(browser, base + story.pay(), "pay-phone", PHONE)
    take(browser, base + story.activate(), "activate", DESK)
    guest = base + story.claim()
    take(browser, guest, "claim-phone", PHONE)
    take(browser, guest, "ticket-phone", PHONE, claim)
    take(browser, base + story.allocator(), "allocator", DESK)
    take(browser, base + story.ticket_mail(), "mail", MAIL)
    take(browser, base + story.unsubscribe(), "unsubscribe-phone", PHONE)
    take(browser, ops, "ops", LONG)
    keep("invoice", drawn(story.invoice()))


def main() -> None:
    path = os.environ.get("CHROMIUM") or shutil.which("chromium")
    assert path and shutil.which("pdftoppm"), "Chromium and pdftoppm are needed (Debian: chromium, poppler-utils)"
    FOLDER.mkdir(exist_ok=True)
    with kept_open() as folder, everything(folder) as service, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        shoot(browser, service.base, ops_link(service.base, folder / "var"))
        browser.close()


def ops_link(base: str, data: Path) -> str:
    """A link to the operations page of the service that runs on these data."""
    command = [sys.executable, "-m", "flask", "--app", "wsgi", "ops", "link"]
    environment = {**os.environ, "DATA_DIR": str(data), "PUBLIC_BASE_URL": base}
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    ).stdout.split()[-1]


if __name__ == "__main__":
    main()
