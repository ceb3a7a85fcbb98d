"""Registration of customers, merchants and organisers."""

from typing import Any

from flask import current_app

from app.accounts import passwords
from app.accounts.caller import Caller
from app.accounts.errors import CurrentPasswordWrong
from app.accounts.registration import Applicant, add_role, lock_own_account, take_address
from app.accounts.throttling import check_own_password
from app.core.transaction import transaction


def register_customer(
    *,
    caller: Caller | None,
    email: str,
    password: str,
    first_name: str,
    last_name: str,
    phone: str | None = None,
) -> None:
    """Opens a customer's account, or adds the role to the caller's own."""
    _register("customer", caller, email, password, name=f"{first_name} {last_name}", phone=phone)


def register_merchant(
    *,
    caller: Caller | None,
    email: str,
    password: str,
    name: str,
    business_name: str,
    stall_name: str | None = None,
    phone: str | None = None,
) -> None:
    """Opens a merchant's account, or adds the role to the caller's own."""
    profile = {"business_name": business_name, "stall_name": stall_name}
    _register("merchant", caller, email, password, name=name, phone=phone, profile=profile)


def register_organiser(
    *, caller: Caller | None, email: str, password: str, name: str, org_name: str, phone: str | None = None
) -> None:
    """Opens an organiser's account, or adds the role to the caller's own."""
    _register("organiser", caller, email, password, name=name, phone=phone, profile={"org_name": org_name})


def _register(role: str, caller: Caller | None, email: str, password: str, *, name: str, **details: Any) -> None:
    production = current_app.extensions["settings"].production
    passwords.check_uncommon(password, email, name, production=production)
    applicant = Applicant(role=role, email=email, name=name, password_hash=passwords.hashed(password), **details)
    if caller is not None and caller.email == email:
        _add_own_role(caller, applicant, password)
        return
    with transaction() as session:
        take_address(session, applicant)


def _add_own_role(caller: Caller, applicant: Applicant, password: str) -> None:
    """Adds the role to the caller's account. Raises CurrentPasswordWrong, Throttled."""
    if not check_own_password(caller, password):
        raise CurrentPasswordWrong()
    with transaction() as session:
        add_role(session, lock_own_account(session, caller), applicant)
