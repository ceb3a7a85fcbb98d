"""The work on files: one for all who ask at once, whole or not at all, done again when a worker dies, deleted in the end."""

from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text

from app.accounts.caller import build_caller
from app.accounts.models import Account
from app.core.errors import NotFound, Throttled
from app.core.outbox.executor import run_due_jobs
from app.core.outbox.lease import expire_leases
from app.core.outbox.tuning import get_tuning
from app.core.transaction import transaction
from app.files import actions, work
from app.files.kinds import FileTask
from app.files.queries import FileState, get_content, get_file
from tests.factories.payouts import execute_sql, fetch_scalar
from tests.files.sample import SAMPLE, register_sample
from tests.pages.test_team_pages import create_owner
from tests.races import run_concurrently


@pytest.fixture
def begun(app: Flask) -> Iterator[list[FileTask]]:
    with register_sample() as begun:
        yield begun


@pytest.fixture
def owner(app: Flask) -> Account:
    return create_owner()


def request(owner: Account, **parameters: Any) -> str:
    return actions.request_file(build_caller(owner), SAMPLE, organisation_id=owner.id, parameters=parameters)


def read(owner: Account, file_id: str) -> FileState:
    return get_file(build_caller(owner), file_id)


def run_again() -> None:
    execute_sql("UPDATE outbox SET run_at = now() WHERE kind = 'files.make' AND state = 'ready'")
    run_due_jobs(worker="test")


def test_a_file_waits_is_made_and_can_be_downloaded(owner: Account, begun: list[FileTask]) -> None:
    file_id = request(owner, word="river")
    assert read(owner, file_id).status == "queued"
    with pytest.raises(NotFound):
        get_content(build_caller(owner), file_id)
    run_due_jobs(worker="test")
    file = read(owner, file_id)
    assert (file.status, file.progress, file.name, file.is_over) == ("done", 100, "sample.txt", True)
    assert get_content(build_caller(owner), file_id).data == b"word: river"
    assert (begun[0].organisation_id, begun[0].account_id) == (owner.id, owner.id)


def test_the_same_file_is_made_once_at_a_time(owner: Account, begun: list[FileTask]) -> None:
    first = request(owner, word="river")
    assert request(owner, word="river") == first != request(owner, word="desert")
    run_due_jobs(worker="test")
    assert len(begun) == 2 and request(owner, word="river") != first


def test_of_many_who_ask_at_once_all_get_one_file(app: Flask, owner: Account, begun: list[FileTask]) -> None:
    def ask(_: int) -> str:
        with app.app_context():
            return request(owner, word="river")

    assert len(set(run_concurrently(8, ask))) == 1
    assert fetch_scalar("SELECT count(*) FROM outbox WHERE kind = 'files.make'") == 1


@pytest.mark.control
def test_without_the_lock_there_would_be_more(
    app: Flask, owner: Account, begun: list[FileTask], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(actions, "lock_name", lambda *_: None)
    monkeypatch.setattr(actions.throttle, "hit", lambda *_: type("Hits", (), {"exceeded": False, "seconds": 1}))
    test_ids = set(run_concurrently(8, lambda _: _ask_in(app, owner)))
    assert len(test_ids) > 1


def _ask_in(app: Flask, owner: Account) -> str:
    with app.app_context():
        return request(owner, word="river")


def test_a_refused_work_says_why_and_is_not_done_again(owner: Account, begun: list[FileTask]) -> None:
    file_id = request(owner, refuse=True)
    run_due_jobs(worker="test")
    file = read(owner, file_id)
    assert (file.status, file.message) == ("failed", "There is nothing in this period.")
    run_again()
    assert len(begun) == 1


def test_a_broken_attempt_is_done_again(owner: Account, begun: list[FileTask]) -> None:
    file_id = request(owner, failures=1)
    run_due_jobs(worker="test")
    assert (read(owner, file_id).status, read(owner, file_id).progress) == ("running", 50)
    run_again()
    assert read(owner, file_id).status == "done" and len(begun) == 2


def test_after_five_broken_attempts_it_has_failed(owner: Account, begun: list[FileTask]) -> None:
    file_id = request(owner, failures=99)
    for _ in range(8):
        run_again()
    file = read(owner, file_id)
    assert (file.status, file.message, file.name) == ("failed", work.FAILURE, None) and len(begun) == 5


def test_a_worker_that_dies_leaves_the_work_to_another(
    owner: Account, begun: list[FileTask], monkeypatch: pytest.MonkeyPatch
) -> None:
    file_id = request(owner)
    with monkeypatch.context() as patch:
        patch.setattr(work.Task, "finish", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()))
        with pytest.raises(KeyboardInterrupt):
            run_due_jobs(worker="killed")
    assert read(owner, file_id).status == "running"
    execute_sql("UPDATE outbox SET lease_until = now() - interval '1 s' WHERE state = 'leased'")
    assert expire_leases(get_tuning()) == 1
    run_due_jobs(worker="test")
    assert read(owner, file_id).status == "done" and len(begun) == 2


def test_a_deleted_file_is_not_made(owner: Account, begun: list[FileTask]) -> None:
    file_id = request(owner)
    actions.delete_file(build_caller(owner), file_id)
    run_due_jobs(worker="test")
    assert begun == [] and fetch_scalar("SELECT count(*) FROM organisation_file") == 0
    with pytest.raises(NotFound):
        actions.delete_file(build_caller(owner), file_id)


def test_files_are_deleted_after_seven_days(owner: Account, begun: list[FileTask]) -> None:
    file_id = request(owner)
    run_due_jobs(worker="test")
    left = fetch_scalar("SELECT extract(epoch FROM expires_at - finished_at) / 86400 FROM organisation_file")
    assert left == 7
    execute_sql("UPDATE organisation_file SET expires_at = now() - interval '1 s'")
    with pytest.raises(NotFound):
        read(owner, file_id)
    with transaction() as session:
        work.delete_expired_files(session)
        assert session.scalar(text("SELECT count(*) FROM organisation_file")) == 0


def test_only_those_with_the_permission_ask(owner: Account, begun: list[FileTask]) -> None:
    other = create_owner("Other")
    with pytest.raises(NotFound):
        actions.request_file(build_caller(other), SAMPLE, organisation_id=owner.id)
    with pytest.raises(NotFound):
        get_file(build_caller(other), request(owner))


def test_asking_has_a_limit(owner: Account, begun: list[FileTask], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(actions, "REQUEST_LIMIT", actions.Rule("files", 2, actions.REQUEST_LIMIT.window))
    for word in ("a", "b"):
        request(owner, word=word)
    with pytest.raises(Throttled):
        request(owner, word="c")
    assert fetch_scalar("SELECT count(*) FROM organisation_file") == 2
