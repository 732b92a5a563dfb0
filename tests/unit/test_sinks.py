"""Sinks take out who came into them, and nobody else notices but by what is gone."""

from __future__ import annotations

import json

import numpy as np
import pytest

from granum import InputError
from granum.analysis import Snapshot
from granum.detection.regions import find_inside, region_table
from granum.io import Recording
from granum.observe import Recorder, seconds
from granum.scene import BallRegion, BoxRegion, BoxSensor, CylinderRegion, Grains, Gravity, Scene, Sink
from granum.scene.file import load_scene
from granum.simulation import Simulation, make_settings
from granum.simulation.relax import relax_run
from granum.simulation.removal import EVERY, MANY
from granum.state.bodies import STATIC, Bodies
from tests.command_line import granum
from tests.reference.hopper import RUNS, hopper, scene

SMALL = 1e-3  # [m]


def flight(position, velocity, region, *, spin=None, gravity=(0.0, 0.0, 0.0), run=None, static=False):
    """Grains that meet nothing but a sink."""
    turning = {} if spin is None else {"spin": spin}
    grains = Grains(material="stone", position=position, diameter=SMALL, velocity=velocity, static=static, **turning)
    made = scene(grains=[grains], emitters=[], walls=[], gravity=Gravity(acceleration=gravity), sinks=[Sink(name="end", region=region)])
    return Simulation(made, make_settings(run or {"time_step": 0.001}))


def take_out(sim, gone):
    """Take out some rows by hand."""
    stays = np.ones(sim.grain_count, bool)
    stays[gone] = False
    rows = np.flatnonzero(stays).astype(np.int32)
    new_row = np.where(stays, np.cumsum(stays) - 1, -1).astype(np.int32)
    sim.bodies.keep(rows)
    sim.stepper.keep(rows, new_row)


def by_name(sim, *values):
    """Rows of some arrays by the ids of the contact's grains (of a wall: its number and the feature touched)."""
    c, ids = sim.contacts, sim.bodies.id
    names = [(int(ids[a]), int(ids[b]) if b >= 0 else int(b), int(f)) for a, b, f in zip(c.a, c.b, c.feature, strict=True)]
    assert len(set(names)) == len(names)
    return {name: np.concatenate([np.atleast_1d(v[k]) for v in values]) for k, name in enumerate(names)}


def test_regions_hold_what_their_formulas_say():
    """Centres in a box, a leaning cylinder and a ball; the first region counts."""
    axis = np.array([1.0, 2.0, 2.0]) / 3
    regions = [
        BoxRegion(lower=(-0.5, -0.2, 0), upper=(0.5, 0.4, 0.3)),
        CylinderRegion(centre=(0.1, 0, -0.2), axis=tuple(axis), radius=0.3, length=1.0),
        BallRegion(centre=(0, 0.3, 0.4), radius=0.5),
    ]
    x = np.random.default_rng(1).uniform(-1, 1, (8000, 3))
    inside = np.empty(len(x), np.int32)
    count = find_inside(np.concatenate([np.zeros((2, 3)), x]), 2, region_table(regions), inside)
    away = x - (0.1, 0, -0.2)
    along = away @ axis
    box = ((x >= (-0.5, -0.2, 0)) & (x <= (0.5, 0.4, 0.3))).all(axis=1)
    cylinder = (np.linalg.norm(away - along[:, None] * axis, axis=1) <= 0.3) & (np.abs(along) <= 0.5)
    ball = np.linalg.norm(x - (0, 0.3, 0.4), axis=1) <= 0.5
    assert np.array_equal(inside, np.select([box, cylinder, ball], [0, 1, 2], -1))
    assert count == np.count_nonzero(box | cylinder | ball)
    assert min(np.count_nonzero(inside == k) for k in range(3)) > 100


def test_grains_close_up_and_keep_their_ids():
    bodies = Bodies(np.array([STATIC]), np.ones((1, 3)))
    x = np.arange(30.0).reshape(10, 3)
    bodies.append_grains(x, np.arange(1.0, 11), np.arange(10), np.arange(2.0, 12), velocity=-x, spin=2 * x)
    bodies.keep(np.array([1, 4, 5, 9], np.int32))
    bodies.append_grains(x[:2], np.full(2, 0.5), np.full(2, 3), np.ones(2))
    assert bodies.grain_count == 6
    assert bodies.id.tolist() == [1, 4, 5, 9, 10, 11]
    assert np.array_equal(bodies.position[bodies.grains], x[[1, 4, 5, 9, 0, 1]])
    assert np.array_equal(bodies.velocity[1:5], -x[[1, 4, 5, 9]])
    assert np.array_equal(bodies.spin[1:5], 2 * x[[1, 4, 5, 9]])
    assert np.array_equal(bodies.inverse_mass[1:], [3, 6, 7, 11, 1, 1])
    assert np.array_equal(bodies.radius, [2, 5, 6, 10, 0.5, 0.5])
    assert bodies.material.tolist() == [1, 4, 5, 9, 3, 3]


