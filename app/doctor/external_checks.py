"""Checks of mail, SMS, push, the payment rail, storage and monitoring. They send no message."""

import secrets
import smtplib
import time
from urllib.parse import unquote, urlsplit

from app.clients import storage
from app.clients.payrail import rail
from app.clients.reachability import Unreachable, check_reachable
from app.clients.smtp import connect
from app.config import Settings
from app.doctor.results import Finding, Findings, fail, format_error, ok, warn

TIMEOUT_SECONDS = 5.0


def run_checks(settings: Settings) -> Findings:
    yield _check_storage(settings)
    yield from _check_mail(settings)
    yield _check_gateway("sms", "SMS_URL", settings.SMS_URL, settings)
    yield _check_gateway("push", "PUSH_URL", settings.PUSH_URL, settings)
    yield _check_rail(settings)
    for name in ("SENTRY_DSN", "OTEL_EXPORTER_OTLP_ENDPOINT"):
        if getattr(settings, name):
            yield _check_monitoring(name, getattr(settings, name))


def _check_storage(settings: Settings) -> Finding:
    """Write, read and remove a file."""
    name, content = f"doctor/{secrets.token_hex(8)}", secrets.token_bytes(16)
    scheme, folder = settings.STORAGE_URL.partition("://")[0], unquote(urlsplit(settings.STORAGE_URL).path)
    location = folder if scheme == "file" else f"the bucket {urlsplit(settings.STORAGE_URL).hostname}"
    advice = (
        "Check that the folder belongs to this user and the disk has room."
        if scheme == "file"
        else "Correct STORAGE_URL and its keys."
    )
    try:
        storage.put(name, content, content_type="application/octet-stream")
        stored_content = storage.get(name)
        storage.delete(name)
    except storage.StorageUnavailable as error:
        return fail(
            "storage", f"Files cannot be written to {location}: {format_error(error.__cause__ or error)}.", advice
        )
    if stored_content != content:
        return fail(
            "storage",
            f"{location} returned other bytes than were written.",
            "Use a storage that returns what was written.",
        )
    return ok("storage", f"A file was written to, read from and removed from {location}.")


def _check_mail(settings: Settings) -> Findings:
    if not settings.SMTP_URL:
        if settings.production:
            yield fail("mail", "SMTP_URL is not set: no mail is sent, so no address can be verified.", "Set SMTP_URL.")
        else:
            yield ok("mail", "Messages stay in the mailbox at /dev/mail.")
        return
    url = urlsplit(settings.SMTP_URL)
    if url.username and url.scheme == "smtp" and "starttls" not in url.query and settings.production:
        yield warn(
            "mail", "The password goes to the mail server in the clear.", "Use smtps://, or smtp://…?starttls=1."
        )
    yield _check_smtp(settings.SMTP_URL, urlsplit(settings.PUBLIC_BASE_URL).hostname or "localhost")


def _check_smtp(url: str, helo_name: str) -> Finding:
    """Connect to the mail server, sign in and quit."""
    host = urlsplit(url).hostname
    try:
        connection = connect(url, helo_name, time.monotonic() + TIMEOUT_SECONDS)
    except smtplib.SMTPAuthenticationError:
        return fail("mail", f"{host} refuses our name or password.", "Correct them in SMTP_URL (percent-encoded).")
    except OSError as error:
        return fail("mail", f"{host} cannot be used: {format_error(error)}.", "Correct SMTP_URL, or open its port.")
    try:
        connection.quit()
    except OSError:
        connection.close()
    return ok("mail", f"{host} accepts our login; nothing was sent.")


def _check_gateway(about: str, name: str, url: str | None, settings: Settings) -> Finding:
    if not url:
        if settings.production:
            return warn(
                about, f"{name} is not set: these messages are not sent.", f"Set {name}, or leave it if you send none."
            )
        return ok(about, "Messages stay in the mailbox at /dev/mail.")
    try:
        check_reachable(url, TIMEOUT_SECONDS)
    except Unreachable as error:
        return fail(
            about, f"{urlsplit(url).hostname} cannot be reached: {error}.", f"Correct {name}, or open the network."
        )
    return ok(about, f"{urlsplit(url).hostname} can be reached; nothing was sent.")


def _check_rail(settings: Settings) -> Finding:
    if settings.PAYRAIL_MODE == "live":
        if not rail().reachable():
            return fail(
                "rail",
                f"{urlsplit(settings.PAYRAIL_URL or '').hostname} does not answer: payments and payouts stop.",
                "Check PAYRAIL_URL; ask the operator of the rail.",
            )
        if rail().breaker_state() == "open":
            return warn(
                "rail",
                "It answers, but failed five times just now: calls pause for 15 s.",
                "Wait; ask the operator of the rail if it lasts.",
            )
        return ok("rail", "The payment rail answers.")
    if not settings.production:
        return ok("rail", f"PAYRAIL_MODE is {settings.PAYRAIL_MODE}: no money moves.")
    consequence = (
        "no money moves, although people see payments"
        if settings.PAYRAIL_MODE == "mock"
        else "every payment is refused"
    )
    return warn(
        "rail",
        f"PAYRAIL_MODE is {settings.PAYRAIL_MODE}: {consequence}.",
        "Set PAYRAIL_URL, PAYRAIL_KEY and PAYRAIL_SECRET, and no PAYRAIL_MODE, before money is to move.",
    )


def _check_monitoring(name: str, url: str) -> Finding:
    try:
        check_reachable(url, TIMEOUT_SECONDS)
    except Unreachable as error:
        return warn(
            "watching", f"{name}: {urlsplit(url).hostname} cannot be reached: {error}.", f"Correct or unset {name}."
        )
    return ok("watching", f"{name}: {urlsplit(url).hostname} can be reached.")
