"""The same on the pages: each page, and what its form sends."""

from collections.abc import Callable
from io import BytesIO

from app.applications.documents import KINDS
from tests.ceiling.cases import Ask, case
from tests.ceiling.of_links import UNKNOWN
from tests.factories.accounts import PASSWORD, create_account
from tests.factories.applications import (
    CODE,
    EMAIL,
    PDF,
    create_approved_application,
    create_ready_application,
    find_mailed_token,
    submit_documents,
)
from tests.factories.events import create_event, create_organiser_client
from tests.factories.merchants import create_merchant_account, invite_merchants
from tests.http import Client, data
from tests.pages.pages import Visitor


@case("GET /documents/<token>")
def the_documents_page(client: Client) -> Ask:
    visitor, path = _documents(client)
    return lambda: visitor.flask.get(path)


@case("GET /documents/<token>", 404)
def the_page_of_an_unknown_link(client: Client) -> Ask:
    return lambda: client.flask.get(f"/documents/{UNKNOWN}")


@case("GET /documents/<token>")
def the_documents_page_when_all_is_handed_in(client: Client) -> Ask:
    visitor, path = _documents(client)
    submit_documents(client, path.rpartition("/")[2])
    return lambda: visitor.flask.get(path)


@case("POST /documents/<token>", 303)
def sending_four_documents(client: Client) -> Ask:
    visitor, _ = _documents(client)
    return lambda: visitor.press(**{kind: (BytesIO(PDF), f"{kind}.pdf") for kind in KINDS})


@case("POST /documents/<token>", 422)
def sending_too_little(client: Client) -> Ask:
    visitor, _ = _documents(client)
    return lambda: visitor.press(identity=(BytesIO(PDF), "identity.pdf"))


@case("GET /pay/<token>")
def the_page_of_the_fee(client: Client) -> Ask:
    visitor, path = _fee(client)
    return lambda: visitor.flask.get(path)


@case("GET /pay/<token>/invoice")
def the_invoice_of_the_fee(client: Client) -> Ask:
    visitor, path = _fee(client)
    return lambda: visitor.flask.get(f"{path}/invoice")


@case("GET /pay/<token>/billing")
def the_details_on_the_invoice(client: Client) -> Ask:
    visitor, path = _fee(client)
    return lambda: visitor.flask.get(f"{path}/billing")


@case("POST /pay/<token>/billing", 303)
def changing_the_details_on_the_invoice(client: Client) -> Ask:
    visitor, path = _fee(client)
    visitor.open(f"{path}/billing")
    return lambda: visitor.press(billingAddress="Stand 14, Soweto Market")


@case("POST /pay/<token>", 303)
def having_a_code_sent(client: Client) -> Ask:
    visitor, _ = _fee(client)
    return lambda: visitor.press()


@case("POST /pay/<token>/code", 303)
def paying(client: Client) -> Ask:
    visitor, _ = _fee(client)
    visitor.send()
    return lambda: visitor.press(code=CODE)


@case("POST /pay/<token>/code", 422)
def paying_with_a_wrong_code(client: Client) -> Ask:
    visitor, _ = _fee(client)
    visitor.send()
    return lambda: visitor.press(code="000000")


@case("GET /activate/<token>")
def the_page_of_an_activation(client: Client) -> Ask:
    visitor, path = _activation(client)
    return lambda: visitor.flask.get(path)


@case("POST /activate/<token>", 303)
def opening_an_account(client: Client) -> Ask:
    visitor, _ = _activation(client)
    return lambda: visitor.press(password="charcoal and a canvas roof")


@case("POST /activate/<token>", 303)
def opening_a_stall_with_ones_own_account(client: Client) -> Ask:
    create_account("customer", email=EMAIL)
    visitor, _ = _activation(client)
    return lambda: visitor.press(password=PASSWORD)


@case("POST /activate/<token>", 422)
def a_password_that_is_wrong(client: Client) -> Ask:
    create_account("customer", email=EMAIL)
    visitor, _ = _activation(client)
    return lambda: visitor.press(password="charcoal and a canvas roof")


@case("GET /activate/<token>", 410)
def a_page_that_is_dead(client: Client) -> Ask:
    visitor, path = _activation(client)
    visitor.press(password="charcoal and a canvas roof")
    return lambda: visitor.flask.get(path)


