"""The way to the phones of an event, which are at its gate, for mails and for the page of the team."""

from flask.typing import ResponseReturnValue

from app.accounts.caller import Caller
from app.accounts.permissions import DEVICES
from app.blueprints.pages.desk.shell import DeskPages, render_desk
from app.events.queries import list_present_events
from app.web.access import may

blueprint = DeskPages("desk_devices", __name__, url_prefix="/desk/devices")


@blueprint.page("", access=may(DEVICES))
def choose_event(caller: Caller) -> ResponseReturnValue:
    """Choose the event of the phones."""
    return render_desk("desk/devices.html", events=list_present_events(caller))
