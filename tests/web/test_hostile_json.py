"""Bodies that attack the parser get a 4xx with a reason."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from werkzeug.test import TestResponse

from tests.http import Client, data, list_problems, read_error

HEADERS = {"Content-Type": "application/json"}


def sent(client: Client, body: bytes, path: str = "/t/wish", **headers: str) -> TestResponse:
    return client.open("POST", path, data=body, headers={**HEADERS, **headers})


def nested(depth: int) -> bytes:
    """An object whose `free` holds lists down to the given depth of the whole body."""
    return b'{"free": {"x": ' + b"[" * (depth - 2) + b"]" * (depth - 2) + b"}}"


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"}",
        b"{'name': 1}",
        b'{"name": }',
        b'{"name": 1,}',
        b"{} {}",
        b"\x00",
        b'{"name": "a\nb"}',
        b'{"whole": NaN}',
        b'{"whole": Infinity}',
        b'{"free": {"x": -Infinity}}',
        b'{"whole": 01}',
        b'{"whole": .5}',
        b'{"whole": 1_000}',
        b'{"whole": 0x10}',
        b'{"name": "\\x41"}',
        b'{"name": "\xff\xfe"}',
        b'{"name": "\xed\xa0\x80"}',
        b'{"name": "\xc0\x80"}',
        '{"name": "x"}'.encode("utf-16"),
        '{"name": "x"}'.encode("utf-16-le"),
        '{"name": "x"}'.encode("utf-32"),
        b"\xef\xbb\xbf\xef\xbb\xbf{}",
        b"// no\n{}",
        b"undefined",
        b"[" * 100_000,
        b'{"a":' * 100_000,
        nested(21),
        nested(900),
    ],
)
def test_what_is_no_json_is_400(client: Client, body: bytes) -> None:
    response = sent(client, body)
    assert read_error(response) == (400, "MALFORMED_JSON")
    assert response.get_json()["message"].startswith("The body is")


def test_the_sentence_says_where(client: Client) -> None:
    assert "line 2, column 3" in sent(client, b'{\n  name: "x"}').get_json()["message"]
    assert "NaN is no JSON number" in sent(client, b'{"whole": NaN}').get_json()["message"]
    assert "nested more than 20 deep" in sent(client, nested(21)).get_json()["message"]


def test_twenty_levels_are_taken(client: Client) -> None:
    data(sent(client, nested(20)))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b'{"name": "\\ud800"}', {"name": "invalid_characters"}),
        (b'{"free": {"x": ["\\udc00"]}}', {"free.x[0]": "invalid_characters"}),
        (b'{"\\ud800": 1}', {"?": "invalid_characters"}),
        (b'{"secret": "\\ud800abc"}', {"secret": "invalid_characters"}),
        (b'{"name": "\\u0000\\u0000"}', {"name": "invalid_characters"}),
        (b'{"whole": 1e400}', {"whole": "too_large"}),
        (b'{"number": -1e400, "free": {"x": 1e999}}', {"number": "too_large", "free.x": "too_large"}),
        (b'{"whole": ' + b"9" * 39 + b"}", {"whole": "too_large"}),
        (b'{"whole": ' + b"9" * 5000 + b"}", {"whole": "too_large"}),
        (b'{"free": {"x": -' + b"9" * 5000 + b"}}", {"free.x": "too_large"}),
        (b'{"a\\u0000": 1}', {"a\x00": "unknown_field"}),
    ],
)
def test_what_nothing_can_hold_is_422(client: Client, body: bytes, expected: dict[str, str]) -> None:
    assert list_problems(sent(client, body)) == expected


def test_a_pair_of_surrogates_is_a_character(client: Client) -> None:
    assert data(sent(client, b'{"name": "\\ud83d\\ude00\\ud83d\\ude00"}'))["name"] == "😀😀"


@pytest.mark.parametrize(
    "body",
    [
        b'{"name": "ab", "name": "cd"}',
        b'{"ticketTypes": [{"name": "a", "name": "b", "priceMinor": 1}]}',
        b'{"free": {"x": 1, "x": 2}}',
    ],
)
def test_body_with_amounts_may_not_repeat_a_name(client: Client, body: bytes) -> None:
    response = sent(client, body)
    assert read_error(response) == (400, "MALFORMED_JSON") and "occurs twice" in response.get_json()["message"]


def test_elsewhere_the_last_of_a_name_counts(client: Client) -> None:
    data(sent(client, b'{"name": 7, "name": "ab"}', "/t/plain"))


def test_a_mark_of_byte_order_is_skipped(client: Client) -> None:
    assert data(sent(client, b'\xef\xbb\xbf{"name": "ab"}'))["name"] == "ab"


@pytest.mark.parametrize("body", [b"", b"  \r\n\t ", b"{}"])
@pytest.mark.parametrize("kind", ["application/json", "text/plain", ""])
def test_an_empty_body_is_an_empty_object(client: Client, body: bytes, kind: str) -> None:
    if body != b"{}" or kind == "application/json":
        data(client.open("POST", "/t/plain", data=body, headers={"Content-Type": kind} if kind else {}))


@pytest.mark.parametrize("kind", ["application/json; charset=utf-8", "application/vnd.api+json", "APPLICATION/JSON"])
def test_json_by_another_name_is_json(client: Client, kind: str) -> None:
    data(client.open("POST", "/t/plain", data=b'{"name": "x"}', headers={"Content-Type": kind}))


@pytest.mark.parametrize("body", [b"{", b'{"x": 1}', b"\xff", b"[" * 100_000])
def test_an_operation_without_a_body_reads_none(client: Client, body: bytes) -> None:
    assert read_error(sent(client, body, "/t/close")) == (409, "SHOP_ALREADY_CLOSED")
    assert client.open("GET", "/health", data=body, headers=HEADERS).status_code == 200


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
NAMES = st.sampled_from(
    ["name", "secret", "email", "phone", "whole", "number", "flag", "choice", "at", "tags", "ticketTypes", "free"]
)
FEW = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@FEW
@given(body=st.dictionaries(NAMES | st.text(max_size=4), ANY_JSON | st.text(alphabet="0123456789+-.@TZ: ")))
def test_no_value_breaks_a_field(client: Client, body: dict[str, object]) -> None:
    assert sent(client, json.dumps(body).encode()).status_code in (200, 400, 422)


@FEW
@given(body=st.binary(min_size=1, max_size=200))
def test_no_bytes_break_the_parser(client: Client, body: bytes) -> None:
    assert sent(client, body).status_code in (200, 400, 422)
    assert sent(client, body, **{"Content-Type": "multipart/form-data; boundary=x"}).status_code == (
        415 if body.strip() else 200
    )
    kind = {"Content-Type": "multipart/form-data; boundary=x"}
    assert client.open("POST", "/t/files", data=body, headers=kind).status_code in (400, 422)
