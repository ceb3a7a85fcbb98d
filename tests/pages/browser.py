"""Checks of pages in a browser: their width, accessibility by axe, errors of the console.

With TAKE_PICTURES=1 also screenshots under artefacts/, in every width and colour scheme.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import axe_playwright_python
from playwright.sync_api import Browser, ConsoleMessage, Page

TAKES_PICTURES = os.environ.get("TAKE_PICTURES") == "1"
PICTURES = Path(__file__).resolve().parents[2] / "artefacts" / "pages"
AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text("utf-8")
NARROW, WIDTHS = 320, (320, 768, 1280)
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
ALL_RULES: dict[str, Any] = {}
COLOUR_RULES: dict[str, Any] = {"runOnly": ["color-contrast", "link-in-text-block"]}
"""The rules whose result depends on the colour scheme."""
RUN_AXE = "(rules) => axe.run({resultTypes: ['violations'], iframes: false, ...rules})"
"""Without the frames: axe is not in them, so it could only wait for their answer, and the browser reports an error."""
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
        """Check the page in each width, and in each colour scheme what depends on colours."""
        self.page.wait_for_load_state()
        for width in WIDTHS if self.scripts else (NARROW, WIDTHS[-1]):
            self.page.set_viewport_size({"width": width, "height": 720})
            assert self.page.evaluate("document.documentElement.scrollWidth") <= width, (
                f"{state} scrolls sideways at {width} px"
            )
            has_axe_run = self.scripts and width == NARROW
            for scheme in SCHEMES if has_axe_run or TAKES_PICTURES else ():
                self.page.emulate_media(color_scheme=scheme)
                if TAKES_PICTURES:
                    self._take_screenshot(f"{state}-{width}-{scheme}{'' if self.scripts else '-plain'}")
                if has_axe_run:
                    assert self.list_axe_violations(COLOUR_RULES if scheme == "dark" else ALL_RULES) == []
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

    def list_axe_violations(self, rules: dict[str, Any] = ALL_RULES) -> list[Any]:
        """The serious and critical violations that axe finds: rule and elements."""
        if not self.page.evaluate("'axe' in window"):
            self.page.evaluate(AXE)
        found = self.page.evaluate(RUN_AXE, rules)
        return [
            (item["id"], [node["html"] for node in item["nodes"]])
            for item in found["violations"]
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
