"""The read-only operations page, for anyone who has a link of `flask ops link`."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import TypedDict

from flask import Response

from app.blueprints.pages.rendering import Pages, format_wait, render_page
from app.core.clock import utcnow
from app.web.operations_page.links import decode_token
from app.web.operations_page.queries import ServiceOverview, is_alive, load_overview
from app.web.rate_limits import Limit, count_request, limit_failed_lookups

READ_LIMIT, ROUTE = Limit(60), "/ops/<token>"
GIB = 1024**3
blueprint = Pages("ops", __name__, url_prefix="/ops")


@blueprint.get("/<token>")
@limit_failed_lookups
def start(token: str) -> Response:
    """Show the state of the service. Raises NotFound, Gone."""
    expires_at = decode_token(token)
    count_request(READ_LIMIT, ROUTE)
    return render_page(
        "pages/ops.html", token=token, now=utcnow(), until=datetime.fromtimestamp(expires_at, UTC), **_build_context()
    )


class OpsContext(TypedDict):
    """The template variables of the page."""

    overview: ServiceOverview
    ready: Mapping[str, object]
    is_alive: Callable[[int], bool]
    format_wait: Callable[[int], str]
    disk: str | None


def _build_context() -> OpsContext:
    overview = load_overview()
    return {
        "overview": overview,
        "ready": overview.ready,
        "is_alive": is_alive,
        "format_wait": format_wait,
        "disk": _format_disk(overview.disk),
    }


def _format_disk(space: tuple[float, float] | None) -> str | None:
    if space is None:
        return None
    free, size = space
    return f"{free / GIB:.1f} GiB of {size / GIB:.1f} GiB free ({free / size:.0%})"
