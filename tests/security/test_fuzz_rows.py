"""Requests in a row, each with what an answer before it gave: nothing is a 5xx, and what is gone stays gone.

Which answer leads to which operation schemathesis finds in the document (an id in `data`, and the path that takes it);
where a row begins, the ids are those of real things. Who may do a thing sends it.
"""

import os
import re
from typing import Any

import pytest
import schemathesis
from flask import Flask
from hypothesis import HealthCheck, settings
from schemathesis import GenerationMode
from schemathesis.core.parameters import ParameterLocation
from schemathesis.specs.openapi.checks import use_after_free

from tests.security.requests import find_sample_request
from tests.security.test_fuzz_inside import CHECKS, UNAVAILABLE, sender
from tests.security.test_matrix import world as world
from tests.security.world import World, restore_tables

pytestmark = pytest.mark.slow

ROWS = settings(
    max_examples=int(os.environ.get("FUZZ_EXAMPLES", "25")),
    stateful_step_count=8,
    derandomize=True,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
LEAST_LINKS = 100


class Rows:
    """What the machine of the document does in each step; it notes how every request went."""

    world: World
    said: list[tuple[str, int, bool]]

    def step(self, input: Any) -> Any:
        case = input.case
        taken = {name for where, name in input.applied_parameters if where is ParameterLocation.PATH}
        named = {
            name: self.world.things[find_sample_request(title(case)).path_values.get(name, name)]
            for name in names(case)
        }
        case.path_parameters = {name: case.path_parameters[name] if name in taken else named[name] for name in named}
        self.linked = bool(taken)
        return super().step(input)  # type: ignore[misc]

    def get_call_kwargs(self, case: Any) -> dict[str, Any]:
        return {"headers": {**self.world.callers[sender(title(case))].headers, "Accept-Encoding": "identity"}}

    def validate_response(self, response: Any, case: Any, **_: Any) -> None:
        self.said.append((title(case), response.status_code, self.linked))
        case.validate_response(response, checks=[*CHECKS, use_after_free])
        assert response.status_code < 500 or response.json()["shortMessage"] in UNAVAILABLE, response.text

    def teardown(self) -> None:
        restore_tables()


def title(case: Any) -> str:
    return f"{case.method.upper()} {case.operation.path}"


def names(case: Any) -> list[str]:
    return re.findall(r"{(\w+)}", case.operation.path)


@pytest.fixture
def machine(world: World) -> Any:
    app: Flask = world.client.flask.application
    schema = schemathesis.openapi.from_wsgi("/openapi.json", app)
    schema.config.generation.update(modes=[GenerationMode.POSITIVE])
    return type("Machine", (Rows, schema.as_state_machine()), {"world": world, "said": []})


def test_no_row_of_requests_breaks_anything(machine: Any) -> None:
    machine.run(settings=ROWS)
    good = [item for item in machine.said if item[1] < 300]
    assert len(good) > len(machine.said) / 8 and any(linked for *_, linked in good), machine.said


def test_the_document_leads_from_answers_to_operations(machine: Any) -> None:
    assert sum(len(operation.outgoing) for operation in machine._transitions.operations.values()) >= LEAST_LINKS
