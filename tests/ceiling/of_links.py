"""What the holder of a mailed link does over the API: documents, fee, activation."""

from app.applications.documents import KINDS
from tests.ceiling.cases import Ask, case
from tests.factories.accounts import PASSWORD, create_account
from tests.factories.applications import (
    CODE,
    EMAIL,
    LIST,
    build_activation_body,
    create_approved_application,
    create_offered_application,
    create_ready_application,
    find_mailed_token,
    pay_stall_fee,
    submit_documents,
    upload_documents,
)
from tests.factories.events import create_organiser_client
from tests.http import Client, data

DOCS = "/api/merchant-applications/docs/<token>"
OFFER = "/api/merchant-applications/offer/<token>"
PAY = "/api/merchant-applications/pay/<token>"
ACTIVATION = "/api/merchant-activation/<token>"
UNKNOWN = "A" * 43


@case(f"GET {DOCS}")
def looking_at_documents(client: Client) -> Ask:
    create_approved_application(client, create_organiser_client(client))
    token = find_mailed_token("documents")
    return lambda: client.get(f"{LIST}/docs/{token}")


@case(f"GET {DOCS}", 404)
def following_an_unknown_link(client: Client) -> Ask:
    return lambda: client.get(f"{LIST}/docs/{UNKNOWN}")


@case(f"POST {DOCS}")
def handing_in_four_documents(client: Client) -> Ask:
    create_approved_application(client, create_organiser_client(client), amountMinor=0)
    token = find_mailed_token("documents")
    return lambda: upload_documents(client, token, *KINDS, submit="true")


@case(f"POST {DOCS}")
def replacing_four_documents(client: Client) -> Ask:
    create_approved_application(client, create_organiser_client(client))
    token = find_mailed_token("documents")
    data(upload_documents(client, token, *KINDS))
    return lambda: upload_documents(client, token, *KINDS, submit="true")


@case(f"POST {DOCS}", 409)
def handing_in_too_little(client: Client) -> Ask:
    create_approved_application(client, create_organiser_client(client))
    token = find_mailed_token("documents")
    return lambda: upload_documents(client, token, KINDS[0], submit="true")


@case(f"POST {DOCS}")
def handing_in_again(client: Client) -> Ask:
    create_approved_application(client, create_organiser_client(client))
    token = find_mailed_token("documents")
    submit_documents(client, token)
    return lambda: client.post(f"{LIST}/docs/{token}")


@case(f"GET {PAY}")
def looking_at_the_fee(client: Client) -> Ask:
    token = _fee(client)
    return lambda: client.get(f"{LIST}/pay/{token}")


@case(f"POST {PAY}")
def starting_to_pay(client: Client) -> Ask:
    token = _fee(client)
    return lambda: client.post(f"{LIST}/pay/{token}")


@case(f"POST {PAY}")
def paying_from_another_wallet(client: Client) -> Ask:
    token = _fee(client)
    data(client.post(f"{LIST}/pay/{token}"))
    return lambda: client.post(f"{LIST}/pay/{token}", {"payrailMsisdn": "+264811111111"})


@case(f"GET {OFFER}")
def an_offer_of_a_place(client: Client) -> Ask:
    create_offered_application(client, create_organiser_client(client))
    token = find_mailed_token("place-offer")
    return lambda: client.get(f"{LIST}/offer/{token}")


@case(f"POST {OFFER}")
def accepting_a_place(client: Client) -> Ask:
    create_offered_application(client, create_organiser_client(client))
    token = find_mailed_token("place-offer")
    return lambda: client.post(f"{LIST}/offer/{token}", {"answer": "accepted"})


@case(f"POST {OFFER}")
def leaving_a_place_to_the_next(client: Client) -> Ask:
    create_offered_application(client, create_organiser_client(client))
    token = find_mailed_token("place-offer")
    return lambda: client.post(f"{LIST}/offer/{token}", {"answer": "declined"})


@case(f"POST {PAY}/payrail/verify-otp")
def the_right_code(client: Client) -> Ask:
    token = _fee(client)
    data(client.post(f"{LIST}/pay/{token}"))
    return lambda: client.post(f"{LIST}/pay/{token}/payrail/verify-otp", {"code": CODE})


@case(f"POST {PAY}/payrail/verify-otp", 422)
def a_wrong_code(client: Client) -> Ask:
    token = _fee(client)
    data(client.post(f"{LIST}/pay/{token}"))
    return lambda: client.post(f"{LIST}/pay/{token}/payrail/verify-otp", {"code": "000000"})


@case(f"POST {PAY}/payrail/verify-otp")
def a_code_once_it_is_paid(client: Client) -> Ask:
    token = _fee(client)
    pay_stall_fee(client, token)
    return lambda: client.post(f"{LIST}/pay/{token}/payrail/verify-otp", {"code": CODE})


@case(f"GET {ACTIVATION}")
def looking_at_an_activation(client: Client) -> Ask:
    token = create_ready_application(client, create_organiser_client(client))
    return lambda: client.get(f"/api/merchant-activation/{token}")


@case(f"POST {ACTIVATION}")
def activating_a_new_account(client: Client) -> Ask:
    token = create_ready_application(client, create_organiser_client(client))
    return lambda: client.post(f"/api/merchant-activation/{token}", build_activation_body())


@case(f"POST {ACTIVATION}")
def activating_with_an_address_that_nobody_has_proven(client: Client) -> Ask:
    owner = create_organiser_client(client)
    made = create_approved_application(client, owner, amountMinor=0, documentsRequired=[])
    shown = data(owner.post(f"{LIST}/{made['id']}/links", {"purpose": "activation"}), 201)
    token = shown["url"].rpartition("/")[2]
    return lambda: client.post(f"/api/merchant-activation/{token}", build_activation_body())


@case(f"POST {ACTIVATION}")
def activating_an_account_that_is_there(client: Client) -> Ask:
    create_account("customer", email=EMAIL)
    token = create_ready_application(client, create_organiser_client(client))
    return lambda: client.post(f"/api/merchant-activation/{token}", build_activation_body(password=PASSWORD))


@case(f"POST {ACTIVATION}", 422)
def activating_with_a_wrong_password(client: Client) -> Ask:
    create_account("customer", email=EMAIL)
    token = create_ready_application(client, create_organiser_client(client))
    return lambda: client.post(f"/api/merchant-activation/{token}", build_activation_body())


def _fee(client: Client) -> str:
    create_approved_application(client, create_organiser_client(client), documentsRequired=[])
    return find_mailed_token("pay")
