"""The error monitor of model reduction: windows of full resolution beside the run, against motions that are known."""

from __future__ import annotations

import numpy as np
import pytest

from granum import Grains, Gravity, Material, Nonsmooth, Plane, Reduction, Scene, Simulation
from granum.checks import RunError
from granum.reduction import ContactSplit, Merge
from granum.scene.library import make_scene
from granum.scene.regions import BoxRegion
from granum.scene.sink import Sink
from granum.simulation import Settings, make_settings

D, H, G = 0.01, 1e-3, 9.81
GLASS = Material(name="glass", friction=0.5)
STEPS = 5
FALL = G * H * H * STEPS * (STEPS + 1) / 2  # [m] of a grain from rest: x += h v after v += h g


def flying(*places: tuple[float, float, float], gravity: float = G, **reduction) -> Simulation:
    """Grains in the air over a floor, with a window of five steps."""
    scene = Scene(
        materials=[GLASS],
        walls=[Plane(material="glass")],
        gravity=Gravity(acceleration=(0, 0, -gravity)),
        grains=[Grains(material="glass", diameter=D, position=places)],
    )
    policy = Reduction(split=("contact",), shadow=STEPS, **reduction)
    return Simulation(scene, Settings(time_step=H, stepper=Nonsmooth(reduction=policy)))


def steps(sim: Simulation, count: int) -> None:
    for _ in range(count):
        sim.step()


def test_a_held_grain_would_fall():
    """Of two grains in the air the floor holds one: it misses the fall of the other, across to all that the floor can do."""
    sim = flying((0, 0, 0.1), (0.05, 0, 0.1))
    height = sim.position[0, 2]
    sim.stepper.parts["reduced"].merged.aggregates.hold(np.array([0], np.int32), np.array([0], np.int32))
    sim.stepper.parts["reduced"].merged.visits.stale = True
    steps(sim, STEPS - 1)
    assert sim.shadow.found is None
    steps(sim, 1)
    assert sim.position[0, 2] == height
    found = sim.shadow.found
    # One of two grains: sums of squares over two.
    assert found.rms == pytest.approx(FALL / D / np.sqrt(2), rel=1e-12)
    assert found.perpendicular == pytest.approx(found.rms, rel=1e-12)
    assert found.largest == pytest.approx(FALL / D, rel=1e-12)
    assert found.parallel == pytest.approx(0.0, abs=1e-12)


def test_an_aggregate_that_falls_has_no_error():
    sim = flying((0, 0, 0.1), (1.01 * D, 0, 0.1), (0, 0, 0.15))
    group = np.zeros(2, np.int32)
    none = np.zeros(0, np.int32)
    sim.stepper.parts["reduced"].merged.aggregates.form(np.array([0, 1], np.int32), group, 1, none, none)
    sim.stepper.parts["reduced"].merged.visits.stale = True
    steps(sim, 2 * STEPS)
    assert sim.report.reduction_level == pytest.approx(1 - 2 / 3)
    assert sim.shadow.windows == 2
    assert sim.shadow.mean.largest < 1e-12  # rounding of places over D


def test_a_spinning_pair_would_fly_apart():
    """Two grains at +-a of their centre turn by w T in an aggregate; free ones go straight on.

    Those are a sqrt(1 + (w T)^2) away from the centre, at an angle of atan(w T): the shape is missed by the first, the turn by the second.
    """
    sim = flying((-0.51 * D, 0, 0.1), (0.51 * D, 0, 0.1), gravity=0.0)
    a, w = 0.51 * D, 40.0
    sim.velocity[:] = [[0, -a * w, 0], [0, a * w, 0]]
    sim.spin[:] = [0, 0, w]
    none = np.zeros(0, np.int32)
    sim.stepper.parts["reduced"].merged.aggregates.form(np.array([0, 1], np.int32), np.zeros(2, np.int32), 1, none, none)
    sim.stepper.parts["reduced"].merged.visits.stale = True
    steps(sim, STEPS)
    turn = w * STEPS * H
    found = sim.shadow.found
    assert found.perpendicular == pytest.approx(a * (np.sqrt(1 + turn**2) - 1) / D, rel=1e-9)
    assert found.parallel == pytest.approx(2 * a * np.sin((turn - np.arctan(turn)) / 2) / D, rel=1e-9)


def test_without_mergers_the_shadow_is_the_run():
    """Nothing is as slow as to merge, so both take the same steps from the same impulses: to the last bit, new lists included."""
    scene = make_scene("box", {"count": 60})
    policy = {"split": ["contact"], "shadow": 7, "merge": Merge(approach=0, separation=0, tangential=0, rolling=0).model_dump()}
    sim = Simulation(scene, make_settings(scene.run, {"stepper": {"reduction": policy, "solver": {"iterations": 20}}}))
    steps(sim, 70)
    assert sim.report.reduction_level == 0
    assert sim.shadow.windows == 10
    assert sim.shadow.mean.largest == 0


def test_the_run_does_not_mind_its_shadow():
    scene = make_scene("box", {"count": 60})
    ends = []
    for shadow in (0, 4):
        policy = Reduction(contact=ContactSplit(depth=1), shadow=shadow)
        sim = Simulation(scene, make_settings(scene.run, {"stepper": {"reduction": policy.model_dump()}}))
        steps(sim, 60)
        ends.append(sim)
    assert ends[1].report.reduction_level > 0
    np.testing.assert_array_equal(ends[0].position, ends[1].position)
    np.testing.assert_array_equal(ends[0].velocity, ends[1].velocity)


def test_a_shadow_that_fails_costs_a_window_only(monkeypatch):
    sim = flying((0, 0, 0.1))
    steps(sim, 2)

    step = Simulation.step

    def fail(one):
        if one is not sim:
            raise RunError("no")
        return step(one)

    with monkeypatch.context() as patch:
        patch.setattr(Simulation, "step", fail)
        with pytest.warns(RuntimeWarning, match="shadow failed"):
            sim.step()
    steps(sim, 2 * STEPS - 3)
    assert sim.shadow.windows == 1
    assert sim.shadow.found.largest == 0


def test_grains_that_leave_are_not_compared():
    """Grains fall into a sink, in the run and in its shadow alike; impulses of the others stay with them."""
    scene = make_scene("box", {"count": 60})
    low, high = (-0.02, -1.0, -1.0), (0.02, 1.0, 1.0)
    scene = scene.changed(sinks=(Sink(region=BoxRegion(lower=low, upper=high)),))
    policy = {"split": ["contact"], "shadow": 7, "merge": Merge(approach=0, separation=0, tangential=0, rolling=0).model_dump()}
    sim = Simulation(scene, make_settings(scene.run, {"stepper": {"reduction": policy, "solver": {"iterations": 20}}}))
    steps(sim, 70)
    assert 0 < sim.grain_count < 60
    assert sim.shadow.windows == 10
    assert sim.shadow.mean.largest == 0
