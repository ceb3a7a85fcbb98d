"""Activating an account over HTTP."""

import re
from typing import Any
from urllib.parse import quote

import pytest
from sqlalchemy import text

from app.accounts import passwords
from app.accounts.queries import find_account_by_email
from app.core.transaction import transaction
from tests.factories.accounts import PASSWORD, account, customer, mails_to, sign_in, signed_in
from tests.factories.applications import EMAIL, LIST, activation, applied, body, decided, link, ready
from tests.factories.events import organiser, published
from tests.http import Client, data, problems, refusal

PATH = "/api/merchant-activation"
ELSEWHERE = [
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


@pytest.mark.parametrize("path", ELSEWHERE)
def test_a_path_that_leads_elsewhere_is_refused(client: Client, path: str) -> None:
    answer = client.post(f"{PATH}/unknown", activation(path=path))
    assert set(problems(answer)) == {"path"} and "Location" not in answer.headers
    if path and path.isprintable() and path.isascii():
        assert client.get(f"{PATH}/unknown?path={quote(path)}").status_code == 422


@pytest.mark.parametrize("path", ["/", "/merchants/start", "/a/b?c=d&e=f", "/stall#today", "/caf%C3%A9", "/a%20b"])
def test_a_path_of_this_site_is_taken_and_given_back(client: Client, path: str) -> None:
    token = ready(client, organiser(client))
    assert data(client.post(f"{PATH}/{token}", activation(path=path)))["path"] == path


def test_what_is_missing_or_wrong_is_told_at_once(client: Client) -> None:
    wrong = {"name": "T", "password": "short", "confirmPassword": "other", "path": "//x", "roles": ["admin"]}
    assert problems(client.post(f"{PATH}/unknown", wrong)) == {
        "name": "too_short",
        "password": "too_short",
        "confirmPassword": "too_short",
        "message": "required",
        "path": "unsafe_path",
        "roles": "unknown_field",
    }
    differing = activation(confirmPassword="something else")
    assert problems(client.post(f"{PATH}/unknown", differing)) == {"confirmPassword": "mismatch"}
    assert refusal(client.post(f"{PATH}/unknown", activation())) == (404, "NOT_FOUND")


def test_the_address_is_proven_by_the_mailed_link_and_not_by_one_handed_over(client: Client) -> None:
    owner = organiser(client)
    data(client.post(f"{PATH}/{ready(client, owner)}", activation()))
    assert sign_in_me(client, EMAIL)["emailVerified"] is True

    made = applied(client, owner, email="petrus@example.com", amountMinor=0)
    decided(owner, made, documentsRequired=[])
    url = data(owner.post(f"{LIST}/{made['id']}/links", {"purpose": "activation"}), 201)["url"]
    data(client.post(f"{PATH}/{url.rpartition('/')[2]}", activation()))
    assert sign_in_me(client, "petrus@example.com")["emailVerified"] is False


def sign_in_me(client: Client, email: str) -> dict[str, object]:
    token = sign_in(client, email, activation()["password"])["accessToken"]
    return data(client.as_(token).get("/api/auth/me"))


def test_an_account_that_is_there_is_linked_with_its_own_password_alone(client: Client) -> None:
    owner = customer(email=EMAIL, name="Tuli the First")
    token = ready(client, organiser(client))
    wrong = client.post(f"{PATH}/{token}", activation())
    assert refusal(wrong) == (422, "CURRENT_PASSWORD_WRONG")
    done = data(client.post(f"{PATH}/{token}", activation(password=PASSWORD)))
    assert (done["user"]["id"], done["user"]["name"]) == (owner.id, "Tuli the First")
    assert done["user"]["roles"] == ["customer", "merchant"]
    me = data(client.as_(done["accessToken"]).get("/api/auth/me"))
    assert me["merchant"]["businessName"] == "Kapana Corner"


@pytest.mark.parametrize("handed_over", [False, True])
def test_an_unverified_account_does_not_hold_the_address(client: Client, handed_over: bool) -> None:
    """Anybody can register the address of an applicant, who gets in all the same, and the other account is retired."""
    squatter = account("organiser", email=EMAIL, verified=False, name="Mallory")
    session = signed_in(client, squatter)
    owner = organiser(client)
    token = ready(client, owner)
    if handed_over:
        (application,) = data(owner.get(LIST))["applications"]
        url = data(owner.post(f"{LIST}/{application['id']}/links", {"purpose": "activation"}), 201)["url"]
        token = url.rpartition("/")[2]
    done = data(client.post(f"{PATH}/{token}", activation()))
    assert done["user"]["id"] != squatter.id and done["user"]["roles"] == ["merchant"]
    assert sign_in_me(client, EMAIL)["emailVerified"] is not handed_over
    assert refusal(session.get("/api/auth/me")) == (401, "SESSION_ENDED")
    answer = client.post("/api/auth/login", {"email": EMAIL, "password": PASSWORD})
    assert refusal(answer) == (401, "INVALID_CREDENTIALS")


def test_an_unverified_account_is_linked_with_its_password(client: Client) -> None:
    who = account("customer", email=EMAIL, verified=False)
    done = data(client.post(f"{PATH}/{ready(client, organiser(client))}", activation(password=PASSWORD)))
    assert done["user"]["id"] == who.id and done["user"]["roles"] == ["customer", "merchant"]


def test_an_unverified_admin_is_not_replaced_by_an_activation(client: Client) -> None:
    account("admin", email=EMAIL, verified=False)
    answer = client.post(f"{PATH}/{ready(client, organiser(client))}", activation())
    assert refusal(answer) == (422, "CURRENT_PASSWORD_WRONG")


def test_a_link_says_the_same_with_and_without_an_account(client: Client) -> None:
    """The organiser can look at the link as well: it shows what the application says, and no name of an account."""
    token = ready(client, organiser(client))
    path = f"{PATH}/{token}"
    shown, page = data(client.get(path)), visible(client, token)
    customer(email=EMAIL, name="The Real Name")
    assert (data(client.get(path)), visible(client, token)) == (shown, page)
    assert (shown["email"], shown["name"], "existingAccount" in shown) == (EMAIL, "Tuli Hamutenya", False)


def visible(client: Client, token: str) -> str:
    """The page of the link, without what changes with each visit."""
    return re.sub(r'name="csrf[^>]*>|nonce-[^"]*', "", client.get(f"/activate/{token}").get_data(as_text=True))


@pytest.mark.parametrize("has_account", [True, False])
def test_failed_sign_ins_of_the_address_hold_an_activation_up_alike(client: Client, has_account: bool) -> None:
    if has_account:
        customer(email=EMAIL)
    token = ready(client, organiser(client))
    for _ in range(10):
        client.post("/api/auth/login", {"email": EMAIL, "password": "a wrong password"})
    assert refusal(client.post(f"{PATH}/{token}", activation(password=PASSWORD))) == (429, "RATE_LIMITED")


@pytest.mark.parametrize("has_account", [True, False])
def test_both_spend_one_hash_on_the_password(
    client: Client, has_account: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if has_account:
        customer(email=EMAIL)
    token = ready(client, organiser(client))
    spent: list[str] = []
    do = passwords._hash_executor.run

    def counted(call: Any, *given: str) -> Any:
        spent.append(call.__name__)
        return do(call, *given)

    monkeypatch.setattr(passwords._hash_executor, "run", counted)
    data(client.post(f"{PATH}/{token}", activation(password=PASSWORD, confirmPassword=PASSWORD)))
    assert len(spent) == 1


def test_guessing_the_password_of_an_account_is_counted_as_signing_in_is(client: Client) -> None:
    customer(email=EMAIL)
    token = ready(client, organiser(client))
    for _ in range(10):
        client.post(f"{PATH}/{token}", activation())
    assert refusal(client.post(f"{PATH}/{token}", activation(password=PASSWORD))) == (429, "RATE_LIMITED")


def test_an_application_of_a_merchant_belongs_to_his_account_whatever_address_it_names(client: Client) -> None:
    who = account("merchant")
    owner = organiser(client)
    applied_as = body(eventId=published(owner)["id"], amountMinor=0, email="office@example.com")
    made = data(signed_in(client, who).post(LIST, applied_as), 201)
    decided(owner, made, documentsRequired=[])
    token = link("activate", "office@example.com")
    done = data(client.post(f"{PATH}/{token}", activation(password=PASSWORD)))
    assert done["user"]["id"] == who.id and find_account_by_email("office@example.com") is None


def test_the_organiser_reads_the_message_and_cannot_be_fooled_by_it(client: Client) -> None:
    owner = account("organiser", email="nangula@example.com")
    token = ready(client, signed_in(client, owner))
    words = "See you at gate B.\n<b>Bring</b> a key.\nSubject: nothing"
    data(client.post(f"{PATH}/{token}", activation(message=words)))
    mail = mails_to("nangula@example.com")[0]
    assert mail["subject"].endswith("Kapana Corner is ready")
    assert "> <b>Bring</b> a key." in mail["text"] and "&lt;b&gt;Bring&lt;/b&gt;" in mail["html"]


def test_a_link_that_has_had_its_time_opens_nothing(client: Client) -> None:
    token = ready(client, organiser(client))
    with transaction() as session:
        session.execute(text("UPDATE application_link SET expires_at = now()"))
    for answer in (client.get(f"{PATH}/{token}"), client.post(f"{PATH}/{token}", activation())):
        assert refusal(answer) == (410, "LINK_EXPIRED")
    assert find_account_by_email(EMAIL) is None


@pytest.mark.parametrize("content_type", ["application/x-www-form-urlencoded", "text/plain", "multipart/form-data"])
def test_no_form_of_another_site_activates(client: Client, content_type: str) -> None:
    token = ready(client, organiser(client))
    answer = client.post(f"{PATH}/{token}", data=b"name=T", content_type=content_type)
    assert refusal(answer) == (415, "UNSUPPORTED_MEDIA_TYPE")


def test_no_token_password_or_code_is_logged(client: Client, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    token = ready(client, organiser(client))
    client.get(f"{PATH}/{token}x")
    client.get(f"/activate/{token}")
    data(client.post(f"{PATH}/{token}", activation()))
    for secret in (token, activation()["password"]):
        assert secret not in caplog.text
