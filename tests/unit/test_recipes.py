"""CONTRIBUTING's recipes, each followed once: what they name is enough to add something that works everywhere."""

from __future__ import annotations

import json

import numpy as np
import pytest

from granum import Energy, Material, Plane, Scene, Simulation, make_scene, seconds, simulate, steps
from granum.analysis import GrainRows, Snapshot
from granum.analysis.metrics import METRICS, Metric, MetricResult

# Add a metric -------------------------------------------------------------------------------------------------------------------


def centre_of_mass(s: Snapshot) -> np.ndarray:
    """(3,) [m]: a function of a snapshot."""
    return s.mass @ s.position / s.mass.sum()


def middle(shots) -> MetricResult:
    """What ``granum analyse`` asks for: numbers of the last frame, and a column with a row for each."""
    heights = [float(centre_of_mass(s)[2]) for s in shots]
    return MetricResult({"height": heights[-1]}, {"heights": heights})


MIDDLE = Metric(middle, "height of the centre of mass", {"height": "m", "heights": "m"}, all_frames=True)


def test_a_metric_of_a_state_whose_number_is_known():
    """A grain with eight times the mass, at twice the height."""
    scene = Scene(materials=[Material(name="m")], walls=[Plane(material="m")])
    s = Snapshot.build(scene, GrainRows(position=np.array([[0, 0, 1.0], [0, 0, 2.0]]), radius=np.array([0.1, 0.2])))
    assert centre_of_mass(s)[2] == pytest.approx((1 + 8 * 2) / 9)


def test_a_metric_in_the_table_is_a_word_of_the_command_line(granum, monkeypatch):
    monkeypatch.setitem(METRICS, "middle", MIDDLE)
    granum("run", "column", "--set", "count=3", "--duration", 0.1, "--every", 0.02, "--no-picture")
    assert "height of the centre of mass" in granum("analyse", "--list").stdout
    found = json.loads(granum("analyse", "column.vtkhdf", "middle", "--json").stdout)["metrics"]["middle"]
    assert found["height"] == found["series"]["heights"][-1]
    assert len(found["series"]["heights"]) == 6
    assert found["units"]["height"] == "m"
    table = granum("analyse", "column.vtkhdf", "middle")
    assert table.exit_code == 0
    assert "height" in table.stdout
    assert "m" in table.stdout


# Add an observer ----------------------------------------------------------------------------------------------------------------


class Highest:
    """Keeps how high grains ever were [m], at the times of a trigger."""

    def __init__(self, every):
        self.every, self.height, self.looked, self.state = every, -np.inf, [], "made"

    def start(self, sim):
        self.state = "started"

    def observe(self, sim):
        if self.every.due(sim.step_count, sim.time_step):
            self.looked.append(sim.step_count)
            self.height = max(self.height, float(sim.position[:, 2].max()))

    def finish(self, sim):
        self.state = "finished"


@pytest.mark.parametrize("every, looked", [(steps(4), [4, 8, 12, 16, 20]), (seconds(0.025), [5, 10, 15, 20])])
def test_an_observer_is_started_asked_and_finished_and_changes_nothing(every, looked):
    plain, watched = (Simulation(make_scene("column", {"count": 3})) for _ in range(2))
    highest = Highest(every)
    watched.observers.append(highest)
    assert highest.state == "made"
    plain.run(0.1)
    watched.run(0.1)
    assert highest.looked == looked
    assert highest.state == "finished"
    assert 0.01 < highest.height < 1
    np.testing.assert_array_equal(watched.position, plain.position)


def test_observers_of_ones_own_and_of_the_package_look_side_by_side():
    highest, energy = Highest(steps(2)), Energy(every=steps(2))
    simulate("column", duration=0.05, time_step=0.005, observers=(highest, energy))
    assert len(highest.looked) == len(energy.table) == 5
