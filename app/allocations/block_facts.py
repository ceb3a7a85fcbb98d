"""The facts of a block: what its organiser enters. Handing out its places changes none of them, but its version."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from app.allocations.release_plan import STEP_FIELDS

BLOCK_FACTS = (
    "name",
    "kind",
    "notes",
    "unit_price_minor",
    "quantity",
    "guests_may_pass_on",
    "guests_may_give_back",
    "holder_name",
    "holder_email",
    "holder_phone",
    "holder_organisation",
    "release_at",
    "release_plan",
)
"""The facts on the form of a block and in its plan."""


def digest_facts(block: Mapping[Any, Any], columns: Sequence[str] = BLOCK_FACTS) -> str:
    """Return what is the same for two states of a block with the same facts, in 32 hexadecimal digits.

    A step of the release plan stays the same when it runs.
    """
    facts = {name: block[name] for name in columns}
    if "release_plan" in facts:
        facts["release_plan"] = [[step[name] for name in STEP_FIELDS] for step in facts["release_plan"]]
    return hashlib.sha256(json.dumps(facts, default=str).encode()).hexdigest()[:32]
