"""Any scene, saved at any step and loaded again: the state is equal to the bit, and stays so while both runs go on."""

from __future__ import annotations

import tempfile
from pathlib import Path

import hypothesis
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from granum import (
    Box,
    BoxRegion,
    Checkpointer,
    Cylinder,
    Disc,
    Emitter,
    HertzContact,
    LinearContact,
    Material,
    Motion,
    Plane,
    Scene,
    Simulation,
    Sink,
)
from granum.scene import Body
from granum.simulation import make_settings
from granum.simulation.saved import load_run
from tests.reference.scenes import FREE, D, G, spheres

STEPPERS = {
    "pgs": {"solver": {"iterations": 15}},
    "accurate": {},
    "cold box": {"friction": "box", "solver": {"momentum": False, "iterations": 10}, "warm_start": {"name": "none"}},
    "random order": {"solver": {"order": "random", "iterations": 10}},
    "model": {"warm_start": {"name": "model"}, "solver": {"iterations": 10}},
    "multigrid": {"solver": {"name": "multigrid", "iterations": 3}},
    "reduced": {"reduction": {"split": ("contact", "trial"), "merge": {"smallest": 2}}},
    "verlet": {"name": "smooth"},
    "euler": {"name": "smooth", "integrator": "euler"},
}

FLOORS = {
    "plane": {"walls": [Plane(material="m")]},
    "box": {"walls": [Box(material="m", lower=(-0.04, -0.04, 0), upper=(0.04, 0.04, 0.5), open=("+z",))]},
    "drum": {
        "bodies": [
            Body(
                name="drum",
                kind="kinematic",
                position=(0, 0, 0.06),
                motion=Motion(spin=(0, 2, 0)),
                walls=[Cylinder(material="m", axis=(0, 1, 0), radius=0.06)],
            )
        ]
    },
    "shaken": {
        "bodies": [Body(name="floor", kind="kinematic", motion=Motion(amplitude=(0, 0, 0.002), frequency=9), walls=[Plane(material="m")])]
    },
    "belt": {"walls": [Plane(material="m", surface_velocity=(0.3, 0, 0))]},
}
BRICK = Body(
    name="brick",
    kind="dynamic",
    position=(0, 0, 0.05),
    mass=0.02,
    inertia=(1e-6, 2e-6, 3e-6),
    spin=(1, 2, 3),
    walls=[Box(material="m", lower=(-0.01, -0.01, -0.01), upper=(0.01, 0.01, 0.01), side="outside")],
)
SOURCE = Emitter(
    material="m",
    sizes={"distribution": "uniform", "lower": 0.6 * D, "upper": D},
    rate=400,
    count=12,
    seed=5,
    source=Disc(centre=(0, 0, 0.1), diameter=0.05),
)
SINK = Sink(name="hole", region=BoxRegion(lower=(0, -1, 0), upper=(1, 1, 0.04)))


@st.composite
def scenes(draw, smooth):
    """A layer of grains over one of several floors, perhaps with a brick, a source and a sink."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    floor = FLOORS[draw(st.sampled_from(sorted(FLOORS)))]
    count = draw(st.integers(1, 9))
    place = 1.3 * D * np.array([(x - 1, y - 1, 0) for x in range(3) for y in range(3)], float)[:count] + [0, 0, 0.0095]
    diameter = D * rng.uniform(0.7, 1.0, count)
    law = draw(st.sampled_from([HertzContact(), LinearContact()]))
    return Scene(
        materials=[
            Material(
                name="m",
                density=3700,
                youngs_modulus=1e5 if smooth else 6e6,
                restitution=draw(st.sampled_from([0.5, 0.8])),
                friction=draw(st.sampled_from([0.0, 0.6])),
                rolling_friction=draw(st.sampled_from([0.0, 0.1])),
            )
        ],
        grains=spheres(place, diameter, 0.3 * rng.standard_normal((count, 3)), 10 * rng.standard_normal((count, 3))),
        walls=floor.get("walls", ()),
        bodies=[*floor.get("bodies", ()), *([BRICK] if draw(st.booleans()) else [])],
        emitters=[SOURCE] if draw(st.booleans()) else [],
        sinks=[SINK] if draw(st.booleans()) else [],
        law=law,
        gravity={"acceleration": (0, 0, -G), "ramp": draw(st.sampled_from([0.0, 0.05]))},
    )


def state(sim):
    """Everything that a user sees of a run."""
    b, c = sim.bodies, sim.contacts
    return {
        "step": sim.step_count,
        "taken out": sim.taken_out,
        **{name: np.array(getattr(b, name)) for name in ("id", "position", "orientation", "velocity", "spin", "radius")},
        **{f"contact {name}": np.array(getattr(c, name)) for name in ("a", "b", "overlap", "normal_force")},
    }


def equal(one, two):
    for name, value in one.items():
        np.testing.assert_array_equal(value, two[name], err_msg=name)


@hypothesis.settings(max_examples=hypothesis.settings().max_examples // 4)
@pytest.mark.parametrize("stepper", STEPPERS)
@given(data=st.data())
def test_round_trip(stepper, data):
    smooth = STEPPERS[stepper].get("name") == "smooth"
    scene = data.draw(scenes(smooth))
    sim = Simulation(scene, make_settings({"stepper": STEPPERS[stepper], "time_step": None if smooth else 2e-3, "guards": FREE}))
    steps = st.integers(0, 60).map(lambda n: n * (10 if smooth else 1))
    for _ in range(data.draw(steps, label="steps before")):
        sim.step()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.checkpoint.h5"
        Checkpointer(path).save(sim)
        twin = load_run(path).simulation
    equal(state(sim), state(twin))
    for _ in range(1 + data.draw(steps, label="steps after")):
        sim.step()
        twin.step()
    equal(state(sim), state(twin))
