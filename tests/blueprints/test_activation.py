"""Activation of an account over HTTP."""

import re
from typing import Any
from urllib.parse import quote

import pytest
from sqlalchemy import text

from app.accounts import authentication
from app.accounts.queries import find_account_by_email
from app.core.transaction import transaction
from tests.factories.accounts import (
    PASSWORD,
    create_account,
    create_customer,
    create_signed_in_client,
    list_mails_to,
    sign_in,
)
from tests.factories.applications import (
    EMAIL,
    LIST,
    build_activation_body,
    build_application_body,
    create_application,
    create_ready_application,
    decide_application,
    find_mailed_token,
)
from tests.factories.events import create_organiser_client, create_published_event
from tests.http import Client, data, list_problems, read_error

PATH = "/api/merchant-activation"
UNSAFE_PATHS = [
    "//evil.example",
    "///evil.example",
    "////evil.example",
    "/\\evil.example",
    "\\evil.example",
    "\\\\evil.example",
    "https://evil.example",
    "https:evil.example",
    "http:/evil.example",
    "javascript:alert(1)",
    "data:text/html,x",
    "evil.example",
    "",
    " /ok",
    "/ok ",
    "/%2fevil.example",
    "%2f%2fevil.example",
    "/%5cevil.example",
    "/%09/evil.example",
    "/\t/evil.example",
    "/\n/evil.example",
    "/%0d%0aLocation:evil",
    "/%252fevil.example",
    "/ok//evil.example",
    "/@evil.example",
    "//user@evil.example",
    "/user:pw@evil.example",
    "/ok?next=//evil.example",
    "/\u2028/evil.example",
    "/／evil.example",
    "/" + "x" * 512,
    "/ok\x00",
    "?next=/ok",
    "#/ok",
    "./ok",
    "../ok",
]


@pytest.mark.parametrize("path", UNSAFE_PATHS)
def test_path_to_another_site_is_refused(client: Client, path: str) -> None:
    response = client.post(f"{PATH}/unknown", build_activation_body(path=path))
    assert set(list_problems(response)) == {"path"} and "Location" not in response.headers
    if path and path.isprintable() and path.isascii():
        assert client.get(f"{PATH}/unknown?path={quote(path)}").status_code == 422


@pytest.mark.parametrize("path", ["/", "/merchants/start", "/a/b?c=d&e=f", "/stall#today", "/caf%C3%A9", "/a%20b"])
def test_path_of_this_site_is_accepted_and_returned(client: Client, path: str) -> None:
    token = create_ready_application(client, create_organiser_client(client))
    assert data(client.post(f"{PATH}/{token}", build_activation_body(path=path)))["path"] == path


def test_all_invalid_fields_are_reported_together(client: Client) -> None:
    invalid_body = {"name": "T", "password": "short", "confirmPassword": "other", "path": "//x", "roles": ["admin"]}
    assert list_problems(client.post(f"{PATH}/unknown", invalid_body)) == {
        "name": "too_short",
        "password": "too_short",
        "confirmPassword": "too_short",
        "message": "required",
        "path": "unsafe_path",
        "roles": "unknown_field",
    }
    mismatched_body = build_activation_body(confirmPassword="something else")
    assert list_problems(client.post(f"{PATH}/unknown", mismatched_body)) == {"confirmPassword": "mismatch"}
    assert read_error(client.post(f"{PATH}/unknown", build_activation_body())) == (404, "NOT_FOUND")


def test_only_a_mailed_link_verifies_the_email(client: Client) -> None:
    owner = create_organiser_client(client)
    data(client.post(f"{PATH}/{create_ready_application(client, owner)}", build_activation_body()))
    assert read_account(client, EMAIL)["emailVerified"] is True

    application = create_application(client, owner, email="petrus@example.com", amountMinor=0)
    decide_application(owner, application, documentsRequired=[])
    url = data(owner.post(f"{LIST}/{application['id']}/links", {"purpose": "activation"}), 201)["url"]
    data(client.post(f"{PATH}/{url.rpartition('/')[2]}", build_activation_body()))
    assert read_account(client, "petrus@example.com")["emailVerified"] is False


