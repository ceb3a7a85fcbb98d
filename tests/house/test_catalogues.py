"""Catalogues: every text of the translated pages, mails and documents is in them, translated, and nothing else is."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.extract import DEFAULT_KEYWORDS, extract_from_dir
from babel.messages.frontend import parse_mapping_cfg
from babel.messages.pofile import read_po
from flask import Flask
from jinja2 import Environment, nodes

from app.blueprints.pages import PAGES
from app.blueprints.pages.forms import Form, Input
from app.clients.email_templates import TRANSLATED
from app.core.languages import DIRECTORY, LANGUAGES, SOURCE_LANGUAGE
from tests.house.sources import ROOT

TEMPLATES = ROOT / "app/templates"
TRANSLATIONS = sorted(set(LANGUAGES) - {SOURCE_LANGUAGE})
ENGLISH_PAGES = {
    "address_restored",
    "address_undo",
    "address_undo_ended",
    "api_key_created",
    "api_keys",
    "data_export",
    "data_export_ended",
    "devices_events",
    "docs",
    "docs_errors",
    "docs_operations",
    "mailbox",
    "message",
    "ops",
    "organisation",
    "organisation_bank",
    "stop_payout",
    "stop_payout_unknown",
    "unsubscribe",
    "unsubscribe_unknown",
}
MAIL_PARTS = {
    "base.html",
    "parts.html",
    "greeting.txt",
    "footer.txt",
    "steps.html",
    "steps.txt",
    "terms.html",
    "terms.txt",
}
MAIL_PARTS |= {"ticket_facts.html", "ticket_facts.txt"}
NAMES = re.compile(r"Event Commerce|Subject:|&\w+;|(?<=\0)/[a-z-]+(?=\n)")
SPOKEN_ATTRIBUTES = re.compile(r'(?:aria-label|alt|title|placeholder|data-label)="([^"]*)"')
GETTEXT = {"_", "gettext", "ngettext", "pgettext", "npgettext"}
PLACEHOLDER = re.compile(r"%\(\w+\)s|%%")
ADVICE = "run `make catalogues`, then translate what is empty"
MAX_SUBJECT = 60


@cache
def source_texts() -> set[tuple[str | None, object]]:
    """Context and text of everything that is marked in the sources."""
    with (DIRECTORY / "babel.cfg").open() as file:
        methods, options = parse_mapping_cfg(file)
    found = extract_from_dir(
        ROOT,
        methods,
        options,
        keywords={
            **DEFAULT_KEYWORDS,
            "lazy_gettext": None,
            "lazy_pgettext": ((1, "c"), 2),
            "mark_for_translation": None,
            "mark_plural": (1, 2),
        },
    )
    return {(context, message) for _, _, message, _, context in found}


@cache
def catalogue(language: str) -> Catalog:
    with (DIRECTORY / language / "LC_MESSAGES" / "messages.po").open("rb") as file:
        return read_po(file, locale=language)


def messages(language: str) -> list[Message]:
    return [message for message in catalogue(language) if message.id]


@pytest.mark.parametrize("language", TRANSLATIONS)
def test_a_catalogue_has_the_texts_of_the_sources_and_no_others(language: str) -> None:
    found = {(message.context, tuple(i) if isinstance(i := message.id, list) else i) for message in messages(language)}
    wanted = {(context, tuple(text) if isinstance(text, list | tuple) else text) for context, text in source_texts()}
    assert (wanted - found, found - wanted) == (set(), set()), ADVICE


@pytest.mark.parametrize("language", TRANSLATIONS)
def test_every_text_is_translated(language: str) -> None:
    untranslated = [message.id for message in messages(language) if not all(_strings(message)) or message.fuzzy]
    assert untranslated == [], ADVICE


@pytest.mark.parametrize("language", TRANSLATIONS)
def test_a_translation_has_the_placeholders_and_elements_of_its_text(language: str) -> None:
    wrong = [
        string
        for message in messages(language)
        for text, string in zip(_ids(message), _strings(message), strict=True)
        if _marks(text) != _marks(string) and "%(count)s" not in str(message.id)
    ]
    assert wrong == []


@pytest.mark.parametrize("language", TRANSLATIONS)
def test_subjects_are_short(language: str) -> None:
    """With the 28 characters of an event that a subject keeps at least."""
    texts = re.findall(r"Subject: (.*)", "\n".join(path.read_text() for path in _mail_files() if path.suffix == ".txt"))
    ids = {
        re.sub(r"{{ (\w+) }}", r"%(\1)s", text)
        for line in texts
        for text in re.findall(r"%}([^{]*(?:{{ \w+ }}[^{]*)+){% endtrans", line)
    }
    found = [_strings(message)[0] for message in messages(language) if message.id in ids]
    assert len(found) >= 12
    assert [text for text in found if len(PLACEHOLDER.sub("x" * 14, text, count=2)) > MAX_SUBJECT] == []


@pytest.mark.parametrize(
    "path",
    [*sorted(TEMPLATES.glob("pages/*.html")), *sorted(TEMPLATES.glob("desk/*.html")), TEMPLATES / "base.html"],
    ids=lambda path: f"{path.parent.name}/{path.stem}",
)
def test_a_translated_page_has_no_text_outside_the_catalogues(app: Flask, path: Path) -> None:
    english = ENGLISH_PAGES if path.parent.name == "pages" else {"gallery"}
    if path.stem not in english:
        assert list(find_untranslated(app.jinja_env, path.read_text())) == []


def test_a_translated_mail_has_no_text_outside_the_catalogues(app: Flask) -> None:
    for path in _mail_files():
        assert list(find_untranslated(app.jinja_env, path.read_text())) == [], path.name


def test_untranslated_text_is_found(app: Flask) -> None:
    source = '<p>Left</p><a title="Over">{{ "Write to me" if x }}</a>{{ _("Fine") }}{% trans %}Fine too{% endtrans %}'
    assert list(find_untranslated(app.jinja_env, source)) == ["Over", "Left", "Write to me"]


def test_the_labels_and_hints_of_translated_forms_are_in_the_catalogues() -> None:
    texts = {text for _, text in source_texts()}
    inputs = [
        value
        for page in PAGES
        if page.blueprint.translated
        for item in vars(page).values()
        for value in (item.inputs.values() if isinstance(item, Form) else [item] if isinstance(item, Input) else [])
    ]
    assert len(inputs) > 15
    shown = {str(text) for value in inputs for text in (value.label, value.hint, *value.messages.values()) if text}
    assert shown - texts == set()


def find_untranslated(environment: Environment, source: str) -> Iterator[str]:
    """The words of a template that do not go through gettext: in attributes that are read out, in text, in constants."""
    tree = environment.parse(source)
    data = "".join(
        node.data if isinstance(node, nodes.TemplateData) else "\0"
        for output in tree.find_all(nodes.Output)
        for node in output.nodes
    )
    data = NAMES.sub("", re.sub(r"(?s)<style>.*?</style>|<!--.*?-->", "", data))
    for text in [*SPOKEN_ATTRIBUTES.findall(data), re.sub(r'<[^>]*>|[\w-]+="[^"]*"', "\0", data)]:
        yield from (
            part.strip() for part in text.split("\0") if re.search(r"[^\W\d_]{2}", part) and part.strip() != "http"
        )
    spared = {
        id(item)
        for call in tree.find_all(nodes.Call)
        if getattr(call.node, "name", "") in GETTEXT
        for item in call.find_all(nodes.Const)
    }
    for constant in tree.find_all(nodes.Const):
        if (
            isinstance(constant.value, str)
            and id(constant) not in spared
            and re.search(r"\w \w|^[A-Z][a-z]", constant.value)
        ):
            yield constant.value


def _mail_files() -> list[Path]:
    folder = TEMPLATES / "email"
    return [path for path in sorted(folder.iterdir()) if path.stem in TRANSLATED or path.name in MAIL_PARTS]


def _ids(message: Message) -> tuple[str, ...]:
    return tuple(message.id) if isinstance(message.id, list | tuple) else (message.id,)


def _strings(message: Message) -> tuple[str, ...]:
    return tuple(message.string) if isinstance(message.string, list | tuple) else (message.string,)


def _marks(text: str) -> list[str]:
    return sorted([*PLACEHOLDER.findall(text), *re.findall(r"<[^>]+>", text)])
