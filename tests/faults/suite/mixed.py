"""F0: a short mixture of faults, for a quick check. It is not part of the plan."""

import os
import signal
import time

from mock_rail import Fault as Does
from tests.faults.suite.plan import fault
from tests.faults.suite.scenario import Scene
from tests.faults.suite.store_faults import cut_the_pool


@fault("F0")
def a_little_of_everything(scene: Scene) -> None:
    """kills of workers and of a web worker, Redis emptied, PostgreSQL restarted and cut off, a rail that says 500"""
    pause = scene.seconds / 8
    scene.stack.rail.faults.set([Does(do="fail", on="send", times=3), Does(do="duplicate")])
    for kind in ("horse", "parent", "flush"):
        scene.storm.killed[kind] += getattr(scene.storm, kind)(scene.dice)
        time.sleep(pause)
    os.kill(scene.dice.choice(scene.stack.web_workers()), signal.SIGKILL)
    time.sleep(pause)
    scene.stack.database.crash()
    time.sleep(pause)
    scene.stack.database.start()
    time.sleep(pause)
    cut_the_pool(scene)
    scene.killed["stack"] += 2
    time.sleep(pause)