def read_account(client: Client, email: str) -> dict[str, object]:
    token = sign_in(client, email, build_activation_body()["password"])["accessToken"]
    return data(client.as_(token).get("/api/auth/me"))


def test_existing_account_is_linked_only_with_its_own_password(client: Client) -> None:
    owner = create_customer(email=EMAIL, name="Tuli the First")
    token = create_ready_application(client, create_organiser_client(client))
    invalid_body = client.post(f"{PATH}/{token}", build_activation_body())
    assert read_error(invalid_body) == (422, "CURRENT_PASSWORD_WRONG")
    activated = data(client.post(f"{PATH}/{token}", build_activation_body(password=PASSWORD)))
    assert (activated["user"]["id"], activated["user"]["name"]) == (owner.id, "Tuli the First")
    assert activated["user"]["roles"] == ["customer", "merchant"]
    me = data(client.as_(activated["accessToken"]).get("/api/auth/me"))
    assert me["merchant"]["businessName"] == "Kapana Corner"


@pytest.mark.parametrize("is_shown_to_organiser", [False, True])
def test_unverified_account_with_the_same_email_is_retired(client: Client, is_shown_to_organiser: bool) -> None:
    """Anybody can register an applicant's email. The applicant can still activate, and the other account is retired."""
    squatter = create_account("organiser", email=EMAIL, verified=False, name="Mallory")
    session = create_signed_in_client(client, squatter)
    owner = create_organiser_client(client)
    token = create_ready_application(client, owner)
    if is_shown_to_organiser:
        (application,) = data(owner.get(LIST))["applications"]
        url = data(owner.post(f"{LIST}/{application['id']}/links", {"purpose": "activation"}), 201)["url"]
        token = url.rpartition("/")[2]
    activated = data(client.post(f"{PATH}/{token}", build_activation_body()))
    assert activated["user"]["id"] != squatter.id and activated["user"]["roles"] == ["merchant"]
    assert read_account(client, EMAIL)["emailVerified"] is not is_shown_to_organiser
    assert read_error(session.get("/api/auth/me")) == (401, "SESSION_ENDED")
    response = client.post("/api/auth/login", {"email": EMAIL, "password": PASSWORD})
    assert read_error(response) == (401, "INVALID_CREDENTIALS")


def test_unverified_account_is_linked_with_its_password(client: Client) -> None:
    existing_account = create_account("customer", email=EMAIL, verified=False)
    activated = data(
        client.post(
            f"{PATH}/{create_ready_application(client, create_organiser_client(client))}",
            build_activation_body(password=PASSWORD),
        )
    )
    assert activated["user"]["id"] == existing_account.id and activated["user"]["roles"] == ["customer", "merchant"]


def test_unverified_admin_is_not_replaced_by_an_activation(client: Client) -> None:
    create_account("admin", email=EMAIL, verified=False)
    response = client.post(
        f"{PATH}/{create_ready_application(client, create_organiser_client(client))}", build_activation_body()
    )
    assert read_error(response) == (422, "CURRENT_PASSWORD_WRONG")


def test_link_shows_the_same_with_and_without_an_account(client: Client) -> None:
    """The organiser may have the link too, so it shows the data of the application, not those of an account."""
    token = create_ready_application(client, create_organiser_client(client))
    path = f"{PATH}/{token}"
    activation_data, page = data(client.get(path)), read_page(client, token)
    create_customer(email=EMAIL, name="The Real Name")
    assert (data(client.get(path)), read_page(client, token)) == (activation_data, page)
    assert (activation_data["email"], activation_data["name"], "existingAccount" in activation_data) == (
        EMAIL,
        "Tuli Hamutenya",
        False,
    )


def read_page(client: Client, token: str) -> str:
    """The page of the link without its tokens and nonces."""
    return re.sub(r'name="csrf[^>]*>|nonce-[^"]*', "", client.get(f"/activate/{token}").get_data(as_text=True))


