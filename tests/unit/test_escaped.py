"""Grains that fall out of a scene are counted, and told by the hundred."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest

from granum import Body, Box, Cylinder, Grains, Material, Motion, Plane, Scene, Simulation, Sink
from granum.simulation.escaped import MANY, escaped
from tests.command_line import granum

D = 0.01
TABLE = Box(material="m", lower=(-0.1, -0.1, -0.02), upper=(0.1, 0.1, 0.0), side="outside")


def row(count, x):
    """Grains beside each other along y, above the height of the table."""
    return [[x, 1.5 * D * k, D] for k in range(count)]


def fallen(position, walls=(TABLE,), duration=0.3, **more):
    """A simulation of grains at these places after a while."""
    grains = Grains(material="m", position=position, diameter=D)
    sim = Simulation(Scene(materials=[Material(name="m")], walls=walls, grains=[grains], **more), time_step=1e-3)
    return sim.run(duration)


def test_grains_beside_a_table_have_fallen_out_and_those_on_it_have_not():
    """After 0.3 s they are g t (t + h) / 2 = 0.443 m lower: 9.81 m/s^2, symplectic steps of 1 ms."""
    sim = fallen([*row(4, 0.5), [0, 0, D]])
    found = escaped(sim)
    assert found is not None
    assert found.grains == 4
    assert found.upper[2] == pytest.approx(D - 9.81 * 0.3 * 0.301 / 2, rel=1e-12)
    assert (found.lower[1], found.upper[1]) == (0.0, pytest.approx(4.5 * D))
    assert not [one for one in sim.warnings if "fallen out" in one]  # a few may well fall


@pytest.mark.parametrize(
    "more",
    [
        {"walls": (TABLE, Plane(material="m", point=(0, 0, -5)))},
        {"sinks": (Sink(region={"shape": "box", "lower": (-9, -9, -6), "upper": (9, 9, -5)}),)},
        {"walls": ()},
    ],
    ids=["a floor far below", "a sink far below", "no walls to leave"],
)
def test_what_will_be_met_or_has_nothing_to_leave_is_not_out(more):
    assert escaped(fallen(row(4, 0.5), **more)) is None


def test_a_tray_that_goes_down_takes_its_grains_along():
    """Below where the scene began, but not below the tray as it stands now."""
    tray = Body(name="tray", kind="kinematic", motion=Motion(velocity=(0, 0, -1)), walls=[TABLE])
    assert escaped(fallen([[0, 0, D / 2]], walls=(), bodies=(tray,))) is None


def test_a_pipe_without_end_and_floor_loses_all():
    pipe = Cylinder(material="m", radius=0.1)
    found = escaped(fallen([[0, 0, D]], walls=(pipe,)))
    assert found is not None
    assert found.grains == 1


def test_hundreds_are_told_once_with_number_and_place():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sim = fallen(row(MANY, 0.5), duration=0.2)
    said = [str(one.message) for one in caught if "fallen out of the scene" in str(one.message)]
    assert len(said) == 1
    assert f"{MANY} grains, now between (0.5, 0, " in said[0]
    assert len([one for one in sim.warnings if "fallen out" in one]) == 1
    assert np.all(sim.position[:, 2] < -0.02)


def test_the_summary_has_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "table.toml").write_text(
        'materials = [{ name = "m" }]\n'
        'walls = [{ shape = "box", material = "m", lower = [-0.1, -0.1, -0.02], upper = [0.1, 0.1, 0], side = "outside" }]\n'
        'grains = [{ material = "m", position = [[0.5, 0, 0.01], [0, 0, 0.01]], diameter = "1 cm" }]\n'
    )
    done = granum("run", "table.toml", "--duration", "0.2 s", "--no-picture", "--json")
    assert json.loads(done.stdout)["escaped"]["grains"] == 1
    assert "fell out" in granum("info", "table.vtkhdf").stdout
