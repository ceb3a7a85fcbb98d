"""What people choose on the check of a file of sales: ticket types for names, and meanings of words for the state."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from flask import request, url_for

from app.core.errors import NotFound
from app.core.languages import lazy_gettext
from app.events.actions.import_ticket_file import FileOptions
from app.events.queries import OwnEvent
from app.events.search_words import key_of
from app.events.ticket_layouts import WORD_MEANINGS
from app.events.ticket_uploads import OwnUpload

NEW_TYPE = "new"
MEANING_LABELS = {
    "sold": lazy_gettext("Sold"),
    "cancelled": lazy_gettext("Cancelled"),
    "refunded": lazy_gettext("Refunded"),
    "omitted": lazy_gettext("Leave these rows out"),
}
assert MEANING_LABELS.keys() == set(WORD_MEANINGS)


class Choices(NamedTuple):
    """The ids of ticket types by names in the file, None for a name that becomes a new one, and the meanings of words."""

    types: Mapping[str, str | None]
    words: Mapping[str, str]

    def add_to(self, options: FileOptions) -> FileOptions:
        """The options of a check with these choices."""
        chosen = {name: type_id for name, type_id in self.types.items() if type_id is not None}
        return options._replace(
            ticket_types={**(options.ticket_types or {}), **chosen},
            new_types=sorted({*options.new_types, *self.types} - {*chosen}),
            status_words={**(options.status_words or {}), **self.words},
        )


NO_CHOICES = Choices({}, {})


def read_choices(event: OwnEvent, upload: OwnUpload) -> Choices | None:
    """The choices that were sent for names and words of the upload, or None if one is empty. Raises NotFound."""
    names, words = list_unknown_names(upload), list_unknown_words(upload)
    types = {name: type_id for name, type_id in _read_pairs("name", "type").items() if name in names}
    meanings = {word: meaning for word, meaning in _read_pairs("word", "meaning").items() if word in words}
    if not all((*types.values(), *meanings.values())):
        return None
    known = {NEW_TYPE, *(ticket_type.id for ticket_type in event.ticket_types)}
    if not set(types.values()) <= known or not set(meanings.values()) <= MEANING_LABELS.keys():
        raise NotFound()
    return Choices({name: None if type_id == NEW_TYPE else type_id for name, type_id in types.items()}, meanings)


def list_unknown_names(upload: OwnUpload) -> dict[str, int]:
    """The names in the file that are no ticket types of the event, with the number of their rows."""
    result: dict[str, Any] = upload.result or {}
    return {item["name"]: item["rows"] for item in result.get("unknown_types", ())}


def list_unknown_words(upload: OwnUpload) -> dict[str, int]:
    """The words for the state that are not known and can be explained, with the number of their rows."""
    result: dict[str, Any] = upload.result or {}
    return {item["word"]: item["rows"] for item in result.get("unknown_statuses", ())}


def list_problems(upload: OwnUpload, errors: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The errors to list: before the import not those of names and words that can be chosen."""
    if upload.import_id:
        return errors
    names, words = list_unknown_names(upload), list_unknown_words(upload)
    return [
        error
        for error in errors
        if error["code"] != "unknown_value"
        or (not names if error["column"] == "ticketType" else error["value"] not in words)
    ]


def list_chosen_types(event: OwnEvent, options: FileOptions, result: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The names in the file for which a ticket type was chosen, each with its ticket type."""
    types = {ticket_type.id: ticket_type.name for ticket_type in event.ticket_types}
    type_ids = {key_of(name): id for name, id in (options.ticket_types or {}).items()}
    names = result.get("chosen_types", ())
    return [(name, types[id]) for name in names if (id := type_ids.get(key_of(name))) in types]


def list_chosen_words(options: FileOptions, result: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The words in the file whose meaning was chosen, each with its meaning."""
    meanings = {word.casefold(): meaning for word, meaning in (options.status_words or {}).items()}
    words = result.get("chosen_statuses", ())
    return [(word, str(MEANING_LABELS[meanings[word.casefold()]])) for word in words if word.casefold() in meanings]


def list_new_types(event: OwnEvent, result: Mapping[str, Any]) -> list[tuple[str, int, str]]:
    """The ticket types that the import makes, each with its tickets and, once it is made, the address of its form."""
    urls = {
        ticket_type.name: url_for("desk_ticket_types.edit", event_id=event.id, type_id=ticket_type.id)
        for ticket_type in event.ticket_types
    }
    names, totals = result.get("new_type_names", ()), result.get("new_type_totals", ())
    return [(name, total, urls.get(name, "")) for name, total in zip(names, totals, strict=False)]


def _read_pairs(name: str, value: str) -> dict[str, str]:
    return dict(zip(request.form.getlist(name), request.form.getlist(value), strict=False))
