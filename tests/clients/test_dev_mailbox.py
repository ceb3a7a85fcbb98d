"""The development mailbox."""

from dataclasses import replace
from pathlib import Path

import pytest
from flask import Flask

from app.clients import dev_mailbox


@pytest.fixture(autouse=True)
def folder(app: Flask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setitem(app.extensions, "settings", replace(app.extensions["settings"], DATA_DIR=tmp_path))
    return tmp_path / "mail"


def test_empty_mailbox_is_an_empty_list() -> None:
    assert dev_mailbox.list_messages() == []
    assert dev_mailbox.find_message("0" * 24) is None


def test_all_channels_are_stored_newest_first() -> None:
    dev_mailbox.store_message("mail", "a@kitchen.example", "One", "first", "<p>first</p>")
    dev_mailbox.store_message("sms", "+264811234567", None, "second")
    dev_mailbox.store_message("push", "device-1", "Three", "third")
    assert [message["channel"] for message in dev_mailbox.list_messages()] == ["push", "sms", "email"]
    assert [message["text"] for message in dev_mailbox.list_messages(limit=2)] == ["third", "second"]


@pytest.mark.parametrize("to", ["+264811234567", "264811234567", " 264811234567"])
def test_number_is_found_with_and_without_plus(to: str) -> None:
    dev_mailbox.store_message("sms", "+264811234567", None, "yours")
    dev_mailbox.store_message("sms", "+264811234568", None, "another's")
    assert [message["text"] for message in dev_mailbox.list_messages(to=to)] == ["yours"]


def test_oldest_messages_are_deleted_over_the_limit(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setattr(dev_mailbox, "MAX_MESSAGES", 3)
    monkeypatch.setattr(dev_mailbox, "DELETE_ONCE_IN", 1)
    for number in range(5):
        dev_mailbox.store_message("push", "device-1", None, str(number))
    assert [message["text"] for message in dev_mailbox.list_messages()] == ["4", "3", "2"]
    assert len(list(folder.iterdir())) == 3


@pytest.mark.parametrize("id", ["", "*", "../../etc/passwd", "0" * 24, "0" * 23 + "*"])
def test_message_is_found_only_by_a_valid_id(id: str) -> None:
    dev_mailbox.store_message("push", "device-1", None, "text")
    assert dev_mailbox.find_message(id) is None
