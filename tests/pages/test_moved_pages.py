"""The former addresses of pages that are at the desk now."""

import pytest

from tests.pages.pages import Visitor

ID = "6565a1f0c3d2e1b0a9f8e7d6"


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("/account/team/organiser", "/desk/team"),
        (f"/account/team/organiser/members/{ID}", f"/desk/team/members/{ID}"),
        ("/account/organisation", "/desk/settings"),
        ("/account/organisation/bank", "/desk/settings/bank"),
        ("/account/devices", "/desk/devices"),
        (f"/account/devices/{ID}", f"/desk/events/{ID}/gate/phones"),
        ("/account/api-keys", "/desk/keys"),
    ],
)
def test_an_old_address_leads_to_the_desk(visitor: Visitor, path: str, target: str) -> None:
    answer = visitor.open(path)
    assert (answer.status_code, answer.headers["Location"]) == (301, target)
    assert visitor.open(target).headers["Location"] == f"/sign-in?next={target}"
