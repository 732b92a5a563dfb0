"""Checkpoints: content comes back bit for bit, a file is whole or not there, and damage is noticed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import h5py
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as numpy_strategies

from granum.checks import InputError, RunError
from granum.io import Recording, RecordingWriter, checkpoint_path, layout, read_checkpoint, write_checkpoint

SOURCE = Path(__file__).parents[2] / "src"


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "run.checkpoint.h5"


def same(a, b) -> bool:
    """Equal in structure, type and bits."""
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, dict):
        return isinstance(b, dict) and list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)):
        return isinstance(b, list) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, float):
        return isinstance(b, float) and (a.hex() == b.hex())
    return type(a) is type(b) and a == b


def content() -> dict:
    random = np.random.default_rng(5)
    random.random(3)
    return {
        "bodies": {"position": random.standard_normal((7, 3)), "radius": np.array([0.1, np.nan, -0.0, np.inf]), "none": None},
        "contacts": {"a": np.arange(5, dtype=np.int32), "status": np.zeros(0, np.int8), "empty": np.zeros((0, 3))},
        "random": random.bit_generator.state,  # ints of 128 bits
        "time": 0.1 + 0.2,
        "tiny": 5e-324,
        "flags": [True, False, None, "Löß", 2**200, -1.5e300, [1, [2]]],
        "active": np.array([True, False]),
        "sorted": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        "strided": np.arange(10)[::3],
        "number": np.array(3.5, np.float32),
        "controllers": [{"gain": 1.0, "memory": np.ones(2)}, {}],
    }


def test_content_comes_back_bit_for_bit(path):
    write_checkpoint(path, content())
    assert same(content(), read_checkpoint(path))
    assert os.listdir(path.parent) == [path.name]


def test_a_random_generator_goes_on_where_it_was(path):
    random = np.random.default_rng(1)
    random.random(10)
    write_checkpoint(path, {"random": random.bit_generator.state})
    expected = random.random(5)
    again = np.random.default_rng(0)
    again.bit_generator.state = read_checkpoint(path)["random"]
    assert again.random(5).tobytes() == expected.tobytes()


KEYS = st.text(st.characters(codec="utf-8", exclude_characters="/\0"), min_size=1, max_size=8).filter(
    lambda key: key not in (".", "..", "@array")
)
ARRAYS = numpy_strategies.arrays(
    st.sampled_from([np.float64, np.float32, np.int64, np.int32, np.uint8, np.bool_, np.complex128]),
    numpy_strategies.array_shapes(min_dims=0, min_side=0, max_side=4),
)
PLAIN = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(st.characters(codec="utf-8"), max_size=9)
TREES = st.recursive(PLAIN | ARRAYS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=8)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tree=st.dictionaries(KEYS, TREES, max_size=4))
def test_any_content_comes_back(tmp_path, tree):
    write_checkpoint(tmp_path / "any.h5", tree)
    assert same(tree, read_checkpoint(tmp_path / "any.h5"))


@pytest.mark.parametrize("value", [object(), {1: 2}, np.array(["a"]), {"a/b": 1}, {"@array": "x"}, np.array([None])])
def test_what_cannot_be_stored_is_refused_by_name_and_leaves_no_file(path, value):
    with pytest.raises(TypeError, match="arrays/part"):
        write_checkpoint(path, {"part": value})
    assert os.listdir(path.parent) == []


def test_names_and_attributes(path):
    assert checkpoint_path("results/run.vtkhdf") == Path("results/run.checkpoint.hdf5")
    assert checkpoint_path("results/run.h5") == Path("results/run.checkpoint.h5")
    assert checkpoint_path(Path("a.b.h5")) == Path("a.b.checkpoint.h5")
    write_checkpoint(path, content())
    with h5py.File(path) as file:
        assert file.attrs["format"] == "granum-checkpoint"
        assert file.attrs["version"] == layout.CHECKPOINT_VERSION
        assert file.attrs["created_by"] == layout.CREATED_BY
        assert file["arrays/bodies/position"].shape == (7, 3)


def test_a_new_checkpoint_replaces_the_last(path):
    write_checkpoint(path, {"step": 1})
    write_checkpoint(path, {"step": 2})
    assert read_checkpoint(path) == {"step": 2}


def test_hundred_thousand_grains_come_back(path):
    arrays = {"bodies": np.ones((100_000, 16)), "contacts": np.ones((300_000, 12))}
    write_checkpoint(path, arrays)
    assert same(arrays, read_checkpoint(path))


# Refusals. -----------------------------------------------------------------------------------------------------------------


def test_files_that_are_no_checkpoints_are_refused_in_words(tmp_path, path):
    with pytest.raises(InputError, match=r"checkpoint .* does not exist"):
        read_checkpoint(path)
    path.write_text("not HDF5")
    with pytest.raises(InputError, match="not an HDF5 file"):
        read_checkpoint(path)
    with h5py.File(path, "w") as file:
        file["x"] = 1
    with pytest.raises(InputError, match="another program wrote it"):
        read_checkpoint(path)
    RecordingWriter(path, {}, []).close()
    with pytest.raises(InputError, match="is not a checkpoint of granum: it is a granum-recording"):
        read_checkpoint(path)


def test_a_checkpoint_is_no_recording(path):
    write_checkpoint(path, content())
    with pytest.raises(InputError, match="is not a recording of granum: it is a granum-checkpoint"):
        Recording(path)


def test_a_newer_version_is_refused_in_words(path):
    write_checkpoint(path, content())
    with h5py.File(path, "r+") as file:
        file.attrs["version"] = 7
    with pytest.raises(InputError, match=r"format version 7, .* reads versions up to 1\. Update granum"):
        read_checkpoint(path)


def test_every_cut_is_noticed(path):
    write_checkpoint(path, content())
    whole = path.read_bytes()
    for size in np.linspace(8, len(whole) - 1, 40).astype(int):
        path.write_bytes(whole[:size])
        with pytest.raises(InputError, match="damaged or cut short"):
            read_checkpoint(path)


def test_damage_of_a_single_byte_is_noticed_or_harmless(path):
    """Any byte may be wrong: either the content is still the same, or the reader says that the file is damaged."""
    write_checkpoint(path, content())
    whole = path.read_bytes()
    noticed = 0
    for at in np.random.default_rng(2).integers(8, len(whole), 150):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x10]) + whole[at + 1 :])
        try:
            assert same(content(), read_checkpoint(path))
        except InputError:
            noticed += 1
    assert noticed > 30


def test_a_folder_that_is_missing_is_refused_in_words(tmp_path):
    with pytest.raises(RunError, match=r"checkpoint .* cannot be written \(No such file or directory\)"):
        write_checkpoint(tmp_path / "nowhere" / "run.h5", {})


def test_a_full_disk_keeps_the_last_checkpoint(path):
    write_checkpoint(path, {"step": 1})
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    try:
        with pytest.raises(RunError, match=r"cannot be written \(File too large\). The last checkpoint is still there."):
            write_checkpoint(path, {"step": 2, "big": np.ones(100_000)})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, handler)
    assert read_checkpoint(path) == {"step": 1}
    assert os.listdir(path.parent) == [path.name]


def test_a_kill_leaves_a_whole_checkpoint(path):
    script = """
        import itertools, sys
        sys.path.insert(0, sys.argv[2])
        import numpy as np
        from granum.io import write_checkpoint
        for k in itertools.count():
            write_checkpoint(sys.argv[1], {"step": k, "data": np.full(200_000, k)})
            if k == 0: print("ready", flush=True)
    """
    for pause in (0.0, 0.013, 0.027):
        process = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(script), str(path), str(SOURCE)], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout.readline() == "ready\n"
        time.sleep(pause)
        process.kill()
        process.wait()
        process.stdout.close()
        found = read_checkpoint(path)
        assert (found["data"] == found["step"]).all()
