"""Spoiled scenes and command lines, hundreds by default.

Guaranteed: no scene file and no command line ends in a traceback, in an exit code other than 0 (done), 1 (the run failed, in words) and 2
(refused, in words), or goes on for 20 s. Scenes are loaded and run for three steps, with a recording, by the command line in this process.

Thousands, and others than these: ``GRANUM_FUZZ=3000,500,7 pytest -s tests/robustness/test_fuzz.py`` takes 3000 scenes and 500 command lines
with the seed 7. A failure names its case; ``GRANUM_FUZZ_CASE=7-scene-123`` runs that one alone.
"""

from __future__ import annotations

import faulthandler
import os
import random
import signal
from pathlib import Path

import pytest

from granum import memory
from granum.cli import COMMANDS
from granum.simulation import Simulation
from tests.robustness.door import Ending, call, command
from tests.robustness.mutations import LINES, SCENES, spoiled_line, spoiled_scene, to_toml

SCENE_COUNT, LINE_COUNT, SEED = (int(n) for n in os.environ.get("GRANUM_FUZZ", "220,80,1").split(","))
ONE = os.environ.get("GRANUM_FUZZ_CASE")
STEPS = 3  # of every run
ROOM, SPACE = 20e6, 6 << 30  # [bytes] that grains may ask for, and that the process may take on top of what it has
TOO_LONG, STUCK = 20, 120  # [s] after which a case counts as one that hangs, and after which the process ends, in compiled code too
CODES = (0, 1, 2)


class Hangs(BaseException):
    """The case takes too long."""


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Small files for command lines to read: a run with a checkpoint and a problem, a packing, a scene, and files that are none."""
    folder = tmp_path_factory.mktemp("fuzz")
    before = os.getcwd()
    os.chdir(folder)
    for line in (
        ("run", "column", "--set", "count=3", "--duration", "0.05", "--dump-problem", "0.02", "-o", "run.h5", "--no-picture"),
        ("jam", "--particles", "8", "-o", "jam.h5", "--no-picture"),
    ):
        ending = call(*line)
        assert ending.code == 0, ending.stderr
    (folder / "scene.toml").write_text(to_toml(SCENES["balls"]))
    (folder / "broken.h5").write_bytes((folder / "run.h5").read_bytes()[:1000])
    (folder / "empty.h5").touch()
    (folder / "folder").mkdir()
    kept = {path: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    yield kept
    os.chdir(before)


@pytest.fixture
def bounded(files, monkeypatch):
    """Runs of a few steps, in little memory; files that a case has changed are put back."""
    run_until = Simulation.run_until
    monkeypatch.setattr(Simulation, "run_until", lambda sim, last: run_until(sim, min(last, sim.step_count + STEPS)))
    monkeypatch.setattr(memory, "available", lambda: ROOM)
    resource = pytest.importorskip("resource")
    if not Path("/proc/self/statm").exists():
        pytest.skip("this system does not tell how much memory a process has")
    limits = resource.getrlimit(resource.RLIMIT_AS)
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + SPACE, limits[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, limits)


def ends(line: list[str]) -> Ending:
    """How a command line ends, or that it does not."""

    def stop(*_):
        raise Hangs

    handler = signal.signal(signal.SIGALRM, stop)
    faulthandler.dump_traceback_later(STUCK, exit=True)
    signal.alarm(TOO_LONG)
    try:
        return call(*line)
    except Hangs:
        return Ending(-1, "", "", "hangs")
    finally:
        signal.alarm(0)
        faulthandler.cancel_dump_traceback_later()
        signal.signal(signal.SIGALRM, handler)


def wrong(ending: Ending) -> str:
    """What a user should not see; empty: all is well."""
    if ending.trace:
        return ending.trace
    if "Traceback" in ending.stderr or "Aborted" in ending.stderr or ending.code not in CODES:
        return f"exit {ending.code}: {ending.stderr[-2000:]}"
    return "" if ending.code == 0 or ending.stderr.strip() else f"exit {ending.code} without a word"


def restore(kept):
    folder = next(iter(kept)).parent
    for path in folder.iterdir():
        if path.is_file() and path not in kept:
            path.unlink()
    for path, content in kept.items():
        if not path.is_file() or path.read_bytes() != content:
            path.write_bytes(content)


def cases(kind, count):
    chosen = [f"{SEED}-{kind}-{n}" for n in range(count)] if ONE is None else [ONE]
    return [case for case in chosen if case.split("-")[1] == kind]


def report(found, spoiled):
    kinds = "\n\n".join(f"{case}: {spoiled[case]}\n{text[-1500:]}" for case, text in list(found.items())[:20])
    assert not found, f"{len(found)} of {len(spoiled)} cases:\n{kinds}"


@pytest.mark.filterwarnings("ignore")
def test_sound_ones_are_done(files, bounded):
    """What is spoiled below is sound; and its kernels are compiled from here on, which may take longer than a case may."""
    for name, tree in SCENES.items():
        Path("case.toml").write_text(to_toml(tree))
        ending = call("run", "case.toml", "--no-picture", "-o", "case.h5")
        assert (ending.code, ending.trace) == (0, ""), f"{name}: {ending.stderr}"
    for line in LINES:
        ending = call(*line)
        assert (ending.code, ending.trace) == (0, ""), f"{line}: {ending.stderr}"
    restore(files)


@pytest.mark.filterwarnings("ignore")
def test_spoiled_scenes_end_in_words(files, bounded):
    found, spoiled, endings = {}, {}, dict.fromkeys(CODES, 0)
    for case in cases("scene", SCENE_COUNT):
        spoiled[case] = spoiled_scene(random.Random(case))
        Path("case.toml").write_text(spoiled[case], encoding="utf-8", errors="surrogatepass")
        ending = ends(["run", "case.toml", "--no-picture", "-o", "case.h5"])
        if text := wrong(ending):
            found[case] = text
            print(f"{case}: {text.strip().splitlines()[-1]}")
        else:
            endings[ending.code] += 1
        restore(files)
    print(f"scenes: {endings[0]} ran, {endings[1]} stopped in words, {endings[2]} refused, {len(found)} wrong")
    report(found, spoiled)


@pytest.mark.filterwarnings("ignore")
def test_spoiled_command_lines_end_in_words(files, bounded):
    commands = command().commands
    options = {name: [o for p in commands[name].params for o in (*p.opts, *p.secondary_opts) if o.startswith("-")] for name in COMMANDS}
    found, spoiled, endings = {}, {}, dict.fromkeys(CODES, 0)
    for case in cases("line", LINE_COUNT):
        spoiled[case] = spoiled_line(random.Random(case), options)
        ending = ends(spoiled[case])
        if text := wrong(ending):
            found[case] = text
            print(f"{case}: {text.strip().splitlines()[-1]}")
        else:
            endings[ending.code] += 1
        restore(files)
    print(f"command lines: {endings[0]} ran, {endings[1]} stopped in words, {endings[2]} refused, {len(found)} wrong")
    report(found, spoiled)
