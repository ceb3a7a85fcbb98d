"""Links that stop a payout: the payout's id, sealed; nothing is stored for a link."""

from flask import current_app

from app.core.sealing import opened, sealed

PURPOSE = "payout-stop"


def stop_url(payout_id: str) -> str:
    """The page on which whoever has the link can stop the payout."""
    base: str = current_app.extensions["settings"].PUBLIC_BASE_URL
    return f"{base}/payout-stop/{sealed(PURPOSE, bytes.fromhex(payout_id))}"


def payout_id_of(token: str) -> str | None:
    """The id of the payout that a link is about; None when it is none of ours."""
    fact = opened(PURPOSE, token)
    return fact.hex() if fact is not None else None
