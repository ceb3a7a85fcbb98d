"""The merchant directory: the public list in which organisers search for merchants to invite."""

from sqlalchemy import (
    ColumnElement,
    ScalarSelect,
    String,
    TextClause,
    case,
    cast,
    exists,
    false,
    func,
    select,
    text,
    true,
)
from sqlalchemy.dialects.postgresql import ARRAY

from app.accounts.caller import Caller
from app.accounts.models import Account
from app.core.db import db
from app.core.errors import NotFound
from app.core.text_normalization import folded_sql
from app.events.models import Event
from app.events.queries import owned
from app.events.search_words import prefix_query, words_of
from app.invitations.models import EventInvite, Participation
from app.invitations.queries import ListQuery
from app.invitations.sql import invite_status_sql
from app.merchants.models import MerchantProfile
from app.merchants.queries import is_active_sql

MAX_SORTED_MATCHES = 1000
DIRECTORY_SORTS: dict[str, ColumnElement[str]] = {"businessName": MerchantProfile.name_key.expression}


def list_directory_query(
    caller: Caller, event_id: str, *, q: str | None = None, category: str | None = None, city: str | None = None
) -> ListQuery:
    """Merchants who can be invited: active and verified, public data only. Raises NotFound for the event."""
    if db.session.scalar(select(Event.id).where(Event.id == event_id, owned(caller))) is None:
        raise NotFound()
    statement = (
        select(
            MerchantProfile.account_id.label("id"),
            MerchantProfile.business_name,
            MerchantProfile.stall_name,
            MerchantProfile.category,
            MerchantProfile.city,
            _latest_invite_status_sql(event_id).label("invite_status"),
            _takes_part_sql(event_id).label("takes_part"),
        )
        .join(Account, Account.id == MerchantProfile.account_id)
        .where(Account.email_verified_at.is_not(None), is_active_sql())
    )
    if city is not None:
        statement = statement.where(MerchantProfile.city_key == _folded_param_sql("city")).params(city=city)
    if category is not None:
        statement = statement.where(MerchantProfile.category_key == _folded_param_sql("category")).params(
            category=category
        )
    search_words = words_of(q) if q else []
    return statement.where(_search_sql(prefix_query(search_words))) if search_words else statement


def _search_sql(query: str) -> ColumnElement[bool]:
    """The condition for a full-text search.

    PostgreSQL cannot tell rare prefixes from common ones, so the matches are counted first. Up to MAX_SORTED_MATCHES
    are fetched by id and sorted. With more, walking the sort order finds the next page soon, without the search index.
    """
    tsquery = func.to_tsquery("simple", query)
    matches_query = (
        select(MerchantProfile.account_id).where(MerchantProfile.search.op("@@")(tsquery)).limit(MAX_SORTED_MATCHES + 1)
    )
    ids = db.session.scalars(matches_query).all()
    if len(ids) <= MAX_SORTED_MATCHES:
        return MerchantProfile.account_id == func.any(cast(ids, ARRAY(String)))
    return case((MerchantProfile.search.op("@@")(tsquery), true()), else_=false())


def _latest_invite_status_sql(event_id: str) -> ScalarSelect[str]:
    statement = (
        select(invite_status_sql())
        .join(Event, Event.id == EventInvite.event_id)
        .where(EventInvite.event_id == event_id, EventInvite.merchant_id == MerchantProfile.account_id)
        .order_by(EventInvite.id.desc())
        .limit(1)
    )
    return statement.correlate(MerchantProfile).scalar_subquery()


def _takes_part_sql(event_id: str) -> ColumnElement[bool]:
    return (
        exists()
        .where(Participation.merchant_id == MerchantProfile.account_id, Participation.event_id == event_id)
        .correlate(MerchantProfile)
    )


def _folded_param_sql(param: str) -> TextClause:
    """A parameter in the form of the folded key columns; PostgreSQL folds it once per statement."""
    return text(folded_sql(f"CAST(:{param} AS text)"))
