"""Every setting: read from the environment once, typed, and checked before anything starts.

`docs/settings.md` is generated from the `Settings` class.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from dataclasses import field as dataclass_field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from environs import Env, EnvError, EnvValidationError, validate

from app.config_validation import SettingsByName, find_invalid_settings, parse_address
from app.secret_strength import PUBLISHED

DEVELOPMENT_SECRET = PUBLISHED
APPLE_ISSUER = "https://appleid.apple.com"
GOOGLE_ISSUER = "https://accounts.google.com,accounts.google.com"


class SettingsError(Exception):
    """The settings are wrong; the message has one sentence for each."""


def setting(help: str, *, default: object = None, secret: bool = False) -> Any:
    """Return a field of `Settings` with its help text and default for the documentation."""
    return dataclass_field(metadata={"help": help, "default": default, "secret": secret})


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings, one field for each environment variable."""

    APP_ENV: str = setting("`development` or `production`", default="development")
    SECRET_KEY: str = setting(
        "32 or more random characters; every token and code is derived from it",
        default="a fixed one in development, none in production",
        secret=True,
    )
    DATABASE_URL: str = setting("PostgreSQL 15 or newer; the embedded server when absent", secret=True)
    DATABASE_DIRECT_URL: str | None = setting(
        "the database itself, where DATABASE_URL is a pooler in transaction mode (PgBouncer)", secret=True
    )
    DATABASE_REPLICA_URL: str | None = setting(
        "one streaming replica (no balancer), for public reads and reports", secret=True
    )
    DATABASE_REPLICA_STALENESS: float = setting("seconds that a public read may be behind the primary", default=1)
    DATABASE_POOL: int = setting("connections per process; as many as a worker has threads", default=8)
    REDIS_URL: str = setting("Redis 6.2 or newer, or its Sentinels; the embedded server when absent", secret=True)
    PORT: int = setting("port of the web process on this machine, unless BIND names another", default=8000)
    WEB_WORKERS: int = setting("web processes, one for each core", default=2)
    WEB_THREADS: int = setting("threads of each web process", default=8)
    PUBLIC_BASE_URL: str = setting(
        "start of the links in mails and documents; in production `https://`, or this machine itself",
        default="http://localhost:PORT",
    )
    TRUSTED_HOSTS: list[str] = setting(
        "accepted host names, comma-separated; requests for others get 400",
        default="any in development, that of PUBLIC_BASE_URL and of this machine itself in production",
    )
    PROXY_HOPS: int = setting("reverse proxies in front whose X-Forwarded-* count", default=0)
    CORS_ORIGINS: list[str] = setting("browser origins that may call the API, comma-separated", default="none")
    BOOTSTRAP_SECRET: str | None = setting(
        "lets the first admin register, once; in production 16 or more random characters", secret=True
    )
    SMTP_URL: str | None = setting(
        "smtp://user:pass@host:port?starttls=1, or smtps://user:pass@host; absent: mail stays in the mailbox",
        secret=True,
    )
    MAIL_FROM: str = setting("sender of all mail", default="Event Commerce <no-reply@localhost>")
    SMS_URL: str | None = setting(
        "https://token@host/path, a gateway for text messages; absent: they stay in the mailbox", secret=True
    )
    PUSH_URL: str | None = setting("the same for push messages", secret=True)
    STORAGE_URL: str = setting(
        "`file:///folder` or `s3://bucket?endpoint=…`", default="file://DATA_DIR/storage", secret=True
    )
    PAYRAIL_MODE: str = setting("`mock`, `live` or `disabled`", default="mock")
    PAYRAIL_URL: str | None = setting("the rail's address (live)")
    PAYRAIL_KEY: str | None = setting("our key at the rail (live)", secret=True)
    PAYRAIL_SECRET: str | None = setting("signs requests and callbacks (live)", secret=True)
    PAYRAIL_TIMEOUT: float = setting("seconds for one call to the rail, repeats included (live)", default=15)
    PAYRAIL_ALLOW_MOCK: bool = setting("lets production start with the mock rail", default=False)
    PAYOUT_NEW_DESTINATION_HOLD: float = setting(
        "hours that the first payout to a new destination waits after a mail to its owner",
        default="0 in development, else 24",
    )
    DOCUMENT_RETENTION_DAYS: int = setting(
        "days after which documents of declined, withdrawn and expired applications are erased", default=90
    )
    GUEST_RETENTION_DAYS: int = setting(
        "days after an event's end after which its guests and recipients of campaigns are erased; 0 keeps them",
        default=400,
    )
    DATA_DIR: Path = setting("embedded servers, files and the development mailbox", default="./var")
    APPLE_CLIENT_IDS: list[str] = setting("audiences of Apple id tokens; none: the provider is off")
    APPLE_JWKS_URL: str = setting(
        "Apple's published keys; in production `https://`", default="https://appleid.apple.com/auth/keys"
    )
    APPLE_ISSUER: list[str] = setting("accepted issuers", default=APPLE_ISSUER)
    GOOGLE_CLIENT_IDS: list[str] = setting("audiences of Google id tokens; none: the provider is off")
    GOOGLE_JWKS_URL: str = setting(
        "Google's published keys; in production `https://`", default="https://www.googleapis.com/oauth2/v3/certs"
    )
    GOOGLE_ISSUER: list[str] = setting("accepted issuers", default=GOOGLE_ISSUER)
    VAT_PERCENT: float = setting("inside every price", default=15)
    RATE_LIMIT_SCALE: float = setting("multiplies every count per time", default="20 in development, else 1")
    LOG_LEVEL: str = setting("`debug`, `info`, `warning` or `error`", default="info")
    METRICS_TOKEN: str | None = setting(
        "16 or more characters; a client with it as Bearer may read /metrics from other machines", secret=True
    )
    METRICS_DIR: Path = setting(
        "folder of the metrics of this node, best in memory (tmpfs)", default="DATA_DIR/metrics"
    )
    SENTRY_DSN: str | None = setting("receives errors; needs requirements-observability.txt", secret=True)
    OTEL_EXPORTER_OTLP_ENDPOINT: str | None = setting(
        "receives traces by OTLP over HTTP; needs requirements-observability.txt", secret=True
    )

    @property
    def production(self) -> bool:
        return self.APP_ENV == "production"


