"""How long the state machines of this folder run: short in CI, long in `make fuzz`.

    MODEL_EXAMPLES   how many runs of each machine (4)
    MODEL_STEPS      how many steps a run has at most (25)

Without MODEL_EXAMPLES each run of the tests plays the same steps. With it each plays others; pytest's
`--hypothesis-seed` repeats one.
"""

import os

from hypothesis import HealthCheck, Phase, settings

EXAMPLES = int(os.environ.get("MODEL_EXAMPLES", "4"))
STEPS = int(os.environ.get("MODEL_STEPS", "25"))


def model_settings(**overrides: object) -> settings:
    """Settings for a state machine's test; `overrides` are hypothesis settings that this machine needs otherwise."""
    values: dict[str, object] = {
        "max_examples": EXAMPLES,
        "stateful_step_count": STEPS,
        "deadline": None,
        "derandomize": "MODEL_EXAMPLES" not in os.environ,
        "database": None,
        "print_blob": True,
        "suppress_health_check": list(HealthCheck),
        # Without the explain phase: it runs a failing example many times more, and each run fills a database.
        "phases": (Phase.explicit, Phase.generate, Phase.shrink),
    }
    return settings(**{**values, **overrides})  # type: ignore[arg-type]
