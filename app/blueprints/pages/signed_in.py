"""Who is signed in on the pages, and the beginning and end of that.

A session of the pages is a row like any other. Its cookie names the row, so ending the row signs the browser out.
"""

from dataclasses import replace

from flask import redirect, request, session, url_for
from flask.typing import ResponseReturnValue

from app.accounts import actions, queries
from app.accounts.caller import Caller
from app.accounts.permissions import DOOR, GATE_READ, MERCHANT, ORGANISER, PERMISSIONS
from app.accounts.sessions import LoginResult
from app.blueprints.pages import csrf, page_language
from app.core.errors import NotFound
from app.events.queries import check_event
from app.web.access import Access, check_access, identify_actor, needs_second_factor
from app.web.cookies import delete_sign_in_cookie, read_sign_in_cookie, set_device_cookie, set_sign_in_cookie
from app.web.safe_redirect import is_local_path

ACCOUNT_PATH, STALL_PATH, DESK_PATH, SETUP_PATH = "/account", "/stall", "/desk", "/account/second-factor"
_CALLER_KEY, _NEW_SESSION_KEY = "event_commerce.page_caller", "event_commerce.new_page_session"
TEAMS_KEY = "teams"
"""The key of the session with the chosen team of each kind."""


def get_page_caller() -> Caller | None:
    """Return the signed-in person of this request; None when nobody is signed in. It takes one query, once a request.

    The use extends the session.
    """
    if _CALLER_KEY not in request.environ:
        request.environ[_CALLER_KEY] = _find_caller()
    caller: Caller | None = request.environ[_CALLER_KEY]
    return caller


def get_signed_in_caller() -> Caller:
    """Return the signed-in person. Only pages that need one may call this."""
    caller = get_page_caller()
    assert caller is not None
    return caller


def authorise_page(access: Access) -> Caller:
    """Return the signed-in person with the permission of the rule, in the team that they have chosen.

    Raises RoleNotAllowed, EmailNotVerified.
    """
    caller = get_team_caller(access)
    check_access(access, caller)
    return caller


def get_team_caller(access: Access) -> Caller:
    """Return the signed-in person with the permission of the rule, if they have it in the team that they have chosen."""
    assert access.permission is not None
    caller, kind = get_signed_in_caller(), PERMISSIONS[access.permission].kind
    return replace(caller, team_id=find_chosen_team(caller, kind)).for_permission(access.permission)


def find_chosen_team(caller: Caller, kind: str) -> str | None:
    """The team that this browser has chosen, or else the person's own or the first; None without any of that kind."""
    team_ids = list_team_ids(caller, kind)
    team_id: str | None = session.get(TEAMS_KEY, {}).get(kind)
    return team_id if team_id in team_ids else next(iter(team_ids), None)


def list_team_ids(caller: Caller, kind: str) -> list[str]:
    """The teams of this kind that the person can use: their own, then the others in the order of joining."""
    own = [caller.id] if kind in caller.roles else []
    return own + [entry.team_id for entry in caller.memberships if entry.kind == kind]


def choose_team(kind: str, team_id: str) -> None:
    """Use this of several teams of the person on the pages from now on. Raises NotFound for a team of others.

    Forms that are open in other tabs end, because they would act on the other team.
    """
    if team_id not in list_team_ids(get_signed_in_caller(), kind):
        raise NotFound()
    csrf.end_open_forms()
    session[TEAMS_KEY] = {**session.get(TEAMS_KEY, {}), kind: team_id}


def use_joined_team(kind: str, team_id: str) -> str:
    """Use a team that the person has just joined; return the path of the first page of their role in it.

    If they cannot use it, because it requires a second factor, it is that of the account, which says so.
    """
    request.environ.pop(_CALLER_KEY, None)
    caller = get_signed_in_caller()
    if team_id not in list_team_ids(caller, kind):
        return ACCOUNT_PATH
    choose_team(kind, team_id)
    if kind == MERCHANT:
        return STALL_PATH
    event_ids = next((it.event_ids for it in caller.memberships if it.team_id == team_id and it.role == DOOR), None)
    if not event_ids or len(event_ids) > 1:
        return DESK_PATH
    try:
        check_event(replace(caller, team_id=team_id).for_permission(GATE_READ), event_ids[0])
    except NotFound:
        return DESK_PATH
    return url_for("desk_gate.show", event_id=event_ids[0])


def redirect_to_sign_in() -> ResponseReturnValue | None:
    """Send a visitor who is not signed in to the sign-in page, and from there back; for `before_request`.

    An admin who must turn on a second factor first is sent to the page for it.
    """
    caller = get_page_caller()
    if caller is not None:
        is_setup = request.path.startswith(SETUP_PATH)
        return redirect(SETUP_PATH, 303) if needs_second_factor(caller) and not is_setup else None
    return redirect(url_for("sign_in.start", next=csrf.get_page_path()), 303)


def get_header_context() -> dict[str, object]:
    """Return what the header of a page shows: nothing unless this request has asked who is signed in."""
    return {"has_account_header": _CALLER_KEY in request.environ, "person": request.environ.get(_CALLER_KEY)}


def start_session(login_result: LoginResult, *, remember: bool) -> None:
    """Sign the browser in, and end the session that it had.

    With `remember` it stays signed in when it closes, and is known at the next sign-in.
    """
    _end_current_session()
    set_sign_in_cookie(login_result, remember=remember)
    request.environ[_NEW_SESSION_KEY] = login_result.session_id
    request.environ.pop(_CALLER_KEY)
    if remember:
        set_device_cookie(login_result)


def end_session() -> None:
    """Sign the browser out, and end its session."""
    _end_current_session()
    delete_sign_in_cookie()


def get_safe_path(text: str) -> str:
    """Return the path to go to after the sign-in: `text` if it is a path of this site, else the landing path."""
    return text if _is_safe_path(text) else get_landing_path()


def get_landing_path() -> str:
    """Return where the signed-in person starts: at their stall or desk, if they have, or work for, only one of them.

    Organisers who must confirm their address or turn on a second factor start at their account, which says so.
    """
    caller = get_page_caller()
    if caller is None:
        return ACCOUNT_PATH
    kinds = {*caller.roles, *(entry.kind for entry in caller.memberships)} - {"customer"}
    if kinds == {MERCHANT}:
        return STALL_PATH
    is_ready = caller.email_verified and not caller.lacks_second_factor
    return DESK_PATH if kinds == {ORGANISER} and is_ready else ACCOUNT_PATH


def find_next_path() -> str | None:
    """Return the page that `next` of this request names; None without one, or if it is no path of this site.

    Links, forms and redirects of the pages for signing in and up pass it on, so that people come back to it.
    """
    path = request.args.get("next", "")
    return path if _is_safe_path(path) else None


def _is_safe_path(path: str) -> bool:
    return bool(path) and is_local_path(path) and len(path) <= 512


def _find_caller() -> Caller | None:
    session_id = request.environ.get(_NEW_SESSION_KEY) or read_sign_in_cookie()
    caller = queries.find_page_caller(session_id) if session_id else None
    if caller is not None:
        identify_actor(caller)
        page_language.use_account_language(caller)
    return caller


def _end_current_session() -> None:
    """End the session of the browser, and start a new Flask session with another CSRF token.

    So nobody can plant a token before a sign-in, and nothing of a person but the language is left after it.
    """
    caller = get_page_caller()
    if caller is not None:
        actions.end_session(caller=caller, session_id=caller.session_id)
    page_language.clear_session_but_language()
    request.environ[_CALLER_KEY] = None
