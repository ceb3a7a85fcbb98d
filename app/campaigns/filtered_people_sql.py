"""The SQL of people whom a filter chooses by their roles: ticket holders, guests, stallholders and applicants.

Each role is a source with the columns `id, email, name, phone`, one row per ticket, place, stall or application. `email` has
the same type in all, so that PostgreSQL looks for a person by the indexes of all sources. The parameters are those of
`build_filter_parameters`; an empty list means no condition. PostgreSQL plans these statements with their values, so a
condition without a value, and a role that is not chosen, cost nothing.

Stallholders are the merchants who take part, and approved applicants with a settled fee who have no account yet.
"""

from collections.abc import Mapping
from typing import Any

from app.allocations.queries import slot_holders_sql
from app.applications.states import AWAITING_DOCUMENTS, ENDED_STATES, READY
from app.applications.states import STATES as APPLICATION_STATES
from app.core.languages import SOURCE_LANGUAGE
from app.events.ticket_holders import ticket_holders_sql

TICKET_HOLDERS, GUESTS, STALLHOLDERS, APPLICANTS = ROLES = ("ticket_holders", "guests", "stallholders", "applicants")
LIST_NAMES = ("roles", "ticket_type_ids", "block_ids", "application_states", "languages")
ROLES_BY_CONDITION = {
    "ticket_type_ids": (TICKET_HOLDERS, GUESTS),
    "admitted": (TICKET_HOLDERS, GUESTS),
    "block_ids": (GUESTS,),
    "application_states": (APPLICANTS,),
}
"""The roles whose people a condition is about. It says nothing about people of other roles."""
WAITING_OR_ACCEPTED = tuple(state for state in APPLICATION_STATES if state not in ENDED_STATES)
"""The states of applicants who are chosen without `application_states`."""
Filter = Mapping[str, Any]
_FEE_IS_SETTLED = f"""a.refunded_at IS NULL AND (a.status = '{READY}' OR a.status = '{AWAITING_DOCUMENTS}'
                        AND (a.amount_minor = 0 OR a.paid_at IS NOT NULL OR a.waived_at IS NOT NULL))"""
"""Of an application `a` that is approved and not activated."""


def build_filter_parameters(chosen: Filter) -> dict[str, object]:
    """The parameters of the sources: lists, and null where there is no condition."""
    lists = {name: list(chosen.get(name) or ()) or None for name in LIST_NAMES}
    lists["application_states"] = lists["application_states"] or list(WAITING_OR_ACCEPTED)
    return {**lists, "admitted": chosen.get("admitted")}


def list_sources(event: str) -> list[str]:
    """SQL of the sources: the people of each chosen role."""
    return [
        f"""{ticket_holders_sql(event)} AND {_has_role(TICKET_HOLDERS)} AND {_is_listed("ticket.ticket_type_id", "ticket_type_ids")}
            AND {_is_admitted("ticket.admitted_at")} AND {_speaks("NULL", "ticket.email")}""",
        f"""{slot_holders_sql(event)} AND {_has_role(GUESTS)} AND {_is_listed("s.ticket_type_id", "ticket_type_ids")}
            AND {_is_listed("s.block_id", "block_ids")} AND {_is_admitted("s.admitted_at")}
            AND {_speaks("s.language", "s.email")}""",
        f"""SELECT stallholder.id, stallholder.email COLLATE "default" AS email, stallholder.name, stallholder.phone
              FROM participation JOIN account stallholder ON stallholder.id = participation.merchant_id
             WHERE participation.event_id = {event} AND {_has_role(STALLHOLDERS)}
               AND {_speaks("stallholder.language", "stallholder.email")}""",
        f"""SELECT a.id, a.email COLLATE "default" AS email, a.contact_name AS name, a.phone
              FROM merchant_application a
             WHERE a.event_id = {event} AND a.erased_at IS NULL AND {_speaks("a.language", "a.email")}
               AND ({_has_role(APPLICANTS)} AND {_is_listed("a.status", "application_states")}
                    OR {_has_role(STALLHOLDERS)} AND {_FEE_IS_SETTLED})""",
    ]


def _has_role(role: str) -> str:
    return f"'{role}' = ANY(CAST(:roles AS text[]))"


def _is_listed(column: str, name: str) -> str:
    return f"(CAST(:{name} AS text[]) IS NULL OR {column} = ANY(CAST(:{name} AS text[])))"


def _is_admitted(column: str) -> str:
    return f"(CAST(:admitted AS boolean) IS NULL OR ({column} IS NOT NULL) = CAST(:admitted AS boolean))"


def _speaks(own_language: str, email: str) -> str:
    """SQL: whether the person reads one of `languages`: the language of the row, else of their account, else English."""
    account_language = f"""(SELECT speaker.language FROM account speaker
                             WHERE speaker.email = {email} AND speaker.email_verified_at IS NOT NULL)"""
    return _is_listed(f"coalesce({own_language}, {account_language}, '{SOURCE_LANGUAGE}')", "languages")
