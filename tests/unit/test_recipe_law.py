"""CONTRIBUTING's recipe for a contact law, followed once: a spring that stiffens as it is pressed, known to nobody but this file."""

from __future__ import annotations

import math
from typing import ClassVar, Literal, NamedTuple

import numpy as np
import pytest

from granum import Material, Scene, Simulation, load_scene
from granum.contact import law
from granum.records import Positive
from granum.simulation import make_settings
from tests.reference.scenes import FREE, D, G, by_height, mass, spheres


class StiffeningParameters(NamedTuple):
    """For kernels."""

    exponent: float  # e_H = 3/2
    dissipation: float  # c [s]


class StiffeningContact(law.ContactLaw):
    r"""A spring whose push grows with the square of the overlap: f_n = k delta^2."""

    exponent: ClassVar[float] = 1.5
    name: Literal["stiffening"] = "stiffening"
    stiffness: Positive = 1e9
    """k [N/m^2]."""

    def pair_stiffness(self, a: Material, b: Material) -> float:
        return self.stiffness

    @property
    def parameters(self) -> StiffeningParameters:
        return StiffeningParameters(self.exponent, self.dissipation)


@law.response.of(StiffeningParameters)
def stiffening_response(law, k, radius_eff, overlap):
    """f = k delta^2, E = k delta^3 / 3."""
    return law_response(k * overlap * overlap, k * overlap, 2.0 * k * overlap, k * overlap * overlap * overlap / 3.0)


@law.contact_stiffness.of(StiffeningParameters)
def stiffening_stiffness(law, k, radius_eff):
    """The same at any size."""
    return k


@law.overlap_under.of(StiffeningParameters)
def stiffening_overlap(law, k, push):
    """sqrt(f / k)."""
    return math.sqrt(push / k)


law_response = law.Response


OWN = law.LAWS.pop("stiffening")  # known by itself from its definition on; nobody else shall meet it


@pytest.fixture(autouse=True, scope="module")
def known():
    law.LAWS["stiffening"] = OWN
    yield
    del law.LAWS["stiffening"]


def column(count: int) -> Scene:
    place = [(0, 0, (k + 0.5) * D) for k in range(count)]
    return Scene(
        materials=[Material(name="m", density=3700, restitution=0.2, friction=0.3)],
        walls=[{"shape": "plane", "material": "m"}],
        grains=spheres(place, D),
        law={"name": "stiffening"},
    )


@pytest.mark.parametrize("stepper", ["nonsmooth", pytest.param("smooth", marks=pytest.mark.slow)])  # each is compiled anew for a law
def test_a_column_at_rest_has_the_overlaps_of_the_law(stepper):
    """delta_j = sqrt(W_j / k), W_j the weight above contact j, in either stepper."""
    scene = column(4)
    assert isinstance(scene.law, StiffeningContact)
    sim = Simulation(scene, make_settings({"stepper": {"name": stepper}, "guards": FREE}))
    sim.run(0.6)
    c = sim.contacts
    order = by_height(sim)
    weight = mass(D) * G * np.arange(4, 0, -1)
    np.testing.assert_allclose(c.overlap[order], np.sqrt(weight / 1e9), rtol=2e-3)  # what is left of the settling
    np.testing.assert_allclose(c.normal_force[order], weight, rtol=2e-3)


def test_scene_files_know_the_law(tmp_path):
    (tmp_path / "one.toml").write_text(
        'law = {name = "stiffening", stiffness = 2e9}\n[[materials]]\nname = "m"\n[[walls]]\nshape = "plane"\nmaterial = "m"\n'
    )
    scene = load_scene(str(tmp_path / "one.toml"))
    assert scene.law == StiffeningContact(stiffness=2e9)
    assert Scene.model_validate_json(scene.model_dump_json()).law == scene.law
