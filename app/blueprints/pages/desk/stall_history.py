"""The history on the page of an application."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any

from app.applications.documents import LABELS
from app.applications.history import Act
from app.applications.queries import ApplicationRecord
from app.applications.states import APPROVED, BY_RAIL, BY_TRANSFER, DECLINED
from app.audit.actions import Action
from app.core.formatting import format_calendar_day, format_money
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
FEE_LABELS = {
    (Action.STALL_FEE_RECEIVED, None): lazy_gettext("Fee received by transfer"),
    (Action.STALL_FEE_PAID, None): lazy_gettext("Fee paid by wallet"),
    (Action.STALL_FEE_WAIVED, None): lazy_gettext("Fee waived"),
    (Action.STALL_FEE_REFUNDED, BY_TRANSFER): lazy_gettext("Fee sent back by transfer"),
    (Action.STALL_FEE_REFUNDED, BY_RAIL): lazy_gettext("Fee to be sent back to the wallet"),
}
"""By the action and the way back."""


def list_history(row: ApplicationRecord, acts: Sequence[Act], *, with_texts: bool) -> list[tuple[datetime, str, str]]:
    """What happened to an application, of which these are acts, and who did it if that is known, the newest first.

    The audit trail knows it all, but keeps it for some years only: the last decision, the last documents and what became of
    the fee are in the application too. `with_texts` adds the texts of transfers and the reasons to acts on the fee.
    """
    moments = [
        *((act.at, _describe_act(act, with_texts=with_texts), act.actor_name or "") for act in acts),
        (row["created_at"], gettext("Applied"), ""),
        *_list_forgotten(row, acts),
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


def _describe_act(act: Act, *, with_texts: bool) -> str:
    if (label := FEE_LABELS.get((act.action, act.data.get("method")))) is not None:
        return f"{label}: {_describe_fee_act(act.data, with_texts=with_texts)}"
    if act.action not in (Action.DOCUMENTS_ASKED_AGAIN, Action.DOCUMENTS_ACCEPTED):
        return str(ACT_LABELS[act.action])
    names = ", ".join(gettext(LABELS[kind]) for kind in act.data.get("kinds", ()) if kind in LABELS)
    if act.action == Action.DOCUMENTS_ACCEPTED:
        return gettext("Accepted: %(document)s", document=names)
    return gettext("Asked again: %(document)s", document=names)


def _describe_fee_act(data: Mapping[str, Any], *, with_texts: bool) -> str:
    """The amount, the day of the transfer, its text and the reason."""
    details = [format_money(data["amountMinor"])]
    if data.get("receivedOn"):
        details.append(format_calendar_day(date.fromisoformat(data["receivedOn"])))
    if with_texts and data.get("reference"):
        details.append(f"“{data['reference']}”")
    if with_texts and data.get("reason"):
        details.append(data["reason"])
    return ", ".join(details)


def _list_forgotten(row: ApplicationRecord, acts: Sequence[Act]) -> list[tuple[datetime | None, str, str]]:
    """The last decision, the last documents and what became of the fee, if the audit trail does not have them any more.

    A fee that goes back to a wallet is asked for first, which is in the trail, and has gone back later.
    """
    kept = {act.action for act in acts}
    moments = []
    decision = {APPROVED: Action.APPLICATION_APPROVED, DECLINED: Action.APPLICATION_DECLINED}.get(row["decision"])
    if decision is not None and decision not in kept:
        moments.append((row["decided_at"], str(ACT_LABELS[decision]), ""))
    if Action.DOCUMENTS_SUBMITTED not in kept:
        moments.append((row["documents_submitted_at"], str(ACT_LABELS[Action.DOCUMENTS_SUBMITTED]), ""))
    if not kept.intersection((Action.STALL_FEE_RECEIVED, Action.STALL_FEE_PAID)):
        moments.append((row["paid_at"], gettext("The fee was paid"), ""))
    if Action.STALL_FEE_WAIVED not in kept:
        moments.append((row["waived_at"], gettext("The fee was waived"), ""))
    if not any(act.action == Action.STALL_FEE_REFUNDED and act.data["method"] == BY_TRANSFER for act in acts):
        moments.append((row["refunded_at"], gettext("The fee was sent back"), ""))
    return moments
