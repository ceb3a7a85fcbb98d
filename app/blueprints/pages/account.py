"""The account of the signed-in person: its sections, the devices that are signed in, and Apple and Google."""

from typing import NamedTuple

from flask import Response, flash, redirect, url_for
from flask.typing import ResponseReturnValue

from app.accounts import actions, queries
from app.accounts.errors import LastSignInMethod
from app.accounts.permissions import (
    EVENTS_READ,
    MERCHANT,
    ORGANISER,
    STALL_READ,
    describe_role,
)
from app.blueprints.pages.rendering import Pages, render_page
from app.blueprints.pages.sign_in import PROVIDERS
from app.blueprints.pages.signed_in import (
    find_chosen_team,
    get_signed_in_caller,
    get_team_caller,
    list_team_ids,
)
from app.blueprints.pages.team import TEAM_ENDPOINTS
from app.core.errors import NotFound
from app.core.languages import gettext, lazy_gettext
from app.teams import queries as team_queries
from app.web.access import Access, may

blueprint = Pages("account", __name__, url_prefix="/account", needs_sign_in=True, translated=True)
ROLE_NAMES = {
    "customer": lazy_gettext("guest"),
    ORGANISER: lazy_gettext("organiser"),
    MERCHANT: lazy_gettext("merchant"),
}


class Section(NamedTuple):
    """A page of the account: its path, title and purpose."""

    path: str
    title: str
    purpose: str
    access: Access | None = None


SECTIONS = (
    Section(
        "/desk",
        lazy_gettext("Your desk"),
        lazy_gettext("events, stalls, guests, stock, messages, team and settings of your organisation"),
        may(EVENTS_READ),
    ),
    Section("/account/details", lazy_gettext("Your details"), lazy_gettext("name, phone and language")),
    Section("/account/address", lazy_gettext("E-mail address"), lazy_gettext("the address that you sign in with")),
    Section("/account/password", lazy_gettext("Password"), lazy_gettext("choose a new one")),
    Section(
        "/account/second-factor", lazy_gettext("Second factor"), lazy_gettext("a code from your phone at each sign-in")
    ),
    Section(
        "/account/sessions",
        lazy_gettext("Devices and sessions"),
        lazy_gettext("see where you are signed in, and sign out there"),
    ),
    Section(
        "/account/identities",
        lazy_gettext("Sign-in with Apple or Google"),
        lazy_gettext("see and remove what signs in to your account"),
    ),
    Section("/invitations", lazy_gettext("Invitations"), lazy_gettext("to events, and your answers"), may(STALL_READ)),
    Section("/account/team", lazy_gettext("Teams"), lazy_gettext("who works with you, and for whom you work")),
    Section("/account/data", lazy_gettext("Your data"), lazy_gettext("get a copy, or delete your account")),
)
"""The sections in the order of the page. A section that the person may not use is left out."""


@blueprint.get("")
def show() -> Response:
    """Show the sections of the account, and the teams of the person."""
    caller = get_signed_in_caller()
    own_teams, memberships = team_queries.list_own_teams(caller), team_queries.list_memberships(caller)
    team_ids = {kind: list_team_ids(caller, kind) for kind in (ORGANISER, MERCHANT)}
    return render_page(
        "pages/account.html",
        caller_email=caller.email,
        is_verified=caller.email_verified,
        lacks_second_factor=caller.lacks_second_factor,
        caller_id=caller.id,
        own_teams=own_teams,
        memberships=memberships,
        chosen={kind: find_chosen_team(caller, kind) for kind, ids in team_ids.items() if len(ids) > 1},
        team_ids=team_ids,
        team_urls={kind: url_for(endpoint) for kind, endpoint in TEAM_ENDPOINTS.items()},
        describe_role=describe_role,
        roles=[str(ROLE_NAMES.get(role, role)) for role in sorted(caller.roles)],
        sections=[
            section
            for section in SECTIONS
            if section.access is None or section.access.allows(get_team_caller(section.access))
        ],
    )


@blueprint.get("/sessions")
def list_sessions() -> Response:
    """Show where the account is signed in."""
    return render_page("pages/account_sessions.html", sessions=queries.list_sessions(get_signed_in_caller()))


@blueprint.post("/sessions/<session_id>/end")
def end_session(session_id: str) -> ResponseReturnValue:
    """Sign one device out. One that is signed out already gets the same answer."""
    actions.end_session(caller=get_signed_in_caller(), session_id=session_id)
    flash(gettext("The device is signed out."))
    return redirect(url_for("account.list_sessions"), 303)


@blueprint.get("/sessions/others")
def confirm_end_others() -> Response:
    """Ask whether to sign out everywhere else."""
    return render_page("pages/account_sessions_others.html")


@blueprint.post("/sessions/others")
def end_others() -> ResponseReturnValue:
    """Sign out everywhere else."""
    actions.end_other_sessions(caller=get_signed_in_caller())
    flash(gettext("All other devices are signed out."))
    return redirect(url_for("account.list_sessions"), 303)


@blueprint.get("/identities")
def list_identities() -> Response:
    """Show the accounts at Apple and Google that sign in to this one."""
    identities = queries.list_identities(get_signed_in_caller())
    return render_page("pages/account_identities.html", identities=identities, providers=PROVIDERS)


@blueprint.get("/identities/<provider>/unlink")
def confirm_unlink(provider: str) -> Response:
    """Ask whether the provider shall no longer sign in to the account."""
    return render_page("pages/account_identity_unlink.html", provider=_get_provider(provider), key=provider)


@blueprint.post("/identities/<provider>/unlink")
def unlink_identity(provider: str) -> ResponseReturnValue:
    """Unlink the provider; the last way to sign in stays."""
    name = _get_provider(provider)
    try:
        actions.unlink_identity(caller=get_signed_in_caller(), provider=provider)
    except LastSignInMethod as error:
        return render_page(
            "pages/account_identity_unlink.html", provider=name, key=provider, is_last=True, status=error.status
        )
    flash(gettext("%(provider)s no longer signs in to your account. All other devices are signed out.", provider=name))
    return redirect(url_for("account.list_identities"), 303)


def _get_provider(provider: str) -> str:
    if provider not in PROVIDERS:
        raise NotFound()
    return PROVIDERS[provider]
