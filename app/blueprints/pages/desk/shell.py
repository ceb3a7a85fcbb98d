"""What all pages of the desk share: who may open them, and the frame with the navigation.

blueprint = DeskPages("desk_stalls", __name__, url_prefix="/desk/events/<event_id>/stalls")

@blueprint.page("", access=may(STALLS_READ))
def show(caller: Caller, event_id: str) -> ResponseReturnValue:
    return render_desk("desk/stalls.html", event=get_event(caller, event_id))

@blueprint.act("/<application_id>/decline", access=may(STALLS_DECIDE))
def decline(caller: Caller, event_id: str, application_id: str) -> ResponseReturnValue:
    …
"""

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any, Protocol, cast

from flask import Response, flash, redirect, request
from flask.typing import ResponseReturnValue

from app.accounts.caller import Caller
from app.accounts.permissions import ORGANISER
from app.blueprints.pages.desk.navigation import Link, list_event_links, list_organisation_links
from app.blueprints.pages.forms import FilledForm
from app.blueprints.pages.rendering import MAX_FORM_BYTES, REFRESH_POLICY, Pages, describe_error, render_page
from app.blueprints.pages.repeated_forms import submit_once
from app.blueprints.pages.signed_in import find_chosen_team, get_signed_in_caller, get_team_caller, list_team_ids
from app.core.errors import AppError, NotFound
from app.core.ids import is_id
from app.web.access import Access, check_access
from app.web.idempotency import FORM_KEY
from app.web.rate_limits import count_like_operation

View = Callable[..., ResponseReturnValue]


class DeskEvent(Protocol):
    """What the frame and files need of an event: an `Event`, or a row of its columns."""

    @property
    def id(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def organiser_id(self) -> str: ...
    @property
    def timezone(self) -> str: ...


@dataclass(frozen=True)
class Frame:
    """What the frame of a page shows. The name and logo of `organiser_id` are in the header."""

    organiser_id: str
    may_change_organisation: bool
    links: list[Link]
    event: DeskEvent | None
    event_links: list[Link]


class DeskPages(Pages):
    """A blueprint of the desk. Its pages need a sign-in and an organisation.

    A view gets the caller for the permission of its route, limited to the organisation that they have chosen, and the
    ids in the path, which are checked.
    """

    def __init__(
        self, name: str, import_name: str, *, url_prefix: str = "/desk", max_bytes: int = MAX_FORM_BYTES
    ) -> None:
        super().__init__(
            name, import_name, url_prefix=url_prefix, max_bytes=max_bytes, needs_sign_in=True, translated=True
        )
        self.before_request(_require_organisation)

    def page(self, rule: str, *, access: Access) -> Callable[[View], View]:
        """Register a page: a view for GET."""
        return self._add_view(rule, "GET", access)

    def act(self, rule: str, *, access: Access) -> Callable[[View], View]:
        """Register what a form does: a view for POST. It redirects, or shows the form again with its errors."""
        return self._add_view(rule, "POST", access)

    def _add_view(self, rule: str, method: str, access: Access) -> Callable[[View], View]:
        def decorate(view: View) -> View:
            @wraps(view)
            def wrapper(**arguments: str) -> ResponseReturnValue:
                caller = authorise_desk(access)
                if not all(is_id(value) for name, value in arguments.items() if name.endswith("_id")):
                    raise NotFound()
                return view(caller, **arguments)

            self.add_url_rule(rule, view.__name__, wrapper, methods=[method])
            return view

        return decorate


def authorise_desk(access: Access) -> Caller:
    """Return the signed-in person with the permission of the rule, in the organisation that they have chosen.

    The tier of an admin does not count: the desk shows one organisation. Raises RoleNotAllowed, EmailNotVerified.
    """
    caller = replace(get_team_caller(access), tier=None)
    check_access(access, caller)
    return caller


def may_use(access: Access) -> bool:
    """Whether the signed-in person may open pages with this rule, for the links to them."""
    return access.allows(replace(get_team_caller(access), tier=None))


def render_desk(
    template: str,
    *,
    event: DeskEvent | None = None,
    form: FilledForm | None = None,
    status: int = 200,
    **context: Any,
) -> Response:
    """Return a page in the frame of the desk, with the navigation of the event if there is one.

    A form with an error decides the HTTP status. `form_key` is the value of the field by which `do_once` tells forms apart.
    """
    error = form.error if form else None
    response = render_page(
        template,
        status=error.status if error else status,
        frame=_build_frame(event),
        event=event,
        form=form,
        form_key=request.form.get(FORM_KEY) or secrets.token_urlsafe(16),
        **context,
    )
    response.headers["Content-Security-Policy"] = REFRESH_POLICY
    if error:
        response.headers.extend(error.headers)
    return response


def render_desk_form(
    form: FilledForm,
    *,
    title: str,
    button: str,
    back: str,
    lead: str = "",
    event: DeskEvent | None = None,
    template: str = "desk/form.html",
    **context: Any,
) -> Response:
    """Return a page with one form, which is sent to the address of the page. `back` is where the form was opened."""
    return render_desk(
        template,
        form=form,
        event=event,
        title=title,
        button=button,
        back=back,
        lead=lead,
        path=request.full_path.rstrip("?"),
        **context,
    )


def render_confirmation(
    *,
    title: str,
    text: str,
    button: str,
    back: str,
    event: DeskEvent | None = None,
    items: Sequence[str] = (),
    is_dangerous: bool = False,
    values: Mapping[str, str] | None = None,
    error: AppError | None = None,
) -> Response:
    """Return the page that says what will happen, with the button that does it, or the error of the attempt.

    `items` is a list of what is affected.
    The button posts to the address of the page, with these values.
    """
    return render_desk(
        "desk/confirm.html",
        event=event,
        status=error.status if error else 200,
        title=title,
        text=text,
        items=items,
        button=button,
        back=back,
        is_dangerous=is_dangerous,
        values=values or {},
        error=describe_error(error) if error else "",
        path=request.path,
    )


def do_once(caller: Caller, act: Callable[[], str]) -> str:
    """`submit_once` for a signed-in person."""
    return submit_once(caller.client_id, act)


def count_like(caller: Caller, endpoint: str) -> None:
    """Count the request against the limit of an operation of the API, which does the same as the page. Raises Throttled."""
    count_like_operation(endpoint, account_id=caller.client_id)


def go_to(path: str, done: str) -> ResponseReturnValue:
    """Say that it is done, on the page at `path`."""
    flash(str(done))
    return redirect(path, 303)


def send_back(path: str, reason: str) -> ResponseReturnValue:
    """Say why a page is not shown, on the page at `path`."""
    flash(str(reason), "note")
    return redirect(path, 303)


def _require_organisation() -> ResponseReturnValue | None:
    """Show who has no organisation how to get one; for `before_request`."""
    if find_chosen_team(get_signed_in_caller(), ORGANISER) is None:
        return render_page("desk/no_organisation.html")
    return None


def _build_frame(event: DeskEvent | None) -> Frame:
    person = get_signed_in_caller()
    team_id = cast(str, find_chosen_team(person, ORGANISER))
    caller: Any = replace(person, team_id=team_id, tier=None)
    return Frame(
        organiser_id=team_id,
        may_change_organisation=len(list_team_ids(person, ORGANISER)) > 1,
        links=list_organisation_links(caller),
        event=event,
        event_links=list_event_links(caller, event_id=event.id, organiser_id=event.organiser_id) if event else [],
    )
