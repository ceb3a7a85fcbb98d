"""What follows when a merchant has gone."""

from app.clients.letters import letter
from app.clients.mail import send
from app.core.jobs import Delivery, Run, job
from app.core.outbox import enqueue
from app.core.transaction import transaction
from app.merchants.farewell import forget_everywhere


@job("merchants.farewell", Delivery.LOCAL)
def farewell(run: Run, *, account_id: str, email: str, name: str) -> None:
    """Has the domains above forget the merchant, and the person told at the address there was."""
    with transaction() as session:
        run.done_in(session)
        forget_everywhere(session, account_id)
        enqueue("merchants.mail_farewell", email=email, name=name)


@job("merchants.mail_farewell", Delivery.AT_LEAST_ONCE)
def mail_farewell(run: Run, *, email: str, name: str) -> None:
    """Says that the merchant is deleted, to whoever may not have wanted it."""
    send(letter("merchant_deleted", to=email, key=run.key, name=name), fence=run.fence)
