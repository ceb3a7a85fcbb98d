"""The languages that people read: which there are, which one is in use, and their catalogues.

English is the source. A catalogue is `app/translations/<language>/LC_MESSAGES/messages.po`, which each process reads
once, when it first needs it; no compiled file exists that could be out of date.

    with use_language(application.language):
        render_email(…)

Pages set the language of their visitor (`choose_page_language`); everything else is English unless it sets a language.
"""

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from functools import cache, cached_property, lru_cache
from io import BytesIO
from pathlib import Path
from typing import cast

import flask_babel
from babel import Locale
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from babel.support import NullTranslations, Translations
from flask import Flask, g
from flask_babel import Babel, Domain, force_locale, get_locale, refresh
from werkzeug.datastructures import LanguageAccept
from werkzeug.http import parse_accept_header

LANGUAGES = {"en": "English", "af": "Afrikaans", "de": "Deutsch"}
"""The name of each language in that language."""
SOURCE_LANGUAGE = "en"
DIRECTORY = Path(__file__).parent.parent / "translations"
_PAGE_LANGUAGE = "page_language"


def init_app(app: Flask) -> None:
    """Add translations to the templates and the texts of an application."""
    _Catalogues().init_app(app, locale_selector=lambda: find_page_language() or SOURCE_LANGUAGE)
    app.jinja_env.policies["ext.i18n.trimmed"] = True


def get_language() -> str:
    """Return the language in use: of the page, of `use_language`, or English."""
    locale = get_locale()
    return str(locale.language) if locale else SOURCE_LANGUAGE


def use_language(language: str | None) -> AbstractContextManager[None]:
    """Use a language inside the block; English for None and for a language without a catalogue."""
    context: AbstractContextManager[None] = force_locale(match_language(language) or SOURCE_LANGUAGE)
    return context


def choose_page_language(language: str) -> None:
    """Use this language for the rest of the request, which is one for a page."""
    setattr(g, _PAGE_LANGUAGE, language)
    refresh()


def find_page_language() -> str | None:
    """Return the language of the page that a person is looking at; None outside of pages, as in the API and in jobs."""
    language: str | None = g.get(_PAGE_LANGUAGE) if g else None
    return language


def match_language(tag: str | None) -> str | None:
    """Return the language of a tag like `de-NA`; None if there is no such catalogue."""
    language = (tag or "").replace("_", "-").partition("-")[0].lower()
    return language if language in LANGUAGES else None


@lru_cache(512)
def match_accepted_language(accept_language: str) -> str:
    """Return the first language of an `Accept-Language` header that has a catalogue; English without one."""
    accepted = parse_accept_header(accept_language, LanguageAccept)
    return accepted.best_match(LANGUAGES, SOURCE_LANGUAGE) or SOURCE_LANGUAGE


def find_first_language(tags: Iterable[str | None]) -> str | None:
    """Return the first language of the tags that has a catalogue."""
    return next((language for tag in tags if (language := match_language(tag))), None)


def gettext(text: str, **variables: object) -> str:
    """Return the text in the language in use, with `%(name)s` replaced."""
    return str(flask_babel.gettext(text, **variables))


def ngettext(singular: str, plural: str, num: int, **values: object) -> str:
    """Return the text for a number of things; `%(num)s` is the number, the other placeholders have these values."""
    return str(flask_babel.ngettext(singular, plural, num, **values))


def lazy_gettext(text: str) -> str:
    """Return an object that behaves as the text, in the language that is in use when it is read; for constants."""
    return cast(str, flask_babel.lazy_gettext(text))


def lazy_pgettext(context: str, text: str) -> str:
    """`lazy_gettext` for a text that has another translation elsewhere; the context says which of them is meant."""
    return cast(str, flask_babel.lazy_pgettext(context, text))


def lazy_text(describe: Callable[..., str], *arguments: object) -> str:
    """Return an object that behaves as the text that the function returns when it is read; for constants."""
    return cast(str, flask_babel.LazyString(describe, *arguments))


def mark_for_translation(text: str) -> str:
    """Return the text as it is. It is added to the catalogues, and pages pass it to `gettext`."""
    return text


def mark_plural(singular: str, plural: str) -> tuple[str, str]:
    """Return both texts as they are. They are added to the catalogues: `ngettext(*texts, number)`."""
    return singular, plural


@cache
def load_catalogue(language: str) -> NullTranslations:
    """Return the translations of a language; English has none."""
    if language == SOURCE_LANGUAGE:
        return NullTranslations()
    with (DIRECTORY / language / "LC_MESSAGES" / "messages.po").open("rb") as file:
        catalogue = read_po(file, locale=language)
    compiled = BytesIO()
    write_mo(compiled, catalogue)
    compiled.seek(0)
    return Translations(compiled)


def preload() -> None:
    """Load the catalogues and Babel's data of all languages, which take a fifth of a second at their first use."""
    for language in LANGUAGES:
        load_catalogue(language)
        Locale(language).days  # noqa: B018


class _CatalogueDomain(Domain):  # type: ignore[misc]
    """The texts of this program, from `load_catalogue`."""

    def get_translations(self) -> NullTranslations:
        return load_catalogue(get_language())


class _Catalogues(Babel):  # type: ignore[misc]
    """Flask-Babel with our catalogues."""

    @cached_property
    def domain_instance(self) -> Domain:
        return _CatalogueDomain()
