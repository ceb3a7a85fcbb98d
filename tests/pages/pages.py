"""Walking pages as a browser without scripts does: forms are sent as they stand, with their hidden fields."""

from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

from flask import g
from flask.testing import FlaskClient
from werkzeug.test import TestResponse


@dataclass
class FoundForm:
    action: str
    fields: dict[str, str] = field(default_factory=dict)


class Reader(HTMLParser):
    """The forms of a page, and every element by its id."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.forms: list[FoundForm] = []
        self.by_id: dict[str, dict[str, str]] = {}
        self.is_frame = False
        self.feed(html)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attributes}
        if "id" in given:
            assert given["id"] not in self.by_id, f"two elements are called {given['id']}"
            self.by_id[given["id"]] = given
        if tag == "form":
            # The search in the frame of the desk is on each of its pages, and no form of the page.
            self.is_frame = given.get("class") == "find"
            self.forms += [] if self.is_frame else [FoundForm(given["action"])]
        if (
            tag == "input"
            and not self.is_frame
            and "name" in given
            and (given.get("type") != "checkbox" or "checked" in given)
        ):
            self.forms[-1].fields[given["name"]] = given.get("value", "")


@dataclass
class Visitor:
    """A browser's memory: cookies, and the page that is open."""

    flask: FlaskClient
    options: dict[str, Any] = field(default_factory=dict)
    page: TestResponse = field(init=False)

    def open(self, path: str) -> TestResponse:
        return self._went("GET", path)

    def send(self, *, form: int = 0, **typed: str) -> TestResponse:
        """Sends a form of the open page, and follows where it leads."""
        found = self.forms[form]
        return self._went("POST", found.action, data={**found.fields, **typed}, follow_redirects=True)

    def press(self, *, form: int = 0, **typed: Any) -> TestResponse:
        """The bare answer to a form of the open page, which stays open."""
        found = self.forms[form]
        data = {**found.fields, **typed}
        return self.flask.open(found.action, method="POST", data=data, **self.options)

    def _went(self, method: str, path: str, **more: Any) -> TestResponse:
        # Requests inside a test share its context; between requests that are served nothing is left in g.
        for name in list(g):
            g.pop(name)
        self.page = self.flask.open(path, method=method, **more, **self.options)
        return self.page

    @property
    def forms(self) -> list[FoundForm]:
        return Reader(self.page.text).forms

    @property
    def elements(self) -> dict[str, dict[str, str]]:
        return Reader(self.page.text).by_id
