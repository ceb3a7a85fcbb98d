"""Looking at pages: pictures kept under artefacts/, what axe finds, and what a browser complains of."""

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
    .filter((each) => each.checkVisibility() && !each.closest("label"))
    .filter((each) => each.getBoundingClientRect().height < least)
    .map((each) => each.outerHTML)"""


@dataclass
class Seen:
    """An open page. `look` checks what must hold on every page in every view, and keeps pictures of it."""

    page: Page
    series: str
    scripts: bool
    faults: list[str] = field(default_factory=list)

    def look(self, state: str) -> None:
        """Looks narrow and wide, light and dark; then all is as before, the focus as well."""
        for width, scheme in product(WIDTHS if self.scripts else (NARROW, WIDTHS[-1]), SCHEMES):
            self.page.set_viewport_size({"width": width, "height": 720})
            self.page.emulate_media(color_scheme=scheme)
            self._picture(f"{state}-{width}-{scheme}{'' if self.scripts else '-plain'}")
            assert self.page.evaluate("document.documentElement.scrollWidth") <= width, "scrolls sideways"
            if self.scripts and width == NARROW:
                assert self.findings() == []
        assert self.page.evaluate(SMALL_TARGETS, TARGET) == []
        assert self.faults == []

    def hear(self, said: ConsoleMessage) -> None:
        """Keeps what the browser warns of; that a refusal has its status is no fault."""
        if said.type in ("error", "warning") and not said.text.startswith("Failed to load resource: the server resp"):
            self.faults.append(said.text)

    def _picture(self, name: str) -> None:
        folder = PICTURES / self.series
        folder.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=folder / f"{name}.png", full_page=True, animations="allow", caret="initial")

    def findings(self) -> list[Any]:
        """What axe holds for serious or critical: rule, and the elements."""
        if not self.page.evaluate("'axe' in window"):
            self.page.evaluate(AXE)
        found = self.page.evaluate("axe.run({resultTypes: ['violations']})")["violations"]
        return [
            (item["id"], [node["html"] for node in item["nodes"]])
            for item in found
            if item["impact"] in ("serious", "critical")
        ]

    @property
    def focused(self) -> str:
        """The id, or else the text, of what has the focus."""
        return str(self.page.evaluate("document.activeElement.id || document.activeElement.textContent.trim()"))


@contextmanager
def seen(browser: Browser, series: str, *, scripts: bool = True, **options: Any) -> Iterator[Seen]:
    """A fresh visitor; whatever the browser complains of is a fault of the page."""
    context = browser.new_context(java_script_enabled=scripts, **options)
    context.set_default_timeout(20_000)
    eyes = Seen(context.new_page(), series, scripts)
    eyes.page.on("pageerror", lambda error: eyes.faults.append(str(error)))
    eyes.page.on("console", eyes.hear)
    yield eyes
    context.close()
