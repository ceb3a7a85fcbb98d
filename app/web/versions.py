"""ETag, If-Match and If-None-Match; and `fields=` for answers of chosen fields."""

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from flask import Response, request

from app.core.errors import ValidationFailed
from app.web.schema import Chosen, Schema

View = Callable[..., Any]
WRITES = ("PATCH", "PUT", "DELETE")
NO_VERSION = -1
"""What no row has: given on for an If-Match that names no version of ours, so that it is stale if the row exists."""


def versioned(view: View, method: str) -> View:
    """A GET that answers its version as ETag and 304 to whom has it; a write that gets `expected_version`."""
    if method in WRITES:

        @wraps(view)
        def guarded(**arguments: Any) -> Any:
            return view(**arguments, expected_version=expected_version())

        return guarded

    @wraps(view)
    def tagged(**arguments: Any) -> Any:
        found = view(**arguments)
        version = found["version"] if isinstance(found, Mapping) else found.version
        if request.if_none_match.contains_weak(str(version)):
            return not_modified(str(version))
        return found, {"ETag": f'"{version}"'}

    return tagged


def not_modified(tag: str) -> Response:
    return Response(status=304, headers={"ETag": f'"{tag}"'})


def expected_version() -> int | None:
    """The version the client last saw; None when it does not care, `NO_VERSION` when it named none of ours.

    A proxy that compresses makes tags weak, so weak ones count. Of several tags none is taken: a write that
    expects one of two states has not read either.
    """
    if "If-Match" not in request.headers or request.if_match.star_tag:
        return None
    tags = [tag for tag in request.if_match.as_set(include_weak=True) if _is_version(tag)]
    return int(tags[0]) if len(tags) == 1 else NO_VERSION


def _is_version(tag: str) -> bool:
    return bool(tag) and tag.isascii() and tag.isdigit() and len(tag) < 10


def sparse(view: View, schema: type[Schema]) -> View:
    """A view whose answer keeps `id` and the fields asked for."""
    dumping = schema()
    known = frozenset(str(field.data_key) for field in dumping.dump_fields.values())

    @wraps(view)
    def chosen(**arguments: Any) -> Any:
        names = _names(request.args.get("fields"), known)
        found = view(**arguments)
        if names is None or isinstance(found, Response):
            return found
        body, *rest = found if isinstance(found, tuple) else (found,)
        cut = Chosen({name: value for name, value in dumping.dump(body).items() if name in names})
        return (cut, *rest) if rest else cut

    return chosen


def _names(asked: str | None, known: frozenset[str]) -> frozenset[str] | None:
    if asked is None or not asked.strip():
        return None
    names = {name.strip() for name in asked.split(",") if name.strip()}
    unknown = sorted(names - known)
    if unknown:
        raise ValidationFailed(
            [
                {"path": "fields", "code": "unknown_field", "message": f"{name[:80]} is not a field here."}
                for name in unknown[:20]
            ]
        )
    return frozenset(names | {"id"})
