"""The history on the page of an application."""

from collections.abc import Sequence
from datetime import datetime

from app.applications.documents import LABELS
from app.applications.history import Act
from app.applications.queries import ApplicationRecord
from app.applications.states import APPROVED, DECLINED
from app.audit.actions import Action
from app.core.languages import gettext, lazy_gettext

ACT_LABELS = {
    Action.APPLICATION_APPROVED: lazy_gettext("Approved"),
    Action.APPLICATION_DECLINED: lazy_gettext("Declined"),
    Action.APPLICATION_REOPENED: lazy_gettext("The refusal was taken back"),
    Action.APPLICATION_WAITLISTED: lazy_gettext("Put on the waitlist"),
    Action.APPLICATION_WITHDRAWN: lazy_gettext("Withdrawn by the applicant"),
    Action.PLACE_OFFERED: lazy_gettext("A place was offered"),
    Action.PLACE_ACCEPTED: lazy_gettext("The place was accepted"),
    Action.PLACE_DECLINED: lazy_gettext("The place was declined"),
    Action.PLACE_OFFER_LAPSED: lazy_gettext("The offer of the place ended"),
    Action.APPLICANT_CHANGED: lazy_gettext("How to reach the applicant was corrected"),
    Action.DOCUMENTS_REOPENED: lazy_gettext("Documents were asked for again, because the event moved"),
    Action.DOCUMENTS_SUBMITTED: lazy_gettext("Handed in the documents"),
}


def list_history(row: ApplicationRecord, acts: Sequence[Act]) -> list[tuple[datetime, str, str]]:
    """What happened to an application, of which these are acts, and who did it if that is known, the newest first.

    The audit trail knows it all, but keeps it for some years only: the last decision and the last documents are in the
    application too.
    """
    moments = [
        *((act.at, _describe_act(act), act.actor_name or "") for act in acts),
        (row["created_at"], gettext("Applied"), ""),
        *_list_forgotten(row, acts),
        (row["paid_at"], gettext("The fee was paid"), ""),
        (row["waived_at"], gettext("The fee was waived"), ""),
        (row["refunded_at"], gettext("The fee was sent back"), ""),
        (row["activated_at"], gettext("Takes part"), ""),
    ]
    return sorted(((moment, text, name) for moment, text, name in moments if moment is not None), reverse=True)


def find_acceptors(acts: Sequence[Act]) -> dict[str, str | None]:
    """Who accepted the document of each kind last, as far as the acts say so; they are the newest first."""
    return {
        kind: act.actor_name
        for act in reversed(acts)
        if act.action == Action.DOCUMENTS_ACCEPTED
        for kind in act.data.get("kinds", ())
    }


def _describe_act(act: Act) -> str:
    if act.action not in (Action.DOCUMENTS_ASKED_AGAIN, Action.DOCUMENTS_ACCEPTED):
        return str(ACT_LABELS[act.action])
    names = ", ".join(gettext(LABELS[kind]) for kind in act.data.get("kinds", ()) if kind in LABELS)
    if act.action == Action.DOCUMENTS_ACCEPTED:
        return gettext("Accepted: %(document)s", document=names)
    return gettext("Asked again: %(document)s", document=names)


def _list_forgotten(row: ApplicationRecord, acts: Sequence[Act]) -> list[tuple[datetime | None, str, str]]:
    """The last decision and the last documents, if the audit trail does not have them any more."""
    kept = {act.action for act in acts}
    moments = []
    decision = {APPROVED: Action.APPLICATION_APPROVED, DECLINED: Action.APPLICATION_DECLINED}.get(row["decision"])
    if decision is not None and decision not in kept:
        moments.append((row["decided_at"], str(ACT_LABELS[decision]), ""))
    if Action.DOCUMENTS_SUBMITTED not in kept:
        moments.append((row["documents_submitted_at"], str(ACT_LABELS[Action.DOCUMENTS_SUBMITTED]), ""))
    return moments