def test_a_single_grain_leaves_with_the_next_round():
    """It waits in its sink until the step's number is a multiple of 20."""
    sim = flight([[0, 0, 0], [0, 1, 0]], [[1, 0, 0], [0, 0, 0]], BoxRegion(lower=(0.0255, -0.1, -0.1), upper=(1, 0.1, 0.1)))
    for _ in range(2 * EVERY):  # inside from step 26 on
        sim.step()
    assert sim.taken_out == 0
    sim.step()
    assert sim.taken_out == 1
    assert sim.bodies.id.tolist() == [1]
    assert sim.removal.mass[0] == pytest.approx(2500 * np.pi / 6 * SMALL**3, rel=1e-14)


def test_a_grain_does_not_get_through_a_thin_sink():
    """Three ways of a step thick: the grain leaves in the step after it is out again, though it is nobody's turn."""
    sim = flight([[0, 0, 0]], [[1, 0, 0]], BoxRegion(lower=(0.0025, -0.1, -0.1), upper=(0.0055, 0.1, 0.1)))
    for _ in range(6):
        sim.step()
    assert sim.grain_count == 1
    assert 0.005 < sim.position[0, 0] < 0.0065
    twin = Simulation.restore(sim.scene, sim.settings, sim.checkpoint())  # knows that it waits, though it is not inside
    twin.step()
    assert twin.taken_out == 1
    sim.step()
    assert sim.taken_out == 1
    assert sim.grain_count == 0
    sim.step()  # nobody is left, and the run goes on
    saved = sim.checkpoint()
    assert Simulation.restore(sim.scene, sim.settings, saved).step().contacts == 0


def test_one_comes_when_another_goes():
    """In one step, so that their number stays: the guard weighs anew, and the neighbour list knows the new one."""
    made = scene(
        grains=[Grains(material="stone", position=[[0, 0, 0]], diameter=SMALL, velocity=[[1, 0, 0]])],
        walls=[],
        gravity=Gravity(acceleration=(0, 0, 0)),
        sinks=[Sink(region=BoxRegion(lower=(0.01, -1, -1), upper=(1, 1, 1)))],
        emitters=[scene().emitters[0].model_copy(update={"count": 1, "start": 0.02})],
    )
    sim = Simulation(made, make_settings({"time_step": 0.001}))
    for step in range(EVERY + 2):
        sim.step()
        assert sim.bodies.id.tolist() == [0 if step < EVERY else 1]
        assert sim.guard.mass == pytest.approx(sim.bodies.mass[0], rel=1e-14)
    assert sim.radius[0] > 2 * SMALL / 2


def test_many_leave_at_once():
    x = np.column_stack([np.zeros(MANY), np.arange(MANY) * 2 * SMALL, np.zeros(MANY)])
    sim = flight(x, np.tile([1.0, 0, 0], (MANY, 1)), BallRegion(centre=(0.5, 0, 0), radius=0.4975))
    while sim.taken_out == 0:
        sim.step()
    assert sim.grain_count == 0
    assert sim.step_count % EVERY != 1


@pytest.mark.parametrize("stepper", RUNS)
@pytest.mark.parametrize("reach", [0.01, 1.0])
def test_who_starts_in_a_sink_is_not_in_the_first_step(stepper, reach):
    """Some of the grains, or all: then the run goes on without any."""
    made = scene(
        grains=[Grains(material="stone", position=[[0, 0, 0], [0.5, 0, 0], [0.5, 0, 2 * SMALL]], diameter=SMALL)],
        emitters=[],
        walls=[],
        materials=[scene().materials[0].model_copy(update={"rolling_friction": 0.0})],
        sinks=[Sink(region=BallRegion(centre=(0, 0, 0), radius=reach))],
    )
    sim = Simulation(made, make_settings(RUNS[stepper]))
    for _ in range(3):
        sim.step()
        assert sim.contacts.contact_count == 0
    assert sim.bodies.id.tolist() == ([1, 2] if reach < 0.5 else [])


def test_who_never_moves_stays():
    sim = flight([[0, 0, 0]], [[0, 0, 0]], BallRegion(centre=(0, 0, 0), radius=1), static=True)
    for _ in range(EVERY + 1):
        sim.step()
    assert sim.grain_count == 1
    assert sim.taken_out == 0


