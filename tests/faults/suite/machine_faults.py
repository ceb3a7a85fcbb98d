"""F13, F14: full disks and wrong clocks."""

import io
import os
import shutil
import subprocess
import time
from collections import Counter
from pathlib import Path

from PIL import Image
from sqlalchemy import text

from app.core.db import db
from app.embedded import subprocesses
from tests.faults.suite.operations import Caller
from tests.faults.suite.plan import Impossible, fault
from tests.faults.suite.request_log import Request, RequestRecord
from tests.faults.suite.scenario import Scene

MEGABYTE = 1024 * 1024
FAKETIME = next(iter(sorted(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"))), None)
TURNS = "SELECT dedupe_key FROM outbox WHERE dedupe_key LIKE 'tick:%'"


@fault("F13")
def full_disks(scene: Scene) -> None:
    """the disk of uploads is full, then that of logs, then that of PostgreSQL (small tmpfs)"""
    if os.geteuid() != 0:
        raise Impossible("only root can mount a small file system")
    uploads(scene)
    logs(scene)
    database(scene)


class SmallDisk:
    """A tmpfs over a folder, until the stack ends."""

    def __init__(self, scene: Scene, folder: Path, megabytes: int) -> None:
        self.folder = folder
        owner = folder.stat()
        given = f"size={megabytes}m,uid={owner.st_uid},gid={owner.st_gid},mode={owner.st_mode & 0o7777:o}"
        subprocess.run(["mount", "-t", "tmpfs", "-o", given, "tmpfs", str(folder)], check=True)
        scene.stack.ends.callback(subprocess.run, ["umount", "-ql", str(folder)], check=False)

    def fill(self) -> Path:
        filler = self.folder / "filler"
        with filler.open("wb", buffering=0) as file:
            for size in (MEGABYTE, 4096, 1):
                try:
                    while True:
                        file.write(bytes(size))
                except OSError:
                    continue
        return filler


def uploads(scene: Scene) -> None:
    """Pictures until nothing more fits: told so, and no part of one left behind."""
    disk, caller = SmallDisk(scene, scene.stack.site.storage, 1), scene.load.caller("uploads")
    (scene.stack.site.storage / "media").mkdir(exist_ok=True)
    statuses = [upload(caller).status for _ in range(16)]
    scene.notes.append(f"uploads: {dict(Counter(statuses))}")
    scene.note("uploads answered otherwise", sum(status not in (201, 503, 507) for status in statuses))
    if not set(statuses) & {503, 507}:
        scene.note("uploads answered otherwise", 1)
    scene.note("parts of files left", sum(not whole(path) for path in disk.folder.rglob("*") if path.is_file()))
    subprocess.run(["umount", "-l", str(disk.folder)], check=True)
    scene.note("uploads answered otherwise", float(upload(caller).status != 201))
    caller.mouth.close()


def upload(caller: Caller) -> RequestRecord:
    """A picture of noise, so that it stays as large as it is."""
    made = io.BytesIO()
    Image.frombytes("RGB", (400, 400), caller.dice.randbytes(480_000)).save(made, "JPEG", quality=90)
    body = b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.jpg"\r\n\r\n' + made.getvalue()
    headers = {"Authorization": caller.world.owner}
    request = Request("POST", "/api/events/upload-cover", None, headers, body + b"\r\n--b--\r\n", "")
    request.content_type = "multipart/form-data; boundary=b"
    return caller.mouth.say(RequestRecord("upload", request))


def whole(path: Path) -> bool:
    try:
        Image.open(path).load()
    except OSError:
        return False
    return "#" not in path.name


def logs(scene: Scene) -> None:
    """Nothing more can be written down, and everybody is served."""
    place = scene.stack.folder / "small"
    place.mkdir()
    disk = SmallDisk(scene, place, 1)
    scene.stack.stop_web()
    scene.stack.start_web(place)
    filler, full = disk.fill(), time.monotonic()
    time.sleep(4)
    met = [item.status for item in list(scene.load.journal.asked) if item.at > full]
    scene.note("not alive", sum(status in (0, 500, 502, 503, 504) for status in met))
    filler.unlink()
    scene.stack.stop_web()
    scene.stack.start_web()


def database(scene: Scene) -> None:
    """PostgreSQL on a small disk: it may stop; with room again it starts and all is there."""
    server = scene.stack.database
    folder = server.place.data / "postgres"
    kept = folder.with_name("postgres.kept")
    server.stop()
    folder.rename(kept)
    folder.mkdir(mode=0o700)
    shutil.chown(folder, server.account.uid or os.geteuid(), server.account.gid or os.getegid())
    size = sum(path.stat().st_size for path in kept.rglob("*") if path.is_file())
    disk = SmallDisk(scene, folder, size // MEGABYTE + 96)
    subprocess.run(["cp", "-a", f"{kept}/.", str(folder)], check=True)
    server.start()
    time.sleep(2)
    filler = disk.fill()
    time.sleep(6)
    filler.unlink()
    scene.killed["stack"] += 1
    if not server.running() or not server.accepts():
        scene.notes.append("PostgreSQL had stopped")
        server.stop()
        server.start()
    scene.forget_connections()


@fault("F14")
def wrong_clocks(scene: Scene) -> None:
    """the clock of program and workers five minutes ahead and behind; that of PostgreSQL an hour behind and ahead"""
    if FAKETIME is None:
        raise Impossible("libfaketime is not installed (apt-get install libfaketime)")
    for shift in ("+300s", "-300s"):
        restarted(scene, {"LD_PRELOAD": str(FAKETIME), "FAKETIME": shift, "FAKETIME_DONT_FAKE_MONOTONIC": "1"})
        time.sleep(scene.seconds / 3)
    restarted(scene, {})
    clock = set_aside(scene)
    for shift in ("-3600s", "+0s", "+3600s"):
        clock.write_text(f"{shift}\n")
        time.sleep(max(4.0, scene.seconds / 6))
    scene.forget_connections()
    with db.engine.connect() as connection:
        turns = Counter(key for (key,) in connection.execute(text(TURNS)))
    scene.note("turns taken twice", sum(count - 1 for count in turns.values()))


def restarted(scene: Scene, environment: dict[str, str]) -> None:
    """Program, workers and relay, in another environment."""
    stack = scene.stack
    stack.stop_web()
    stack.start_web(**environment)
    stack.cluster.stop()
    scene.killed["stack"] += 1
    stack.cluster.variables = {**stack.variables, **environment}
    stack.cluster.start(stack.pace)


def set_aside(scene: Scene) -> Path:
    """PostgreSQL, started again on a clock that a file says."""
    clock = scene.stack.folder / "clock"
    clock.write_text("+0s\n")
    clock.chmod(0o644)
    faked = {
        "LD_PRELOAD": str(FAKETIME),
        "FAKETIME_TIMESTAMP_FILE": str(clock),
        "FAKETIME_CACHE_DURATION": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    }
    before = dict(subprocesses.ENVIRONMENT)
    subprocesses.ENVIRONMENT.update(faked)
    try:
        scene.stack.database.crash()
        scene.stack.database.start()
    finally:
        subprocesses.ENVIRONMENT.clear()
        subprocesses.ENVIRONMENT.update(before)
    scene.killed["stack"] += 1
    scene.is_database_clock_wrong = True
    return clock