@case("GET /activate/done")
def the_page_after_it(client: Client) -> Ask:
    visitor, _ = _activation(client)
    visitor.press(password="charcoal and a canvas roof")
    return lambda: visitor.flask.get("/activate/done")


@case("GET /merchant-invite/<slug>")
def the_page_of_a_link(client: Client) -> Ask:
    owner = create_organiser_client(client)
    made = data(owner.post(f"/api/events/{create_event(owner)['id']}/merchant-invite", {}), 201)
    return lambda: client.flask.get(f"/merchant-invite/{made['slug']}")


@case("GET /merchant-invite/<slug>")
def the_page_of_ones_own_invitation(client: Client) -> Ask:
    owner, who = create_organiser_client(client), create_merchant_account()
    invite_merchants(owner, create_event(owner)["id"], who)
    slug = find_mailed_token("merchant-invite", who.email)
    return lambda: client.flask.get(f"/merchant-invite/{slug}")


@case("POST /merchant-invite/<slug>", 303)
def sending_the_form_of_a_link(client: Client) -> Ask:
    visitor = _mailed_link(client)
    return lambda: visitor.press(contactName="Tuli Hamutenya", businessName="Kapana Corner", destination="bank")


@case("POST /merchant-invite/<slug>", 303)
def saving_the_form_of_a_link(client: Client) -> Ask:
    visitor = _mailed_link(client)
    return lambda: visitor.press(later="1")


@case("POST /merchant-invite/<slug>/decline", 303)
def declining_a_link(client: Client) -> Ask:
    visitor = _mailed_link(client)
    return lambda: visitor.press(form=1)


def _mailed_link(client: Client) -> Visitor:
    owner = create_organiser_client(client)
    path = f"/api/events/{create_event(owner)['id']}/merchant-invite"
    slug = data(owner.post(path, {"email": "stall@example.com"}), 201)["slug"]
    return _opened(client, f"/merchant-invite/{slug}")[0]


@case("POST /merchant-invite/<slug>/answer", 303)
def accepting_on_the_page(client: Client) -> Ask:
    owner, merchant = create_organiser_client(client), create_merchant_account()
    invite_merchants(owner, create_event(owner)["id"], merchant)
    visitor, _ = _opened(client, "/sign-in")
    visitor.send(email=merchant.email, password=PASSWORD)
    visitor.open(f"/merchant-invite/{find_mailed_token('merchant-invite', merchant.email)}")
    return lambda: visitor.press(form=1, status="accepted")


def _documents(client: Client) -> tuple[Visitor, str]:
    create_approved_application(client, create_organiser_client(client))
    return _opened(client, f"/documents/{find_mailed_token('documents')}")


def _fee(client: Client) -> tuple[Visitor, str]:
    create_approved_application(client, create_organiser_client(client), documentsRequired=[])
    return _opened(client, f"/pay/{find_mailed_token('pay')}")


def _activation(client: Client) -> tuple[Visitor, str]:
    return _opened(client, f"/activate/{create_ready_application(client, create_organiser_client(client))}")


def _opened(client: Client, path: str) -> tuple[Visitor, str]:
    visitor = Visitor(client.flask.application.test_client())
    visitor.open(path)
    return visitor, path


def _fresh(client: Client, page: str) -> tuple[Visitor, str, str]:
    """A dead link's form; any link that was given out may ask, so a living one does as well."""
    visitor, path = {"documents": _documents, "pay": _fee, "activate": _activation}[page](client)
    return visitor, path, visitor.forms[0].fields["csrf_token"]


def _asking(page: str) -> Callable[[Client], Ask]:
    def asking(client: Client) -> Ask:
        visitor, path, token = _fresh(client, page)
        return lambda: visitor.flask.post(f"{path}/fresh", data={"csrf_token": token})

    asking.__name__ = f"asking_for_a_fresh_link_to_{page}"
    return asking


def _asked(page: str) -> Callable[[Client], Ask]:
    def asked(client: Client) -> Ask:
        visitor, path, token = _fresh(client, page)
        visitor.flask.post(f"{path}/fresh", data={"csrf_token": token})
        return lambda: visitor.flask.get(f"{path}/sent")

    asked.__name__ = f"having_asked_for_a_fresh_link_to_{page}"
    return asked


for name in ("documents", "pay", "activate"):
    case(f"POST /{name}/<token>/fresh", 303)(_asking(name))
    case(f"GET /{name}/<token>/sent")(_asked(name))
