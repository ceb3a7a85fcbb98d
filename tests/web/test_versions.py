"""ETags, conditional requests, and sparse responses."""

import pytest

from tests.http import Client, data, list_problems, read_error
from tests.web.shop import stock


@pytest.fixture
def item(client: Client) -> str:
    (made,) = stock(1)
    return f"/t/items/{made}"


def test_one_resource_has_an_etag_and_rows_carry_the_version(client: Client, item: str) -> None:
    response = client.get(item)
    assert response.headers["ETag"] == '"1"' and data(response)["version"] == 1
    assert data(client.get("/t/items"))["items"][0]["version"] == 1


@pytest.mark.parametrize("tag", ['"1"', 'W/"1"', '"7", "1"', '"x", W/"1"', "*", "1"])
def test_who_has_it_gets_304(client: Client, item: str, tag: str) -> None:
    response = client.get(item, headers={"If-None-Match": tag})
    assert response.status_code == 304 and response.data == b""
    assert response.headers["ETag"] == '"1"' and "Content-Type" not in response.headers


@pytest.mark.parametrize("tag", ['"2"', 'W/"2"', '""', "rubbish", '"', "\\", '"11"', '" 1 "', "\x01"])
def test_who_has_another_gets_the_new_one(client: Client, item: str, tag: str) -> None:
    assert data(client.get(item, headers={"If-None-Match": tag}))["version"] == 1


@pytest.mark.parametrize("tag", [None, '"1"', 'W/"1"', "*", "1", '"1", "x"'])
def test_a_write_on_what_was_read_passes(client: Client, item: str, tag: str | None) -> None:
    headers = {} if tag is None else {"If-Match": tag}
    assert data(client.patch(item, {"name": "new"}, headers=headers))["version"] == 2


@pytest.mark.parametrize(
    "tag", ['"2"', 'W/"2"', "rubbish", '""', "", '"1", "2"', '"-1"', '"1.0"', '"' + "9" * 30 + '"', '"١"', '"0x1"', ","]
)
def test_a_write_on_anything_else_is_stale(client: Client, item: str, tag: str) -> None:
    if tag.isascii():
        assert read_error(client.patch(item, {"name": "new"}, headers={"If-Match": tag})) == (412, "STALE_VERSION")
        assert read_error(client.delete(item, headers={"If-Match": tag})) == (412, "STALE_VERSION")
    assert data(client.get(item))["version"] == 1


def test_second_writer_of_a_version_gets_412(client: Client, item: str) -> None:
    tag = {"If-Match": client.get(item).headers["ETag"]}
    data(client.patch(item, {"name": "first"}, headers=tag))
    assert read_error(client.patch(item, {"name": "second"}, headers=tag)) == (412, "STALE_VERSION")
    assert data(client.get(item))["name"] == "first"


def test_chosen_fields_come_with_the_id(client: Client, item: str) -> None:
    assert set(data(client.get(f"{item}?fields=name,priceMinor"))) == {"id", "name", "priceMinor"}
    assert set(data(client.get(f"{item}?fields=%20name%20,,name,"))) == {"id", "name"}
    assert set(data(client.get(f"{item}?fields=id"))) == {"id"}
    everything = data(client.get(item))
    for query in ("", "?fields=", "?fields=%20", "?fields=" + ",".join(everything)):
        assert data(client.get(item + query)) == everything


@pytest.mark.parametrize("fields", ["price_minor", "name,x", "NAME", "__class__", "data.name", "%00", "a;b"])
def test_an_unknown_field_is_422(client: Client, item: str, fields: str) -> None:
    assert list_problems(client.get(f"{item}?fields={fields}")) == {"fields": "unknown_field"}


def test_chosen_fields_keep_their_etag(client: Client, item: str) -> None:
    assert client.get(f"{item}?fields=name").headers["ETag"] == '"1"'
    assert client.get(f"{item}?fields=name", headers={"If-None-Match": '"1"'}).status_code == 304
