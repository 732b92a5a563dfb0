"""Mixtures of materials: shares by mass or by number, in whole grains."""

from __future__ import annotations

import pytest
from numpy.testing import assert_allclose

from granum import Disc, InputError, Material, Mixture, Part, load_scene, simulate

SAND, ORE = Material(name="sand", density=2500, friction=0.5), Material(name="ore", density=5000, friction=0.5)
PARTS = (
    Part(material="sand", share=30, sizes={"distribution": "uniform", "lower": 0.004, "upper": 0.006}),
    Part(material="ore", share=70, sizes=0.01),
)
SOURCE = Disc(centre=(0, 0, 0.2), diameter=0.2)


def test_shares_by_mass_come_out_as_mass_flows():
    made = Mixture(parts=PARTS, rate=200, source=SOURCE).emitters([SAND, ORE])
    flow = [e.rate * m.density * e.sizes.mean_cube for e, m in zip(made, (SAND, ORE), strict=True)]
    assert_allclose(flow[0] / sum(flow), 0.3, rtol=1e-12)
    assert_allclose(sum(e.rate for e in made), 200, rtol=1e-12)
    assert [(e.name, e.material, e.count, e.seed) for e in made] == [("mixture sand", "sand", None, 0), ("mixture ore", "ore", None, 1)]


@pytest.mark.parametrize("count", [1, 2, 10, 11, 999])
def test_shares_by_number_are_whole_grains_that_add_up(count):
    made = Mixture(parts=PARTS, by="number", rate=200, count=count, source=SOURCE).emitters([SAND, ORE])
    counts = {e.material: e.count for e in made}
    assert sum(counts.values()) == count
    assert abs(counts.get("sand", 0) - 0.3 * count) < 1


def test_a_scene_file_mixes_and_its_run_has_the_numbers(tmp_path):
    file = tmp_path / "mixed.toml"
    file.write_text(
        """
materials = [{ name = "sand", density = 2500 }, { name = "ore", density = 5000 }]
walls = [{ shape = "plane", material = "sand" }]
[[mixtures]]
by = "number"
rate = 400
count = 20
parts = [{ material = "sand", share = "75%", sizes = "5 mm" }, { material = "ore", share = "25%", sizes = 0.01 }]
source = { source = "disc", centre = [0, 0, 0.05], diameter = 0.2 }
"""
    )
    sim = simulate(load_scene(file), duration=0.1, time_step=0.002)
    assert sorted(sim.bodies.material.tolist()) == [0] * 15 + [1] * 5
    assert set(sim.radius[sim.bodies.material == 1]) == {0.005}


def test_a_bad_mixture_is_refused_in_words(tmp_path):
    with pytest.raises(InputError, match="unknown material of mixture 'mixture' 'sand'"):
        Mixture(parts=PARTS, rate=1, source=SOURCE).emitters([ORE])
    file = tmp_path / "mixed.toml"
    file.write_text('mixtures = [{ rate = 1 }]\nmaterials = [{ name = "sand", density = 2500 }]\n')
    with pytest.raises(InputError, match="mixtures"):
        load_scene(file)
