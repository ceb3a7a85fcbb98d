"""At most six statements for any operation and page between the application and the stall, the hard ways included."""

import pytest
from flask import Flask

from tests.ceiling import of_applications, of_campaigns, of_links, of_merchants, of_pages, of_stalls
from tests.ceiling.cases import CASES, Case
from tests.counting import counted
from tests.http import Client

MOST = 6
BLUEPRINTS = ("applications", "activation", "merchants", "invitations", "crew",
              "documents", "pay", "activate", "merchant_invite", "campaigns", "click")  # fmt: skip
MODULES = (of_applications, of_campaigns, of_links, of_merchants, of_pages, of_stalls)


@pytest.mark.parametrize("case", [pytest.param(each, id=each.name) for each in CASES])
def test_no_request_takes_more_than_six_statements(client: Client, case: Case) -> None:
    ask = case.prepare(client)
    answer, seen = counted(ask)
    assert answer.status_code == case.status, answer.get_data(as_text=True)
    assert len(seen) <= MOST, "\n\n".join(seen)


def test_every_operation_and_page_is_counted(application: Flask) -> None:
    rules = {
        f"{method} {rule.rule}"
        for rule in application.url_map.iter_rules()
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
        if rule.endpoint.split(".")[0] in BLUEPRINTS
    }
    assert rules == {each.route for each in CASES}
    assert {each.prepare.__module__ for each in CASES} == {each.__name__ for each in MODULES}