@pytest.mark.parametrize("stepper", RUNS)
def test_energy_leaves_with_the_grains(stepper):
    """Grains that fly and spin keep what energy they have, so nothing is ever unexplained, who ever leaves.

    Smooth steps are exact in a uniform field, nonsmooth ones without gravity: what is left is rounding.
    """
    rng = np.random.default_rng(2)
    x = rng.permutation(np.stack(np.meshgrid(*[np.arange(4.0)] * 3), -1).reshape(-1, 3)) * 3 * SMALL
    v, w = rng.uniform((0.48, -0.02, -0.02), (0.52, 0.02, 0.02), (64, 3)), rng.uniform(-200, 200, (64, 3))
    sim = flight(
        x,
        v,
        BoxRegion(lower=(0.02, -1, -1), upper=(1, 1, 1)),
        spin=w,
        gravity=(0, 0, -9.81) if stepper == "smooth" else (0, 0, 0),
        run=RUNS[stepper],
    )
    sim.step()
    assert sim.contacts.contact_count == 0
    assert sim.guard.unexplained == pytest.approx(sim.report.energy, rel=1e-14)
    start, kinetic = sim.guard.unexplained, sim.report.kinetic_energy
    while sim.taken_out < 64 and sim.time < 0.1:
        sim.step()
        assert sim.contacts.contact_count == 0
        assert abs(sim.guard.unexplained - start) < 1e-11 * kinetic
    assert sim.taken_out == 64


@pytest.mark.parametrize("stepper", RUNS)
def test_contacts_of_those_who_stay_keep_all_they_carry(stepper):
    """In a loaded bed some grains leave: every contact between the others keeps its bits, and starts the next step from them."""
    sim = hopper(stepper, count=60, rate=3000.0, slit=0.002)
    while sim.time < 0.3:
        sim.step()
    assert sim.contacts.contact_count > 60
    twin = Simulation.restore(sim.scene, sim.settings, sim.checkpoint())
    twin.contacts.time_step = sim.time_step
    gone = np.array([3, 17, 18, 40, 58])
    left = set(gone.tolist())

    def carried(run):
        c, s = run.contacts, run.stepper
        if stepper == "nonsmooth":
            return by_name(run, c.impulse, c.rebound, c.normal, c.overlap)
        springs = np.concatenate([s.touching.spring, s.at_walls.now.of("spring")])
        return by_name(run, springs, c.normal, c.overlap)

    before = {name: row for name, row in carried(sim).items() if not left & {name[0], name[1]}}
    with_history = sum(np.abs(row[1:4]).sum() > 0 for row in before.values())
    assert with_history > 30
    take_out(sim, gone)
    after = carried(sim)
    assert after.keys() == before.keys()
    assert all(np.array_equal(after[name], row) for name, row in before.items())
    if stepper == "nonsmooth":  # what the next solve starts from is what it would have been
        for run in (sim, twin):
            run.stepper.detector.detect(run.bodies, run.time_step)
        kept, full = carried(sim), carried(twin)
        assert len(kept) < len(full)
        assert all(np.array_equal(full[name], row) for name, row in kept.items())
        assert {name for name in full if not left & {name[0], name[1]}} == kept.keys()
    else:  # also when everybody gets a new place in the neighbour list, where a pair may change its owner
        s = sim.stepper
        lists = s.neighbours.rebuilds
        s.neighbours.reference += 1.0
        s.detect(sim.time_step)
        assert s.neighbours.rebuilds == lists + 1
        springs = {name: row[: s.touching.springs] for name, row in carried(sim).items()}
        assert len(springs) == len(before)
        for name, row in before.items():
            turned = (name[1], name[0], name[2])
            kept = springs[name] if name in springs else springs[turned] * np.array([1] + (s.touching.springs - 1) * [-1])
            assert np.array_equal(
                kept, row[: s.touching.springs]
            )  # of a turned pair all but the stiffness, which stands first, change sign


@pytest.mark.parametrize("stepper", RUNS)
def test_contacts_are_those_of_all_against_all(stepper):
    """After every removal, with grains raining in at the same time."""
    sim = hopper(stepper, rate=500.0)
    looked = 0
    while sim.time < 0.25:
        before, out = dict(zip(sim.bodies.id.tolist(), sim.position.copy(), strict=True)), sim.taken_out
        sim.step()
        if sim.taken_out == out:
            continue
        looked += 1
        x, ids = sim.position.copy(), sim.bodies.id.tolist()
        known = np.array([i in before for i in ids])
        if stepper == "nonsmooth":  # contacts are looked for before grains move; those that have just come in are left out
            x[known] = [before[i] for i in ids if i in before]
        gap = np.linalg.norm(x[:, None] - x, axis=2) - sim.radius[:, None] - sim.radius
        c = sim.contacts
        touching = c.overlap > 0  # others have closed a gap in this step
        pairs = {frozenset((int(a), int(b))) for a, b in zip(c.a, c.b, strict=True) if b >= 0}
        met = {frozenset((int(a), int(b))) for a, b in zip(c.a[touching], c.b[touching], strict=True) if b >= 0}
        clear = {frozenset(p) for p in np.argwhere(gap < -1e-12).tolist() if p[0] != p[1] and known[p].all()}
        assert clear <= pairs
        assert all(gap[tuple(p)] < 1e-12 for p in met if known[list(p)].all())
    assert looked >= 3


