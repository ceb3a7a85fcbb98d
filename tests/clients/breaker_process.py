"""A process that asks a breaker once: `python -m tests.clients.breaker_process REDIS_URL NAME ask|fail`."""

import sys

from app.clients.payrail.breaker import Breaker, Limits

LIMITS = Limits(failures=5, open_for=1.0, trial=5.0)

if __name__ == "__main__":
    breaker = Breaker(sys.argv[1], sys.argv[2], LIMITS)
    permit = breaker.permit()
    if sys.argv[3] == "fail":
        breaker.failed(permit)
    sys.stdout.write(permit.value)
