"""The page that pairs a phone with an event, opened on that phone."""

from flask import Response, request
from flask.typing import ResponseReturnValue

from app.accounts.errors import CodeInvalid
from app.blueprints.pages.rendering import Pages, render_page
from app.teams import actions
from app.web.cookies import set_device_token_cookie
from app.web.rate_limits import CODE_ATTEMPT_LIMIT, count_request

GATE = "gate"
"""The kind of devices that have a page in a browser."""
blueprint = Pages("phone_page", __name__, url_prefix="/pair", translated=True)


@blueprint.get("")
def ask_for_code() -> Response:
    """Ask for the code, for a phone that cannot scan."""
    return render_page("pages/pair.html", code="", is_wrong=False)


@blueprint.get("/<code>")
def confirm_pairing(code: str) -> Response:
    """Ask whether to pair this phone. Opening the page does not use the code up."""
    return render_page("pages/pair.html", code=code, is_wrong=False)


@blueprint.post("")
def pair() -> ResponseReturnValue:
    """Pair this phone: its browser keeps the token in a cookie."""
    code = request.form.get("code", "")[:40]
    count_request(CODE_ATTEMPT_LIMIT, "/api/devices/pair")
    try:
        paired = actions.pair_device(code=code, kind=GATE)
    except CodeInvalid as error:
        return render_page("pages/pair.html", code=code, is_wrong=True, status=error.status)
    set_device_token_cookie(paired.token)
    return render_page("pages/paired.html", paired=paired)
