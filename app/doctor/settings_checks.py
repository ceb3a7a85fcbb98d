"""Checks of the settings beyond those that the start itself refuses."""

from urllib.parse import urlsplit

from app.config import Settings
from app.doctor.results import Finding, Findings, fail, ok, warn
from app.secret_strength import is_guessable

SECRET_ADVICE = "make one with `python3 -c 'import secrets; print(secrets.token_urlsafe(48))'`"
LOCAL_HOSTNAMES = {"localhost", "127.0.0.1", "::1", "0.0.0.0"}
MIN_SECRET_LENGTHS = {"SECRET_KEY": 32, "BOOTSTRAP_SECRET": 16, "METRICS_TOKEN": 16, "PAYRAIL_SECRET": 16}


def run_checks(settings: Settings) -> Findings:
    yield _check_environment(settings)
    yield from _check_secrets(settings)
    yield _check_public_url(settings)
    if settings.production:
        yield _check_proxy(settings)
        yield _check_sender(settings)


def _check_environment(settings: Settings) -> Finding:
    if settings.production:
        return ok("settings", "All settings are valid; this is production.")
    return warn(
        "settings",
        "This is development: anybody may read all mail at /dev/mail, and limits are loose.",
        "Set APP_ENV=production where other people use it.",
    )


def _check_secrets(settings: Settings) -> Findings:
    secrets = {name: getattr(settings, name) for name in MIN_SECRET_LENGTHS if getattr(settings, name)}
    weak_names = [name for name, secret in secrets.items() if is_guessable(secret, length=MIN_SECRET_LENGTHS[name])]
    for name in weak_names:
        build_finding = fail if settings.production else warn
        yield build_finding(
            "secrets",
            f"{name} can be guessed: it is short, well known or made of few characters.",
            f"Set {name}; {SECRET_ADVICE}.",
        )
    if len(set(secrets.values())) < len(secrets):
        yield fail(
            "secrets",
            "One secret is used for two purposes: anyone who learns one has both.",
            f"Give each its own; {SECRET_ADVICE}.",
        )
    elif not weak_names:
        yield ok("secrets", "None can be guessed.")


def _check_public_url(settings: Settings) -> Finding:
    url = urlsplit(settings.PUBLIC_BASE_URL)
    if not settings.production:
        return ok("address", f"Links begin with {settings.PUBLIC_BASE_URL}.")
    if url.hostname in LOCAL_HOSTNAMES:
        return fail(
            "address",
            f"Links in mails begin with {settings.PUBLIC_BASE_URL}, which works only on this machine.",
            "Set PUBLIC_BASE_URL to the address that people use.",
        )
    if url.scheme != "https":
        return fail(
            "address",
            "PUBLIC_BASE_URL is not https: passwords and tokens travel in the clear.",
            "Put TLS in front (deploy/) and set PUBLIC_BASE_URL=https://….",
        )
    if settings.TRUSTED_HOSTS and url.hostname not in settings.TRUSTED_HOSTS:
        return fail(
            "address",
            f"TRUSTED_HOSTS does not name {url.hostname}, so all our links get 400.",
            "Add it to TRUSTED_HOSTS.",
        )
    return ok("address", f"Links begin with {settings.PUBLIC_BASE_URL}, and that host is accepted.")


def _check_proxy(settings: Settings) -> Finding:
    if settings.PROXY_HOPS == 0 and settings.PUBLIC_BASE_URL.startswith("https"):
        return warn(
            "proxy",
            "PROXY_HOPS is 0: behind a proxy all clients look like one and share its limits.",
            "Set PROXY_HOPS to the number of proxies in front (1 for nginx alone).",
        )
    return ok("proxy", f"{settings.PROXY_HOPS} proxies in front.")


def _check_sender(settings: Settings) -> Finding:
    if settings.MAIL_FROM.rstrip(">").endswith("@localhost"):
        return fail(
            "sender",
            f"Mail is sent as {settings.MAIL_FROM}, which most servers refuse.",
            "Set MAIL_FROM to an address of your domain.",
        )
    return ok("sender", f"Mail is sent as {settings.MAIL_FROM}.")