def test_recording_names_grains_by_their_ids(tmp_path):
    """Ids are unique in a frame, go up with the rows and keep their grain; contacts are read back with the right rows."""
    sim = hopper()
    sim.observers.append(Recorder(tmp_path / "run.h5", seconds(0.01)))
    sim.run(0.3)
    radius: dict[int, float] = {}
    with Recording(tmp_path / "run.h5") as recording:
        counts = [len(recording.frame(i).id) for i in range(len(recording))]
        assert max(counts) > counts[-1]
        for i in range(len(recording)):
            frame = recording.frame(i)
            assert (np.diff(frame.id) > 0).all()
            assert np.isin(frame.contacts.a, frame.id).all()
            for name, r in zip(frame.id.tolist(), frame.radius.tolist(), strict=True):
                assert radius.setdefault(name, r) == r
        last, now = Snapshot.read(recording), Snapshot.of(sim)
        assert recording.scalars["taken_out"][-1] == sim.taken_out > 0
        relaxed = relax_run(recording, limit=1)
    for name in ("id", "a", "b", "position", "overlap", "normal", "static"):
        assert np.array_equal(getattr(last, name), getattr(now, name))
    assert last.id[-1] > len(last.id)
    assert np.array_equal(relaxed.id, sim.bodies.id)
    assert np.array_equal(relax_run(sim, limit=1).id, sim.bodies.id)


def test_sinks_from_a_file_to_the_summary(tmp_path):
    """``run`` and ``info`` tell what was taken out, by sink."""
    path = tmp_path / "fall.toml"
    path.write_text("""
        [[materials]]
        name = "stone"
        density = 2500
        [[grains]]
        material = "stone"
        position = [[0, 0, 0.02], [0, 0.1, 0.02], [0, 0, 1]]
        diameter = 0.01
        [[sinks]]
        name = "left"
        region = { shape = "ball", centre = [0, 0, -0.05], radius = 0.04 }
        [[sinks]]
        name = "right"
        region = { shape = "cylinder", centre = [0, 0.1, -0.1], radius = 0.02, length = 0.1 }
        [run]
        duration = 0.2
    """)
    run = [str(path), "--no-picture", "--json", "-o", str(tmp_path / "fall.h5")]
    result = granum("run", *run)
    assert result.exit_code == 0, result.stderr
    mass = 2500 * np.pi / 6 * 0.01**3
    summary = json.loads(result.stdout)
    assert summary["grains"] == 1
    assert summary["taken_out"] == 2
    assert [(s["name"], s["grains"]) for s in summary["sinks"]] == [("left", 1), ("right", 1)]
    assert [s["mass"] for s in summary["sinks"]] == pytest.approx([mass, mass], rel=1e-14)
    told = granum("info", tmp_path / "fall.h5")
    for words in ("taken out", "2 grains", "sink left", "sink right", "1 grain, 0.0013"):
        assert words in told.stdout


def test_a_sink_outside_the_world_is_refused():
    region = BoxRegion(lower=(5, 5, 5), upper=(6, 6, 6))
    with pytest.raises(InputError, match=r"sink 'bin' \(box, .* is outside the world"):
        scene(sinks=[Sink(name="bin", region=region)], world=((-1, -1, -1), (1, 1, 1)))
    with pytest.raises(InputError, match="lower must be below upper"):
        Sink(region={"shape": "box", "lower": (0, 0, 0), "upper": (1, 0, 1)})
    with pytest.raises(InputError, match="greater than 0"):
        Sink(region={"shape": "ball", "centre": (0, 0, 0), "radius": -1})


def test_scene_with_sinks_comes_back_from_its_text():
    """Also when the region is a sensor's shape."""
    made = scene(sinks=[Sink(region=BoxSensor(lower=(0, 0, 0), upper=(1, 1, 1))), Sink(region=BallRegion(centre=(0, 0, 0), radius=1))])
    again = Scene.model_validate_json(made.model_dump_json())
    assert [s.region.bounds for s in again.sinks] == [s.region.bounds for s in made.sinks]
    assert load_scene("column").sinks == ()
