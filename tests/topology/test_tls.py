"""Redis, its Sentinels and PostgreSQL over TLS: nobody is believed whose certificate is not signed by whom we name."""

import logging
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from redis.exceptions import ConnectionError as Unreachable

from app.core.connections import dedicated_connection
from app.core.redis import connected
from app.doctor import database_checks, pooler_checks
from tests.observing.ward import found
from tests.settings import settings_for
from tests.topology.certificates import Authority
from tests.topology.conftest import needs
from tests.topology.pooler import pooler
from tests.topology.postgres import Server
from tests.topology.sentinels import sentinels_in
from tests.topology.test_sentinel import eventually, used_by

pytestmark = pytest.mark.slow

log = logging.getLogger(__name__)
NOWHERE = "redis://127.0.0.1:1/0"
NO_SERVER = not list(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
ABSENT = not (shutil.which("redis-check-rdb") or shutil.which("redis-server"))


@pytest.mark.skipif(ABSENT and not os.environ.get("CI"), reason="redis-server with TLS is not installed")
def test_sentinels_and_servers_over_tls(tmp_path: Path) -> None:
    ours, another = Authority(tmp_path), Authority(tmp_path, "another")
    with sentinels_in(tmp_path, ours) as sentinels:
        everything = used_by(sentinels.url)
        everything()
        assert connected(sentinels.url).connection_pool.connection_class.__name__ == "SentinelManagedSSLConnection"
        sentinels.fail_over()
        eventually(everything)
        assert "answers in" in doctor(sentinels.url, "ok")
        for url in (
            sentinels.url.replace(str(ours.file), str(another.file)),
            sentinels.url.replace(f"ssl_ca_certs={ours.file}", "tls=1"),
        ):
            with pytest.raises(Unreachable):
                connected(url, seconds=2).ping()
            told = doctor(url, "FAIL")
            assert "certificate verify failed" in told and "canary" not in told and "redis.client" not in told, told
        plain = sentinels.url.replace(f"&ssl_ca_certs={ours.file}", "")
        assert "no Sentinel knows a master" in doctor(plain, "FAIL"), "who does not speak TLS gets nowhere"


def doctor(url: str, state: str) -> str:
    return found(
        database_checks,
        settings_for(database_url="postgresql://postgres@127.0.0.1:1/none", redis_url=url),
        "redis",
        state,
    )


@pytest.fixture
def secured(open_folder: Path) -> Iterator[tuple[Server, Server]]:
    """A primary and its replica, whose stream is checked as well; without tables."""
    ours = Authority(open_folder)
    primary, replica = Server(open_folder, "primary", ours), Server(open_folder, "replica", ours)
    try:
        yield primary.make(filled=False), replica.follow(primary)
    finally:
        primary.kill()
        replica.kill()


@pytest.mark.skipif(NO_SERVER and not os.environ.get("CI"), reason="Debian's PostgreSQL is not installed")
@needs("pgbouncer")
def test_postgresql_its_replica_and_a_pooler_over_tls(secured: tuple[Server, Server], open_folder: Path) -> None:
    primary, replica = secured
    assert primary.tls
    another, (cert, key) = Authority(open_folder, "another"), primary.tls.signed("pooler")
    give(primary, cert, key, another.file)
    files = {"server.pem": cert, "server.key": key, "authority.pem": primary.tls.file}
    assert primary.ask("SELECT ssl FROM pg_stat_ssl JOIN pg_stat_replication USING (pid)") == [(True,)]
    with pooler(open_folder, primary.url, tls=files) as pooled:
        url = f"{pooled.partition('?')[0]}?{primary.url.partition('?')[2]}"
        settings = settings_for(
            database_url=url, redis_url=NOWHERE, DATABASE_DIRECT_URL=primary.url, DATABASE_REPLICA_URL=replica.url
        )
        assert "answers in" in found(database_checks, settings, "database", "ok")
        assert "It follows" in found(database_checks, settings, "replica", "ok")
        assert found(pooler_checks, settings, "pooler", "warn"), "reached; nobody has run account.sql here"
        with dedicated_connection(url) as through:
            assert through.execute("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()").fetchone() == (True,)
        mistrust(url, replica.url, primary.url, another=str(another.file))


def give(server: Server, *files: Path) -> None:
    if server.account.uid is not None:
        for file in files:
            shutil.chown(file, server.account.uid)


ADDRESSES = ("DATABASE_URL", "DATABASE_REPLICA_URL", "DATABASE_DIRECT_URL")
ABOUT = ((database_checks, "database", "FAIL"), (database_checks, "replica", "warn"), (pooler_checks, "pooler", "FAIL"))


def mistrust(*urls: str, another: str) -> None:
    """Each refuses whose certificate another authority would have to have signed, or that has another name."""
    unsigned = [re.sub("sslrootcert=.*", f"sslrootcert={another}", url) for url in urls]
    misnamed = [url.replace("127.0.0.1", "localhost") for url in urls]
    for wrong in (unsigned, misnamed):
        given = dict(zip(ADDRESSES, wrong, strict=True))
        settings = settings_for(database_url=given.pop("DATABASE_URL"), redis_url=NOWHERE, **given)
        for part, about, state in ABOUT:
            assert "certificate" in found(part, settings, about, state)
    with dedicated_connection(re.sub("verify-full.*", "require", urls[0])) as believed:
        assert believed.execute("SELECT 1").fetchone() == (1,), "the control: `require` alone believes anybody"
