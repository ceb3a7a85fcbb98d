"""Suggests the route that a client may have meant by an unknown path."""

import re
from difflib import get_close_matches

from flask import Flask, current_app

MAX_PATH_LENGTH = 200
MIN_SIMILARITY = 0.8
EXTENSION = "route_templates"
CONVERTER = re.compile(r"<(?:[^:>]+:)?(\w+)>")


def init_app(app: Flask) -> None:
    app.extensions[EXTENSION] = None


def suggest_route(path: str) -> str | None:
    """Return the API route most like `path`, as `/api/events/{id}`; None when none is similar.

    Routes with as many segments are compared; what the client sent in place of a parameter is never repeated.
    """
    if not path.startswith("/api/") or len(path) > MAX_PATH_LENGTH:
        return None
    segments = path.rstrip("/").split("/")
    candidates = {_fill(template, segments): template for template in _list_templates(len(segments))}
    matches = get_close_matches("/".join(segments), candidates, n=1, cutoff=MIN_SIMILARITY)
    return candidates[matches[0]] if matches else None


def _list_templates(segment_count: int) -> list[str]:
    if current_app.extensions[EXTENSION] is None:
        rules = (CONVERTER.sub(r"{\1}", rule.rule) for rule in current_app.url_map.iter_rules())
        current_app.extensions[EXTENSION] = sorted({rule for rule in rules if rule.startswith("/api/")})
    templates: list[str] = current_app.extensions[EXTENSION]
    return [template for template in templates if template.count("/") == segment_count - 1]


def _fill(template: str, segments: list[str]) -> str:
    pairs = zip(template.split("/"), segments, strict=True)
    return "/".join(sent if part.startswith("{") else part for part, sent in pairs)
