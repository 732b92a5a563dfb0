"""Settings are the same whichever way they come in, and ``--set`` changes the place that it names and nothing else."""

from __future__ import annotations

import contextlib
import functools
import json
import tempfile
from pathlib import Path

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from granum import InputError, Nonsmooth, Recording, Scene, Smooth, load_scene, simulate
from tests.command_line import granum

SCENE = """
[[materials]]
name = "m"
[[walls]]
shape = "plane"
material = "m"
[[grains]]
material = "m"
position = [[0, 0, 0.05]]
diameter = 0.1
"""

steps = st.sampled_from([0.0005, 0.001, 0.002])
fractions = st.integers(0, 20).map(lambda n: n / 20)
tolerances = st.sampled_from([0.0, 1e-3, 2.5e-7])

# Option of ``granum run`` -> place of the setting; an option with two places sets both.
PLACES = {
    "--stepper": ["stepper.name"],
    "--solver": ["stepper.solver.name"],
    "--iterations": ["stepper.solver.iterations"],
    "--tolerance": ["stepper.solver.tolerance"],
    "--friction": ["stepper.friction"],
    "--order": ["stepper.solver.order"],
    "--seed": ["stepper.solver.seed"],
    "--warm-start": ["stepper.warm_start.name"],
    "--beta": ["stepper.warm_start.beta"],
    "--integrator": ["stepper.integrator"],
    "--damping": ["stepper.damping"],
    "--time-step": ["time_step"],
    "--duration": ["duration"],
    "--every": ["every"],
    "--checkpoint-every": ["checkpoint_every"],
    "--merge-velocity": [f"stepper.reduction.merge.{name}" for name in ("approach", "separation", "tangential")],
    "--merge-spin": ["stepper.reduction.merge.rolling"],
    "--merge-steps": ["stepper.reduction.merge.steps"],
    "--split-velocity": ["stepper.reduction.contact.approach", "stepper.reduction.contact.tangential"],
    "--split-depth": ["stepper.reduction.contact.depth"],
    "--trial-force": ["stepper.reduction.trial.force"],
    "--trial-load": ["stepper.reduction.trial.load"],
    "--trial-depth": ["stepper.reduction.trial.depth"],
}
SOLVERS = {
    "pgs": {"--order": st.sampled_from(["colour", "given", "symmetric", "random"]), "--seed": st.integers(0, 99)},
    "multigrid": {},
    "direct": {},
}
REDUCTION = {
    "--merge-velocity": st.sampled_from([1e-3, 0.01]),
    "--merge-spin": st.sampled_from([0.1, 1.0]),
    "--merge-steps": st.integers(1, 9),
    "--split-velocity": st.sampled_from([0.02, 0.5]),
    "--split-depth": st.integers(1, 4),
    "--trial-force": st.sampled_from([0.05, 0.3]),
    "--trial-load": st.sampled_from([0.003, 0.02]),
    "--trial-depth": st.integers(1, 9),
}


@st.composite
def choices(draw):
    """{option: value} of a run that lasts some steps, and whether grains merge."""
    step = draw(steps)
    chosen = {"--time-step": step, "--duration": 3 * step}
    chosen |= draw(st.fixed_dictionaries({"--every": st.just(step)}, optional={"--checkpoint-every": st.integers(1, 50)}))
    if draw(st.booleans()):
        more = {"--integrator": st.sampled_from(["verlet", "euler"]), "--damping": st.sampled_from(["restitution", "dissipation"])}
        return chosen | {"--stepper": "smooth", "--time-step": 1e-4, "--every": 1e-4, "--duration": 3e-4} | draw(
            st.fixed_dictionaries({}, optional=more)
        ), False
    solver = draw(st.sampled_from(sorted(SOLVERS)))
    common = {"--iterations": st.integers(1, 30), "--tolerance": tolerances, "--friction": st.sampled_from(["cone", "box"])}
    chosen |= {"--solver": solver} | draw(st.fixed_dictionaries({}, optional=common | SOLVERS[solver]))
    start = draw(st.sampled_from([None, "none", "model", "history"]))
    if start is not None:
        chosen["--warm-start"] = start
    if start in (None, "history"):
        chosen |= draw(st.fixed_dictionaries({}, optional={"--beta": fractions}))
    reduced = draw(st.booleans())
    return chosen | (draw(st.fixed_dictionaries({}, optional=REDUCTION)) if reduced else {}), reduced


def places(chosen, reduced):
    """{dotted place: value}"""
    found = {place: value for option, value in chosen.items() for place in PLACES[option]}
    return found | ({"stepper.reduction.split": ["contact", "trial"]} if reduced else {})


def nested(found):
    tree = {}
    for place, value in found.items():
        *above, last = place.split(".")
        part = tree
        for name in above:
            part = part.setdefault(name, {})
        part[last] = value
    return tree


