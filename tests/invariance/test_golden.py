"""The same bits everywhere: short runs end with the hashes that granum was published with, on any CPU, threads and restart.

When bits move on purpose: ``python -m granum.golden --write``, and a line in the changelog.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys

import numpy as np
import pytest

from granum import __version__, golden
from granum.analysis import state_hash
from granum.caches import cache_root
from granum.checks import InputError, RunError
from granum.golden import SCENES, hashes, scenes
from granum.golden import __main__ as command
from granum.parallel import team

X86_V3_OFF = "AVX2 FMA3 X86_V3 AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX512_SPR X86_V4"
LIBRARIES = {"NPY_DISABLE_CPU_FEATURES": X86_V3_OFF, "OPENBLAS_CORETYPE": "Nehalem", "MKL_ENABLE_INSTRUCTIONS": "SSE4_2"}
"""NumPy and BLAS as on a CPU without AVX2: nothing of theirs may count."""
TARGETS = {
    "haswell": {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": "", "OPENBLAS_CORETYPE": "Haswell"},
    "skylake": {"NUMBA_CPU_NAME": "skylake", "NUMBA_CPU_FEATURES": "", "OPENBLAS_CORETYPE": "Sandybridge"},
    "znver2": {"NUMBA_CPU_NAME": "znver2", "NUMBA_CPU_FEATURES": "-sse4a,-clzero,-wbnoinvd,-mwaitx", "OPENBLAS_CORETYPE": "Zen"},
    # as tuned for AVX-512, with the instructions that every CPU with AVX2 has
    "emeraldrapids": {"NUMBA_CPU_NAME": "emeraldrapids", "NUMBA_CPU_FEATURES": "+avx2,+fma,-avx512f,-amx-tile,-avxvnni,-gfni"},
}

THREADED = [name for name in SCENES if name != "jammed"]  # a search for jamming knows one thread


def as_other_cpu(name: str, environment: dict[str, str], *chosen: str) -> dict[str, str]:
    """Hashes that another process computes, which takes the machine for another CPU. Kernels of each target are kept on their own."""
    kernels = {"NUMBA_CACHE_DIR": str(cache_root() / f"as-{name}")} if "NUMBA_CPU_NAME" in environment else {}
    options = [f"--scene={scene}" for scene in chosen]
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "granum.golden", "--json", *options],
        env={**os.environ, **environment, **kernels},
        capture_output=True,
        text=True,
    )
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def reference():
    return golden.expected()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SCENES)
def test_golden_hash(name, reference):
    found = golden.compute([name])
    assert not golden.mismatches(found, reference), golden.verdict(found, reference)[1]


def same_on(threads, names, reference, monkeypatch):
    monkeypatch.setattr(team, "LEAST", 1)  # every thread is woken, however little there is to do
    assert not golden.mismatches(golden.compute(names, threads), reference)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", THREADED)
def test_golden_hash_on_two_threads(name, reference, monkeypatch):
    same_on(2, [name], reference, monkeypatch)


@pytest.mark.filterwarnings("ignore")
def test_a_golden_hash_on_many_threads(reference, monkeypatch):
    same_on(8, ["merged"], reference, monkeypatch)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_golden_hashes_on_many_threads(reference, monkeypatch):
    same_on(8, THREADED, reference, monkeypatch)


LIBRARY_FUNCTIONS = {
    np: "sin cos tan exp log log2 power hypot arctan2 arcsin cbrt einsum dot matmul inner vdot",
    np.linalg: "norm inv det solve qr eigh eigvalsh svd",
    math: "sin cos tan exp log log2 pow hypot atan2 asin gamma",
}


def off_by_one_place(function):
    """The function with all its floats wrong by one unit in the last place."""

    def wrong(*args, **kwargs):
        found = function(*args, **kwargs)
        parts = found if isinstance(found, tuple) else (found,)
        moved = [np.nextafter(part, np.inf) if np.asarray(part).dtype == np.float64 else part for part in parts]
        moved = [float(part) if isinstance(old, float) else part for part, old in zip(moved, parts, strict=True)]
        return tuple(moved) if isinstance(found, tuple) else moved[0]

    return wrong


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["box", "hopper", "drum", "shaker", "belt", "smooth", "silo", "merged", "jammed"])
def test_golden_hash_with_libraries_that_round_otherwise(name, reference, monkeypatch):
    """Functions of NumPy and of the C library that are wrong by one unit in the last place, as they are on another CPU, change nothing."""
    golden.compute([name])  # compiled before, as a compiler may count with them
    for module, functions in LIBRARY_FUNCTIONS.items():
        for function in functions.split():
            monkeypatch.setattr(module, function, off_by_one_place(getattr(module, function)))
    assert not golden.mismatches(golden.compute([name]), reference)


def test_a_run_that_was_not_stopped_has_the_hash_of_the_restarted_one(reference):
    assert state_hash(*scenes.restart(1, stop=False).arrays) == reference.hashes["restart"]


def test_golden_hashes_do_not_depend_on_the_instructions_of_libraries(reference):
    assert as_other_cpu("libraries", LIBRARIES) == reference.hashes


@pytest.mark.slow
def test_a_golden_hash_as_another_cpu(reference):
    assert as_other_cpu("haswell", TARGETS["haswell"], "jammed")["jammed"] == reference.hashes["jammed"]


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_golden_hashes_as_other_cpus(name, reference):
    assert as_other_cpu(name, TARGETS[name] | ({"NPY_DISABLE_CPU_FEATURES": X86_V3_OFF} if name == "haswell" else {})) == reference.hashes


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "is missing"),
        ("no json", "is no file of golden hashes"),
        ({"format": "other", "granum": __version__}, "is no file of golden hashes"),
        ({"format": "granum-golden", "granum": "9.9"}, f"of granum 9.9, and this is granum {__version__}"),
        ({"format": "granum-golden", "granum": __version__}, "do not know the same golden scenes: belt, box"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_in_words(content, words, tmp_path, monkeypatch):
    path = tmp_path / "golden.json"
    if content is not None:
        path.write_text(content if isinstance(content, str) else json.dumps({"machine": {}, "hashes": {}, **content}))
    with pytest.raises(InputError, match=words):
        golden.expected(path)
    monkeypatch.setattr(hashes, "FILE", path)
    with pytest.raises(InputError, match="--write"):
        golden.expected()


@pytest.mark.parametrize(("arguments", "words"), [(["--scene", "boxx"], "Did you mean 'box'"), (["--threads", "0"], "threads")])
def test_bad_input_of_the_command_exits_with_2(arguments, words, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["golden", *arguments])
    assert command.main() == 2
    assert words in capsys.readouterr().err


def test_what_is_written_is_read_back(tmp_path, monkeypatch):
    monkeypatch.setattr(scenes, "run", lambda name, threads=1: scenes.Outcome((), {}))
    written = golden.write(tmp_path / "golden.json")
    assert golden.expected(tmp_path / "golden.json") == written
    assert set(written.hashes) == set(SCENES)


def test_another_hash_says_what_differs(reference):
    other = golden.Golden({**reference.hashes, "box": "0" * 64}, {**golden.machine(), "cpu": "pentium"})
    kept, said = golden.verdict({"box": reference.hashes["box"]}, other)
    assert kept is (golden.machine()["avx2 and fma"] == "no")
    assert "computes other bits than granum's reference in box" in said
    assert f"cpu {golden.machine()['cpu']} (reference: pentium)" in said
    assert golden.verdict({"box": reference.hashes["box"]}, reference) == (True, "This machine computes granum's reference bits.")


def test_a_scene_in_which_nothing_happens_is_no_proof(monkeypatch):
    monkeypatch.setitem(SCENES, "idle", (lambda threads: scenes.Outcome((), {"contacts": 3, "left": 0}), ("left",)))
    with pytest.raises(RunError, match="'idle' shows nothing: it has no left"):
        scenes.run("idle")