@pytest.mark.parametrize("has_account", [True, False])
def test_failed_sign_ins_block_an_activation_with_and_without_an_account(client: Client, has_account: bool) -> None:
    if has_account:
        create_customer(email=EMAIL)
    token = create_ready_application(client, create_organiser_client(client))
    for _ in range(10):
        client.post("/api/auth/login", {"email": EMAIL, "password": "a wrong password"})
    assert read_error(client.post(f"{PATH}/{token}", build_activation_body(password=PASSWORD))) == (429, "RATE_LIMITED")


@pytest.mark.parametrize("has_account", [True, False])
def test_activation_hashes_once_with_and_without_an_account(
    client: Client, has_account: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if has_account:
        create_customer(email=EMAIL)
    token = create_ready_application(client, create_organiser_client(client))
    hash_calls: list[str] = []
    run_hash = authentication._hash_executor.run

    def count_call(call: Any, *arguments: str) -> Any:
        hash_calls.append(call.__name__)
        return run_hash(call, *arguments)

    monkeypatch.setattr(authentication._hash_executor, "run", count_call)
    data(client.post(f"{PATH}/{token}", build_activation_body(password=PASSWORD, confirmPassword=PASSWORD)))
    assert len(hash_calls) == 1


def test_wrong_passwords_count_as_failed_sign_ins(client: Client) -> None:
    create_customer(email=EMAIL)
    token = create_ready_application(client, create_organiser_client(client))
    for _ in range(10):
        client.post(f"{PATH}/{token}", build_activation_body())
    assert read_error(client.post(f"{PATH}/{token}", build_activation_body(password=PASSWORD))) == (429, "RATE_LIMITED")


def test_application_of_a_signed_in_merchant_belongs_to_their_account(client: Client) -> None:
    existing_account = create_account("merchant", verified=False)
    owner = create_organiser_client(client)
    form = build_application_body(
        eventId=create_published_event(owner)["id"], amountMinor=0, email="office@example.com"
    )
    application = data(create_signed_in_client(client, existing_account).post(LIST, form), 201)
    assert decide_application(owner, application, documentsRequired=[])["status"] == "ready"
    token = find_mailed_token("activate", "office@example.com")
    activated = data(client.post(f"{PATH}/{token}", build_activation_body(password=PASSWORD)))
    assert activated["user"]["id"] == existing_account.id and find_account_by_email("office@example.com") is None


def test_organiser_gets_the_message_as_plain_text(client: Client) -> None:
    owner = create_account("organiser", email="nangula@example.com")
    token = create_ready_application(client, create_signed_in_client(client, owner))
    message = "See you at gate B.\n<b>Bring</b> a key.\nSubject: nothing"
    data(client.post(f"{PATH}/{token}", build_activation_body(message=message)))
    mail = list_mails_to("nangula@example.com")[0]
    assert mail["subject"].endswith("Kapana Corner is ready")
    assert "> <b>Bring</b> a key." in mail["text"] and "&lt;b&gt;Bring&lt;/b&gt;" in mail["html"]


def test_expired_link_opens_no_account(client: Client) -> None:
    token = create_ready_application(client, create_organiser_client(client))
    with transaction() as session:
        session.execute(text("UPDATE application_link SET expires_at = now()"))
    for response in (client.get(f"{PATH}/{token}"), client.post(f"{PATH}/{token}", build_activation_body())):
        assert read_error(response) == (410, "LINK_EXPIRED")
    assert find_account_by_email(EMAIL) is None


@pytest.mark.parametrize("content_type", ["application/x-www-form-urlencoded", "text/plain", "multipart/form-data"])
def test_form_of_another_site_is_refused(client: Client, content_type: str) -> None:
    token = create_ready_application(client, create_organiser_client(client))
    response = client.post(f"{PATH}/{token}", data=b"name=T", content_type=content_type)
    assert read_error(response) == (415, "UNSUPPORTED_MEDIA_TYPE")


def test_no_token_password_or_code_is_logged(client: Client, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    token = create_ready_application(client, create_organiser_client(client))
    client.get(f"{PATH}/{token}x")
    client.get(f"/activate/{token}")
    data(client.post(f"{PATH}/{token}", build_activation_body()))
    for secret in (token, build_activation_body()["password"]):
        assert secret not in caplog.text
