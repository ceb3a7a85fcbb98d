"""A merchant's own account."""

from typing import Any

from tests.ceiling.cases import Ask, case
from tests.factories.accounts import PASSWORD
from tests.factories.merchants import create_merchant_client
from tests.http import Client, data

ME = "/api/merchants/me"
BANK = {
    "destination": "bank",
    "accountName": "Kapana Corner CC",
    "accountNumber": "62 0012 3456 7",
    "bankName": "Bank Windhoek",
    "branchCode": "482172",
}
CHANGES: dict[str, Any] = {
    "name": "Selma Shikongo",
    "businessName": "Kapana & Co",
    "city": "Oshakati",
    "payoutDetails": BANK,
    "settings": {"language": "af"},
}


@case(f"GET {ME}")
def reading_oneself(client: Client) -> Ask:
    me = create_merchant_client(client)
    return lambda: me.get(ME)


@case(f"PATCH {ME}")
def changing_everything(client: Client) -> Ask:
    me = create_merchant_client(client)
    return lambda: me.patch(ME, CHANGES)


@case("POST /api/merchants/change-password")
def a_new_password(client: Client) -> Ask:
    me = create_merchant_client(client)
    body = {"currentPassword": PASSWORD, "newPassword": "the rain came late to Gobabis"}
    return lambda: me.post("/api/merchants/change-password", body)


@case("POST /api/merchants/change-password", 422)
def a_new_password_without_the_old_one(client: Client) -> Ask:
    me = create_merchant_client(client)
    body = {"currentPassword": "wrong", "newPassword": "the rain came late to Gobabis"}
    return lambda: me.post("/api/merchants/change-password", body)


@case(f"POST {ME}/pause")
def pausing(client: Client) -> Ask:
    me = create_merchant_client(client)
    return lambda: me.post(f"{ME}/pause")


@case(f"POST {ME}/resume")
def resuming(client: Client) -> Ask:
    me = create_merchant_client(client)
    data(me.post(f"{ME}/pause"))
    return lambda: me.post(f"{ME}/resume", {"currentPassword": PASSWORD, "confirmation": "RESUME"})


@case(f"POST {ME}/delete")
def deleting(client: Client) -> Ask:
    me = create_merchant_client(client)
    data(me.patch(ME, CHANGES))
    return lambda: me.post(f"{ME}/delete", {"currentPassword": PASSWORD, "confirmation": "DELETE"})


@case(f"POST {ME}/delete", 422)
def deleting_with_a_wrong_password(client: Client) -> Ask:
    me = create_merchant_client(client)
    return lambda: me.post(f"{ME}/delete", {"currentPassword": "wrong", "confirmation": "DELETE"})
