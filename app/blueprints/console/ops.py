"""The operations page: how the service stands, for whoever has a link of `flask ops link`. It only shows."""

from datetime import UTC, datetime
from typing import Any

from flask import Response

from app.blueprints.console.page import Pages, page
from app.blueprints.console.words import span
from app.core.clock import utcnow
from app.web.limits import Limit, missing_counts, spend
from app.web.overview.facts import lives, overview
from app.web.overview.links import ends_at

READING, ROUTE = Limit(60), "/ops/<token>"
GIB = 1024**3
blueprint = Pages("ops", __name__, url_prefix="/ops")


@blueprint.get("/<token>")
@missing_counts
def start(token: str) -> Response:
    """How things stand now. Raises NotFound, Gone."""
    until = ends_at(token)
    spend(READING, ROUTE)
    return page("console/ops.html", token=token, now=utcnow(), until=datetime.fromtimestamp(until, UTC), **_shown())


def _shown() -> dict[str, Any]:
    found = overview()
    return {"found": found, "ready": found.ready, "lives": lives, "span": span, "disk": _disk(found.disk)}


def _disk(found: tuple[float, float] | None) -> str | None:
    if found is None:
        return None
    free, size = found
    return f"{free / GIB:.1f} GiB of {size / GIB:.1f} GiB free ({free / size:.0%})"
