"""Access: every role and tier on every level of access."""

import pytest

from app.accounts.caller import build_caller
from app.accounts.models import Account
from app.web.access import TIERS, Access
from tests.factories.accounts import create_account, create_customer, create_signed_in_client
from tests.http import Client, data, read_error
from tests.web.shop import LEVELS

ALLOWED = {
    "SIGNED_IN": {"customer", "merchant", "organiser", *TIERS},
    "MERCHANT": {"merchant"},
    "ORGANISER": {"organiser", "admin", "super_admin"},
    "ORGANISER_OR_ANALYST": {"organiser", *TIERS},
    "ORGANISER_OR_SUPPORT": {"organiser", "support", "admin", "super_admin"},
    "ADMIN": {"admin", "super_admin"},
}


@pytest.mark.parametrize("who", ["customer", "merchant", "organiser", *TIERS])
def test_each_role_and_tier_passes_where_the_table_says(client: Client, who: str) -> None:
    made = create_account("admin", admin_tier=who) if who in TIERS else create_account(who)
    caller = create_signed_in_client(client, made)
    for level in LEVELS:
        response = caller.get(f"/t/for/{level}")
        if who in ALLOWED[level]:
            assert data(response)["id"] == made.id
        else:
            assert read_error(response) == (403, "ROLE_NOT_ALLOWED"), (who, level)


def test_refusal_names_the_tiers_that_may_call_and_the_tier_of_the_caller(client: Client) -> None:
    support = create_signed_in_client(client, create_account("admin", admin_tier="support"))
    assert support.get("/t/for/ORGANISER").get_json()["message"] == (
        "Only owners and managers of the organisation, and admins of tier admin or super_admin may do this. "
        "The roles of your account: admin (tier support)."
    )


def test_one_of_several_roles_is_enough(client: Client) -> None:
    both = create_signed_in_client(client, create_account("customer", roles=["customer", "merchant"]))
    data(both.get("/t/for/MERCHANT"))
    assert read_error(both.get("/t/for/ORGANISER"))[0] == 403


def test_an_admin_without_a_tier_is_no_admin() -> None:
    without_tier = build_caller(Account(id="1" * 24, email="", name="", roles=["admin"], version=1))
    assert not LEVELS["ADMIN"].allows(without_tier)


@pytest.mark.parametrize("level", LEVELS)
def test_without_a_token_every_level_is_refused(client: Client, level: str) -> None:
    assert read_error(client.get(f"/t/for/{level}")) == (401, "TOKEN_MISSING")


def test_a_public_operation_ignores_what_is_no_business_of_its(client: Client) -> None:
    assert client.get("/health", headers={"Authorization": "Bearer rubbish"}).status_code == 200


def test_where_a_token_is_optional_it_counts_when_it_comes(client: Client) -> None:
    who = create_customer()
    assert data(client.get("/t/who"))["id"] is None
    assert data(create_signed_in_client(client, who).get("/t/who"))["id"] == who.id
    assert data(client.get("/t/who"))["id"] is None


def test_role_is_checked_before_the_verified_email(client: Client) -> None:
    verified = Access("merchants", roles=frozenset({"merchant"})).with_verified_email()
    assert verified.needs_verified_email and verified.roles == {"merchant"}


def test_a_route_without_access_does_not_import() -> None:
    from app.web.blueprint import Blueprint

    with pytest.raises(TypeError, match="access"):
        Blueprint("bad", __name__).get("/x")
