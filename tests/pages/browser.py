"""Checks of pages in a browser: screenshots under artefacts/, accessibility by axe, errors of the console."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any, Literal

import axe_playwright_python
from playwright.sync_api import Browser, ConsoleMessage, Page

PICTURES = Path(__file__).resolve().parents[2] / "artefacts" / "pages"
AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text("utf-8")
NARROW, WIDTHS = 320, (320, 768, 1280)
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
TARGET = 44
SMALL_TARGETS = """(least) => [...document.querySelectorAll("input, button, .button, summary")]
    .filter((element) => element.checkVisibility() && !element.closest("label"))
    .filter((element) => element.getBoundingClientRect().height < least)
    .map((element) => element.outerHTML)"""


@dataclass
class PageView:
    """An open page. `errors` has what the browser reported."""

    page: Page
    series: str
    scripts: bool
    errors: list[str] = field(default_factory=list)

    def check(self, state: str) -> None:
        """Check the page in each width and colour scheme, and write a screenshot of each."""
        for width, scheme in product(WIDTHS if self.scripts else (NARROW, WIDTHS[-1]), SCHEMES):
            self.page.set_viewport_size({"width": width, "height": 720})
            self.page.emulate_media(color_scheme=scheme)
            self._take_screenshot(f"{state}-{width}-{scheme}{'' if self.scripts else '-plain'}")
            assert self.page.evaluate("document.documentElement.scrollWidth") <= width, "scrolls sideways"
            if self.scripts and width == NARROW:
                assert self.list_axe_violations() == []
        assert self.page.evaluate(SMALL_TARGETS, TARGET) == []
        assert self.errors == []

    def record_console_message(self, message: ConsoleMessage) -> None:
        """Record a warning or error. The message about the status of an error response is expected."""
        if message.type in ("error", "warning") and not message.text.startswith(
            "Failed to load resource: the server resp"
        ):
            self.errors.append(message.text)

    def _take_screenshot(self, name: str) -> None:
        folder = PICTURES / self.series
        folder.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=folder / f"{name}.png", full_page=True, animations="allow", caret="initial")

    def list_axe_violations(self) -> list[Any]:
        """The serious and critical violations that axe finds: rule and elements."""
        if not self.page.evaluate("'axe' in window"):
            self.page.evaluate(AXE)
        violations = self.page.evaluate("axe.run({resultTypes: ['violations']})")["violations"]
        return [
            (item["id"], [node["html"] for node in item["nodes"]])
            for item in violations
            if item["impact"] in ("serious", "critical")
        ]

    @property
    def focused_element(self) -> str:
        """The id or, without one, the text of the focused element."""
        return str(self.page.evaluate("document.activeElement.id || document.activeElement.textContent.trim()"))


@contextmanager
def open_view(browser: Browser, series: str, *, scripts: bool = True, **options: Any) -> Iterator[PageView]:
    """Open a page in a new browser context."""
    context = browser.new_context(java_script_enabled=scripts, **options)
    context.set_default_timeout(20_000)
    view = PageView(context.new_page(), series, scripts)
    view.page.on("pageerror", lambda error: view.errors.append(str(error)))
    view.page.on("console", view.record_console_message)
    yield view
    context.close()
