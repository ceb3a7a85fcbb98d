"""The jobs that the fault tests run in real workers."""

import os
import signal
import smtplib
import time
from datetime import timedelta
from email.message import EmailMessage

from app.core.jobs import Ambiguous, Delivery, Run, Transient, job
from app.core.transaction import assert_no_transaction, transaction

PATIENCE = 1.5


@job("faults.mail_once", Delivery.AT_MOST_ONCE, max_attempts=1000)
def mail_once(run: Run, *, port: int, before: float = 0) -> None:
    time.sleep(before)
    _mail(run, port)


@job("faults.mail_surely", Delivery.AT_LEAST_ONCE, critical=True, max_attempts=1000)
def mail_surely(run: Run, *, port: int) -> None:
    _mail(run, port)


@job("faults.local", Delivery.LOCAL)
def local(run: Run) -> None:
    with transaction() as session:
        run.done_in(session)


@job("faults.poison", Delivery.AT_LEAST_ONCE)
def poison(run: Run) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@job("faults.often", Delivery.LOCAL, every=timedelta(hours=1))
def often(run: Run) -> None:
    with transaction() as session:
        run.done_in(session)


def _mail(run: Run, port: int) -> None:
    """Everything up to DATA can be tried again; from the final dot on only the 250 tells."""
    message = EmailMessage()
    message["Message-ID"] = run.key
    message.set_content("Hello.")
    try:
        smtp = smtplib.SMTP("127.0.0.1", port, timeout=PATIENCE)
        smtp.ehlo_or_helo_if_needed()
    except (OSError, smtplib.SMTPException) as error:
        raise Transient(type(error).__name__) from error
    assert_no_transaction()
    run.fence()
    try:
        smtp.sendmail("a@example.com", ["b@example.com"], message.as_bytes())
    except (OSError, smtplib.SMTPException) as error:
        raise Ambiguous(type(error).__name__) from error
    finally:
        smtp.close()
