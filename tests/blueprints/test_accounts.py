"""Registration, sign-in and codes, as clients see them."""

from tests.http import Client, data, refusal
from tests.factories.accounts import customer, mails_to, newest_code, sign_in


def test_a_customer_registers_verifies_and_signs_in(client: Client) -> None:
    body = {"email": "Frieda@Example.com", "password": "a quiet evening", "firstName": "Frieda", "lastName": "A"}
    assert data(client.post("/api/auth/register/customer", body), 201) == {}
    code = newest_code("frieda@example.com")
    assert data(client.post("/api/auth/verify-email", {"email": "frieda@example.com", "code": code})) == {}
    found = data(client.post("/api/auth/login", {"email": "FRIEDA@example.com", "password": "a quiet evening"}))
    assert found["user"]["email"] == "frieda@example.com" and found["expiresIn"] == 900
    me = data(client.as_(found["accessToken"]).get("/api/auth/me"))
    assert me["emailVerified"] is True and me["roles"] == ["customer"] and me["name"] == "Frieda A"