def recorded(*arguments):
    """The settings that a run of the command line was made with."""
    result = granum("run", *arguments, "--no-picture")
    assert result.exit_code == 0, result.stderr
    with Recording(arguments[arguments.index("-o") + 1]) as recording:
        return recording.description["settings"]


@hypothesis.settings(max_examples=hypothesis.settings().max_examples // 3)
@given(choice=choices())
def test_file_flags_set_and_python_agree(choice):
    chosen, reduced = choice
    found = places(chosen, reduced)
    with tempfile.TemporaryDirectory() as folder:
        bare, full = Path(folder) / "bare.toml", Path(folder) / "full.toml"
        bare.write_text(SCENE)
        full.write_text("".join(f"run.{place} = {json.dumps(value)}\n" for place, value in found.items()) + SCENE)
        out = "-o", Path(folder) / "out.h5", "--overwrite"
        flags = [word for pair in chosen.items() for word in pair] + (["--reduce", "contact,trial"] if reduced else [])
        sets = [word for place, value in found.items() for word in ("--set", f"run.{place}={json.dumps(value)}")]
        by_flags, by_file, by_set = recorded(bare, *flags, *out), recorded(full, *out), recorded(bare, *sets, *out)
        tree = nested(found)
        stepper = (Smooth if "--stepper" in chosen else Nonsmooth).model_validate(tree.pop("stepper"))
        by_python = simulate(load_scene(str(bare)), stepper=stepper, threads="auto", **tree).settings.model_dump(mode="json")
    assert by_flags == by_file == by_set == by_python  # `granum run` takes threads by itself, `simulate` when it is told
    for place, value in found.items():
        here = by_flags
        for name in place.split("."):
            here = here[name]
        assert here == value


def leaves(tree, place=()):
    """Places of all numbers in a scene, lists by number."""
    if isinstance(tree, dict):
        return [found for key, part in tree.items() for found in leaves(part, (*place, key))]
    if isinstance(tree, (list, tuple)):
        return [found for k, part in enumerate(tree) for found in leaves(part, (*place, str(k)))]
    return [".".join(place)] if isinstance(tree, float) else []


def at(tree, place):
    for name in place.split("."):
        tree = tree[int(name)] if isinstance(tree, (list, tuple)) else tree[name]
    return tree


LIBRARY = ("collapse", "column", "conveyor", "pile")
plain = functools.cache(load_scene)


@given(data=st.data())
def test_set_changes_the_place_that_it_names(data):
    """A number a little different: it is there, and everything else has kept its bits."""
    name = data.draw(st.sampled_from(LIBRARY))
    before = json.loads(plain(name).model_dump_json())
    place = data.draw(st.sampled_from(leaves(before)))
    value = at(before, place) * (1 - data.draw(st.integers(1, 100)) / 2**20)
    try:
        after = json.loads(load_scene(name, {place: repr(value)}).model_dump_json())
    except InputError:  # a number that depends on others, such as a corner of a box: refused in words
        return
    if "normal" not in place and "axis" not in place:  # directions are brought to length 1
        assert at(after, place) == value
        *above, last = place.split(".")
        parent, old = at(after, ".".join(above)), at(before, ".".join(above))
        parent[int(last) if isinstance(parent, list) else last] = old[int(last) if isinstance(old, list) else last]
        assert after == before


@given(name=st.sampled_from(LIBRARY), data=st.data())
def test_entries_by_name_and_by_number_are_the_same(name, data):
    number = data.draw(st.integers(0, len(plain(name).materials) - 1))
    friction = data.draw(st.integers(0, 100)) / 100
    by_number = load_scene(name, {f"materials.{number}.friction": str(friction)})
    by_name = load_scene(name, {f"materials.{plain(name).materials[number].name}.friction": str(friction)})
    assert by_number.model_dump_json() == by_name.model_dump_json()
    assert by_number.materials[number].friction == friction


words = st.text("abcdefgh_0123456789", min_size=1, max_size=6)
junk = st.one_of(st.text(max_size=12), st.integers().map(str), st.sampled_from(["[", "{a=1}", "nan", "1e400", "true", "'", "[[1,2]]", ""]))


@given(
    place=st.lists(st.one_of(words, st.sampled_from(["materials", "0", "run", "grains", "friction", "stepper"])), min_size=1, max_size=5),
    value=junk,
)
def test_any_other_place_or_value_is_taken_or_refused_in_words(place, value):
    with contextlib.suppress(InputError):
        assert isinstance(load_scene("column", {".".join(place): value}), Scene)


@pytest.mark.parametrize("text", ["count", "=3", ""])
def test_set_without_a_place_is_refused(text):
    assert granum("run", "column", "--set", text).exit_code == 2
