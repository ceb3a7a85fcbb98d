"""`python -m benchmarks.neighbour`: a program that keeps one core and the caches busy until it is stopped."""

from __future__ import annotations

import os
import random

MEGABYTES = 64


def main() -> None:
    """Write to memory in random order, far more of it than a cache holds, until the parent process ends."""
    memory = bytearray(MEGABYTES * 1024 * 1024)
    chance, parent = random.Random(1), os.getppid()
    while os.getppid() == parent:
        for _ in range(100_000):
            memory[chance.randrange(len(memory))] += 0


if __name__ == "__main__":
    main()
