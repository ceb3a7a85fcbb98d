"""TLS and login at the mail server, with a certificate of the test."""

import datetime
import ipaddress
import ssl
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from flask import Flask

from app.clients.mail import Message, send
from app.core.jobs import Transient
from tests.clients.mails import configure, no_fence
from tests.smtp_sink import run_smtp_sink

pytestmark = pytest.mark.usefixtures("mailing")
MAIL = Message(to="a@kitchen.example", subject="Hello", text="Hello\n", html="", message_id="<1@events.example>")


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    names = x509.SubjectAlternativeName([x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(names, critical=False)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path / "localhost.pem"
    pem = serialization.Encoding.PEM
    secret = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    path.write_bytes(secret + made.public_bytes(pem))
    return path


@pytest.fixture
def tls(certificate: Path) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate)
    return context


def deliver(app: Flask, url: str) -> None:
    configure(app, SMTP_URL=url)
    send(MAIL, fence=no_fence)


@pytest.mark.parametrize("starttls", [True, False])
def test_mail_is_sent_over_tls_to_a_server_with_a_valid_certificate(
    app: Flask,
    certificate: Path,
    tls: ssl.SSLContext,
    starttls: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with run_smtp_sink(tls=tls, starttls=starttls) as sink:
        deliver(app, sink.url + ("?starttls=1" if starttls else ""))
    assert [got.tls for got in sink.received] == [True]


@pytest.mark.parametrize("starttls", [True, False])
def test_server_with_an_unknown_certificate_gets_nothing(
    app: Flask,
    tls: ssl.SSLContext,
    starttls: bool,
) -> None:
    with run_smtp_sink(tls=tls, starttls=starttls) as sink, pytest.raises(Transient, match="(?i)certificate"):
        deliver(app, sink.url + ("?starttls=1" if starttls else ""))
    assert sink.received == []


def test_starttls_is_required_if_the_url_demands_it(app: Flask) -> None:
    with run_smtp_sink() as sink, pytest.raises(Transient, match="STARTTLS"):
        deliver(app, sink.url + "?starttls=1")
    assert sink.received == []


def test_login_uses_the_password_of_the_url(app: Flask) -> None:
    with run_smtp_sink(login=("mailer", "p@ss")) as sink:
        deliver(app, sink.url.replace("p@ss", "p%40ss"))
    assert (sink.signed_in, len(sink.received)) == (1, 1)


def test_refused_login_is_transient(app: Flask) -> None:
    with run_smtp_sink(login=("mailer", "right")) as sink, pytest.raises(Transient) as refused:
        deliver(app, sink.url.replace("right", "wrong-secret"))
    assert "wrong-secret" not in str(refused.value)
    assert sink.received == []
