"""Details of organisations for tests."""

from sqlalchemy import text

from app.core.transaction import transaction
from tests.http import Client, data

VAT_NUMBER, ACCOUNT_NUMBER = "1234567015", "8001234567"


def register_for_vat(owner: Client) -> None:
    """Give the owner's organisation an address, a VAT number and bank details."""
    details = {
        "org_name": "Windhoek Lights",
        "address": "12 Independence Avenue\nWindhoek",
        "vat_number": VAT_NUMBER,
        "bank_name": "Bank Windhoek",
        "bank_account_name": "Windhoek Lights CC",
        "bank_account_number": ACCOUNT_NUMBER,
    }
    names = ", ".join(details)
    values = ", ".join(f":{name}" for name in details)
    new_values = ", ".join(f"excluded.{name}" for name in details)
    statement = (
        f"INSERT INTO organiser_profile (account_id, {names}) VALUES (:id, {values})"
        f" ON CONFLICT (account_id) DO UPDATE SET ({names}) = ROW ({new_values})"
    )
    with transaction() as session:
        session.execute(text(statement), {"id": data(owner.get("/api/auth/me"))["id"], **details})
