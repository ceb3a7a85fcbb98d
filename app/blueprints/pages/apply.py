"""Applying for a stall at a public event: the form, and the page after it was sent."""

from flask import Response, redirect, session, url_for
from flask.typing import ResponseReturnValue

from app.applications.errors import ApplicationsClosed
from app.applications.form_terms import FormTerms, build_event_terms, get_form_terms, get_public_event
from app.blueprints.pages.apply_form import (
    SAVED_KEY,
    SENT_KEY,
    build_form,
    build_form_context,
    receive_form,
    show_form,
    was_sent,
)
from app.blueprints.pages.apply_pictures import render_sent
from app.blueprints.pages.csrf import get_page_path
from app.blueprints.pages.forms import FORM_ERRORS, FilledForm, render_form
from app.blueprints.pages.rendering import Pages, render_page
from app.core.errors import NotFound
from app.core.formatting import format_time
from app.web.rate_limits import Limit, count_request

PAGE = "pages/apply.html"
READ_LIMIT, ROUTE = Limit(120), "/apply/<event_id>"
blueprint = Pages("apply", __name__, url_prefix="/apply", translated=True)


@blueprint.get("/<event_id>")
def start(event_id: str) -> Response:
    """Show the form, or why the event takes no applications."""
    count_request(READ_LIMIT, ROUTE)
    try:
        terms = get_form_terms(event_id)
    except (NotFound, ApplicationsClosed) as error:
        return _render_closed(event_id, status=404 if isinstance(error, NotFound) else 410)
    form, is_draft_gone = show_form(terms)
    return render_terms(form, terms, is_draft_gone=is_draft_gone)


@blueprint.post("/<event_id>")
def send(event_id: str) -> ResponseReturnValue:
    """Apply with what was typed."""
    try:
        terms = get_form_terms(event_id)
        form = build_form(terms).from_request()
        try:
            return receive_form(form, terms)
        except ApplicationsClosed:
            raise
        except FORM_ERRORS as error:
            return render_terms(form.with_error(error), terms)
    except NotFound:
        return _render_closed(event_id, status=404)
    except ApplicationsClosed:
        terms = build_event_terms(get_public_event(event_id))
        if was_sent(build_form(terms).from_request(), terms):
            return redirect(url_for("apply.show_sent"), 303)
        return _render_closed(event_id, status=410)


@blueprint.get("/sent")
def show_sent() -> ResponseReturnValue:
    """Confirm that the application has arrived, and say what happens next."""
    return render_sent() if SENT_KEY in session else redirect("/", 303)


@blueprint.get("/saved")
def show_saved() -> ResponseReturnValue:
    """Confirm that the form is saved, and say where the link to it is."""
    if SAVED_KEY not in session:
        return redirect("/", 303)
    saved = session[SAVED_KEY]
    return render_page("pages/apply_saved.html", saved=saved, contact=saved["contact"])


def render_terms(form: FilledForm, terms: FormTerms, *, is_draft_gone: bool = False) -> Response:
    """Return the page with the form for an event."""
    event = terms.event
    return render_form(
        PAGE,
        form,
        contact=terms.contact,
        next=get_page_path(),
        is_draft_gone=is_draft_gone,
        begins=format_time(event.starts_at, event.timezone),
        ends=format_time(event.ends_at, event.timezone),
        applications_end=terms.applications_end_at and format_time(terms.applications_end_at, event.timezone),
        **build_form_context(terms),
    )


def _render_closed(event_id: str, *, status: int) -> Response:
    event = get_public_event(event_id) if status == 410 else None
    return render_page("pages/apply_closed.html", status=status, event=event, contact=event.contact if event else None)
