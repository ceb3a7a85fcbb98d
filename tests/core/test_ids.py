"""Object ids: their form, their order, and that they do not meet."""

import pytest
import time_machine

from app.core.ids import is_id, new_id


def test_an_id_has_twenty_four_lower_case_hex_digits() -> None:
    assert is_id(new_id()) and len(new_id()) == 24


def test_a_hundred_thousand_ids_are_all_different() -> None:
    assert len({new_id() for _ in range(100_000)}) == 100_000


def test_ids_are_roughly_ordered_by_creation() -> None:
    with time_machine.travel("2026-12-04T16:00:00Z", tick=False):
        earlier = [new_id() for _ in range(100)]
    with time_machine.travel("2026-12-04T16:00:01Z", tick=False):
        later = [new_id() for _ in range(100)]
    assert max(earlier) < min(later)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "6565a1f0c3d2e1b0a9f8e7d",
        "6565a1f0c3d2e1b0a9f8e7d66",
        "6565A1F0C3D2E1B0A9F8E7D6",
        "g" * 24,
        "6565a1f0c3d2e1b0a9f8e7d6\n",
        " 6565a1f0c3d2e1b0a9f8e7d",
        "６" * 24,
        None,
        6565,
        b"6565a1f0c3d2e1b0a9f8e7d6",
    ],
)
def test_invalid_ids_are_refused(text: object) -> None:
    assert not is_id(text)
