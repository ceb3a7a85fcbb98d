"""`python -m benchmarks.layers me discover`: what each layer of a request costs, in µs of the web workers' CPU.

With `--calls`: how many Python functions each layer calls, without gunicorn.

py-spy samples the stacks of the workers while the load runs. A sample belongs to the innermost of the layers in its
stack, so SQLAlchemy below the query of the session counts as that query. The share of a layer times the CPU of a
request is its cost. Bodies of requests and responses pass the kernel in gunicorn.
"""

from __future__ import annotations

import argparse
import logging
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from benchmarks import wrk
from benchmarks.calls import count_calls
from benchmarks.outcome import Failed
from benchmarks.registry import registered
from benchmarks.sampling import sample_stacks
from benchmarks.stage import Stage, machine, stage

LAYERS = (
    ("log line", r"app/core/logs|/structlog/|/logging/|_log_request"),
    ("metrics", r"app/core/metrics/|prometheus_client/|record_response|start_request|finish_request"),
    ("response cache", r"app/web/response_cache"),
    ("limits", r"app/web/rate_limits|/limits/|app/core/throttle"),
    ("session query", r"find_caller"),
    ("token", r"app/web/access|/jwt/|flask_jwt_extended|app/accounts/signing_keys"),
    ("parse", r"app/web/request_parser|/webargs/|flask_smorest/arguments"),
    ("dump and envelope", r"app/web/envelope|flask_smorest/response"),
    ("idempotency, ETag, paging", r"app/web/(idempotency|etags|paging)|app/core/idempotency"),
    ("our middleware", r"app/web/middleware"),
    ("jobs", r"app/core/outbox/"),
    ("view: transaction", r"app/core/transaction"),
    ("view: its code and statements", r"app/(?!web/|core/)"),
    ("routing", r"werkzeug/routing/"),
    ("session teardown", r"flask_sqlalchemy/extension"),
    ("Flask", r"/flask/|app/web/blueprint"),
    ("werkzeug", r"/werkzeug/"),
    ("gunicorn", r"/gunicorn/"),
)
PATTERNS = tuple((name, re.compile(pattern)) for name, pattern in LAYERS)
FREQUENCY = 100


def main() -> int:
    """0 after the table; 2 when a response was an error."""
    asked = _arguments()
    benchmarks = registered()
    try:
        with stage(seconds=asked.seconds, rounds=1, clients=8) as here:
            costs = {}
            for name in asked.names:
                if (seed := benchmarks[name].seed) is not None:
                    seed(here)
                costs[name] = count_calls_of_layers(here, name) if asked.calls else measure_layers(here, name)
            print(f"{machine()}; {asked.seconds:g} s\n\n{format_table(costs)}")
    except Failed as failure:
        print(f"\nThe measurement is void. {failure}", file=sys.stderr)
        return 2
    return 0


def measure_layers(here: Stage, name: str) -> dict[str, float]:
    """Return the µs of CPU of each layer for one request of a benchmark."""
    prepare = registered()[name].prepare
    run = here.run(prepare(here))
    load = prepare(here)
    with tempfile.TemporaryDirectory() as folder:
        stacks = Path(folder, "stacks.txt")
        with sample_stacks(here.service, here.seconds, stacks, frequency=FREQUENCY):
            here.blow(load, longer=1).finish()
        samples = count_layers(stacks.read_text().splitlines())
    total = sum(samples.values())
    return {layer: 1000 * (run.server_cpu or 0) * count / total for layer, count in samples.items()}


def count_calls_of_layers(here: Stage, name: str) -> Counter[str]:
    """Count the Python functions that each layer calls for one request of a benchmark."""
    counts: Counter[str] = Counter()
    for stack, number in count_calls(here, name).items():
        counts[find_layer(stack)] += number
    return counts


def count_layers(stacks: Iterable[str]) -> Counter[str]:
    """Count samples by layer. A stack is a line of frames from the outermost on, and its number of samples."""
    counts: Counter[str] = Counter()
    for line in stacks:
        frames, _, number = line.rpartition(" ")
        counts[find_layer(frames.split(";"))] += int(number)
    return counts


def find_layer(frames: Sequence[str]) -> str:
    """The layer of the innermost frame that has one."""
    for frame in reversed(frames):
        for name, pattern in PATTERNS:
            if pattern.search(frame):
                return name
    return "other"


def format_table(costs: Mapping[str, Mapping[str, float]]) -> str:
    """A row for each layer, a column for each benchmark, in the order of a request."""
    lines = [f"| layer | {' | '.join(costs)} |", f"|---|{'---:|' * len(costs)}"]
    for layer in (*(name for name, _ in LAYERS), "other"):
        values = [found.get(layer, 0) for found in costs.values()]
        if any(round(value) for value in values):
            lines.append(f"| {layer} | {' | '.join(f'{value:.0f}' for value in values)} |")
    lines.append(f"| **together** | {' | '.join(f'{sum(found.values()):.0f}' for found in costs.values())} |")
    return "\n".join(lines)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.layers", description=__doc__)
    parser.add_argument("names", nargs="+", choices=sorted(registered()), metavar="NAME")
    parser.add_argument("--seconds", type=float, default=5, help="length of each sampling, 5 unless told")
    parser.add_argument("--calls", action="store_true", help="count the Python functions that are called")
    asked = parser.parse_args()
    if not wrk.installed():
        parser.error(wrk.INSTALL)
    return asked


if __name__ == "__main__":
    logging.getLogger("alembic").setLevel(logging.WARNING)
    sys.exit(main())
