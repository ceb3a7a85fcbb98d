"""What happens to applications: one verb, one transaction; payments two, with the rail between them."""

from app.applications import erasure
from app.applications.actions.activation import activate
from app.applications.actions.decisions import decide, withdraw
from app.applications.actions.fresh_links import request_link, send_link
from app.applications.actions.hand_in import hand_in
from app.applications.actions.pay import start_payment, verify_otp
from app.applications.actions.submit import submit

__all__ = [
    "activate",
    "decide",
    "erasure",
    "hand_in",
    "request_link",
    "send_link",
    "start_payment",
    "submit",
    "verify_otp",
    "withdraw",
]