def load(environ: Mapping[str, str] | None = None) -> Settings:
    """Return the settings of this process. Raises SettingsError, which names every wrong variable."""
    variables = os.environ if environ is None else environ
    problems: list[str] = []
    read = _read(variables, problems)
    # An unreadable setting has its default here; a second sentence about that default would be wrong.
    unreadable = {problem.partition(":")[0] for problem in problems}
    problems += [problem for problem in find_invalid_settings(read) if problem.partition(":")[0] not in unreadable]
    if problems:
        raise SettingsError("\n".join(problems))
    return Settings(**read)


def table() -> Iterator[tuple[str, str, str]]:
    """Yield name, default and meaning of every setting, for the documentation."""
    for field in fields(Settings):
        default = field.metadata["default"]
        yield field.name, "" if default is None else str(default), field.metadata["help"]


class _MappingEnv(Env):
    """An environs reader of a mapping instead of the process's environment."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        super().__init__()
        self._variables = variables

    def _get_value(self, env_key: str, default: object) -> object:
        return self._variables.get(env_key, default)


class _Reader:
    """Reads typed settings; for an invalid one it records a problem and returns the default."""

    def __init__(self, variables: Mapping[str, str], problems: list[str]) -> None:
        self.variables, self.problems, self.env = variables, problems, _MappingEnv(variables)

    def take(self, name: str, kind: str = "str", default: object = None, **options: object) -> Any:
        if not self.variables.get(name, "").strip():
            return default
        try:
            return getattr(self.env, kind)(name, **options)
        except EnvError as error:
            self.problems.append(f"{name}: {_sentence(error)}")
            return default

    def names(self, name: str, default: str = "") -> list[str]:
        return [part.strip() for part in (self.take(name) or default).split(",") if part.strip()]


def _sentence(error: EnvError) -> str:
    messages = error.error_messages if isinstance(error, EnvValidationError) else [str(error)]
    return " ".join(" ".join(messages).split())


def _read(variables: Mapping[str, str], problems: list[str]) -> SettingsByName:
    reader = _Reader(variables, problems)
    development = variables.get("APP_ENV", "development") != "production"
    data_dir = Path(variables.get("DATA_DIR") or "var").absolute()
    return (
        _read_service(reader, development)
        | _read_clients(reader, data_dir, development)
        | _read_monitoring(reader, data_dir)
    )


def _read_service(reader: _Reader, development: bool) -> SettingsByName:
    """Return the settings of the service itself."""
    take, names, one_of, at_least = reader.take, reader.names, validate.OneOf, validate.Range
    port = take("PORT", "int", 8000, validate=at_least(min=1, max=65535))
    base_url = (take("PUBLIC_BASE_URL") or f"http://localhost:{port}").rstrip("/")
    scale = 20.0 if development else 1.0
    return {
        "APP_ENV": take("APP_ENV", default="development", validate=one_of(("development", "production"))),
        "SECRET_KEY": take("SECRET_KEY", default=DEVELOPMENT_SECRET if development else ""),
        "DATABASE_URL": take("DATABASE_URL", default=""),
        "DATABASE_DIRECT_URL": take("DATABASE_DIRECT_URL"),
        "DATABASE_REPLICA_URL": take("DATABASE_REPLICA_URL"),
        "DATABASE_REPLICA_STALENESS": take(
            "DATABASE_REPLICA_STALENESS", "float", 1.0, validate=at_least(min=0.1, max=60)
        ),
        "DATABASE_POOL": take("DATABASE_POOL", "int", 8, validate=at_least(min=1, max=100)),
        "REDIS_URL": take("REDIS_URL", default=""),
        "PORT": port,
        "WEB_WORKERS": take("WEB_WORKERS", "int", 2, validate=at_least(min=1, max=512)),
        "WEB_THREADS": take("WEB_THREADS", "int", 8, validate=at_least(min=1, max=512)),
        "PUBLIC_BASE_URL": base_url,
        "TRUSTED_HOSTS": names("TRUSTED_HOSTS", "" if development else _local_hosts(base_url)),
        "PROXY_HOPS": take("PROXY_HOPS", "int", 0, validate=at_least(min=0, max=5)),
        "CORS_ORIGINS": names("CORS_ORIGINS"),
        "BOOTSTRAP_SECRET": take("BOOTSTRAP_SECRET"),
        "VAT_PERCENT": take("VAT_PERCENT", "float", 15.0, validate=at_least(min=0, max=100)),
        "RATE_LIMIT_SCALE": take("RATE_LIMIT_SCALE", "float", scale, validate=at_least(min=0.01)),
        "LOG_LEVEL": take("LOG_LEVEL", default="info", validate=one_of(("debug", "info", "warning", "error"))),
    }


def _local_hosts(base_url: str) -> str:
    """Return the host names of a node: its public name, and those that health checks and Prometheus on it use."""
    parts = parse_address(base_url)
    return f"{parts.hostname if parts else ''},localhost,127.0.0.1"


def _read_clients(reader: _Reader, data_dir: Path, development: bool) -> SettingsByName:
    """Return the settings of storage, retention and the services outside."""
    take, names = reader.take, reader.names
    modes = validate.OneOf(("mock", "live", "disabled"))
    return {
        "DATA_DIR": data_dir,
        "STORAGE_URL": take("STORAGE_URL", default=f"file://{quote(str(data_dir))}/storage"),
        "DOCUMENT_RETENTION_DAYS": take(
            "DOCUMENT_RETENTION_DAYS", "int", 90, validate=validate.Range(min=1, max=36500)
        ),
        "GUEST_RETENTION_DAYS": take("GUEST_RETENTION_DAYS", "int", 400, validate=validate.Range(min=0, max=36500)),
        "SMTP_URL": take("SMTP_URL"),
        "MAIL_FROM": take("MAIL_FROM", default="Event Commerce <no-reply@localhost>"),
        "SMS_URL": take("SMS_URL"),
        "PUSH_URL": take("PUSH_URL"),
        "PAYRAIL_MODE": take("PAYRAIL_MODE", default="mock", validate=modes),
        "PAYRAIL_URL": take("PAYRAIL_URL"),
        "PAYRAIL_KEY": take("PAYRAIL_KEY"),
        "PAYRAIL_SECRET": take("PAYRAIL_SECRET"),
        # A job has 20 seconds in all.
        "PAYRAIL_TIMEOUT": take("PAYRAIL_TIMEOUT", "float", 15.0, validate=validate.Range(min=0.1, max=15)),
        "PAYRAIL_ALLOW_MOCK": take("PAYRAIL_ALLOW_MOCK", "bool", False),
        "PAYOUT_NEW_DESTINATION_HOLD": take(
            "PAYOUT_NEW_DESTINATION_HOLD",
            "float",
            0.0 if development else 24.0,
            validate=validate.Range(min=0, max=720),
        ),
        "APPLE_CLIENT_IDS": names("APPLE_CLIENT_IDS"),
        "APPLE_JWKS_URL": take("APPLE_JWKS_URL", default="https://appleid.apple.com/auth/keys"),
        "APPLE_ISSUER": names("APPLE_ISSUER", APPLE_ISSUER),
        "GOOGLE_CLIENT_IDS": names("GOOGLE_CLIENT_IDS"),
        "GOOGLE_JWKS_URL": take("GOOGLE_JWKS_URL", default="https://www.googleapis.com/oauth2/v3/certs"),
        "GOOGLE_ISSUER": names("GOOGLE_ISSUER", GOOGLE_ISSUER),
    }


def _read_monitoring(reader: _Reader, data_dir: Path) -> SettingsByName:
    """Return the settings of metrics, errors and traces."""
    return {
        "METRICS_TOKEN": reader.take("METRICS_TOKEN"),
        "METRICS_DIR": Path(reader.take("METRICS_DIR", default=data_dir / "metrics")).absolute(),
        "SENTRY_DSN": reader.take("SENTRY_DSN"),
        "OTEL_EXPORTER_OTLP_ENDPOINT": reader.take("OTEL_EXPORTER_OTLP_ENDPOINT"),
    }
