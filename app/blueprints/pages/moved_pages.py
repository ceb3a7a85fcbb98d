"""The former addresses of pages that are at the desk now. Mails and bookmarks lead to them."""

from typing import Any

from flask import redirect, url_for
from flask.typing import ResponseReturnValue

from app.blueprints.pages.rendering import Pages

blueprint = Pages("moved_pages", __name__, url_prefix="/account")
MOVED_PAGES = {
    "/team/organiser": "desk_team.show",
    "/team/organiser/members/<member_id>": "desk_team.show_member",
    "/organisation": "desk_settings.show",
    "/organisation/bank": "desk_settings.show_bank",
    "/devices": "desk_devices.choose_event",
    "/devices/<event_id>": "desk_gate.show_phones",
    "/api-keys": "desk_keys.show",
}
"""The endpoint that each path below /account leads to, with the same ids."""


def _redirect(endpoint: str, **ids: Any) -> ResponseReturnValue:
    return redirect(url_for(endpoint, **ids), 301)


for path, target in MOVED_PAGES.items():
    blueprint.add_url_rule(path, target.replace(".", "_"), _redirect, defaults={"endpoint": target}, methods=["GET"])
