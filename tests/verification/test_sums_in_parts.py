"""Sums that are made of parts, chunk by chunk: more things than one chunk holds, against plain sums over all of them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from granum.contact import HertzContact, LinearContact
from granum.nonsmooth import PGS
from granum.nonsmooth.kinds.every import CHUNK
from granum.parallel import Team, team
from granum.state import energy as of_state
from tests.reference.problems import PROBLEMS
from tests.reference.scenes import FREE, D, make

GRAVITY = np.array([0.3, -0.2, -9.81])


@pytest.fixture(params=[1, 3])
def crew(request, monkeypatch):
    """One thread, and three that all work."""
    monkeypatch.setattr(team, "LEAST", 1)
    return Team(request.param)


def test_energy_of_more_grains_than_a_chunk(crew):
    """1/2 m v^2 + 1/2 I w^2 and -m g.x of every grain, the fastest grain and the box around them, wherever these stand in the list."""
    rng = np.random.default_rng(0)
    count = 2 * of_state.CHUNK + 77
    grid = np.stack(np.unravel_index(np.arange(count), (13, 13, 13)), axis=1)
    sim = make(1.1 * D * grid, velocity=rng.standard_normal((count, 3)), spin=9 * rng.standard_normal((count, 3)), guards=FREE)
    kinetic, potential, fastest, extent = of_state.energy(sim.bodies, GRAVITY, crew)
    m = sim.bodies.mass[-count:]
    square = (sim.velocity**2).sum(axis=1)
    spins = (sim.spin**2).sum(axis=1)
    # Parts and whole round differently: some of the count of terms times 1e-16.
    assert_allclose(kinetic, (0.5 * m * square + 0.2 * m * sim.radius**2 * spins).sum(), rtol=1e-12)
    assert_allclose(potential, -(m * (sim.position @ GRAVITY)).sum(), rtol=1e-12)
    assert_allclose(fastest, np.sqrt(square.max()), rtol=1e-14)
    assert_allclose(extent, [sim.position.min(axis=0), sim.position.max(axis=0)], rtol=0)


@pytest.mark.parametrize("law", [LinearContact(), HertzContact()], ids=lambda law: law.name)
def test_elastic_energy_of_more_contacts_than_a_chunk(crew, law):
    """k delta^(2 e_H) / (2 e_H) of every contact, as it was found at the start of the step."""
    rng = np.random.default_rng(1)
    grid = np.stack(np.unravel_index(np.arange(343), (7, 7, 7)), axis=1)
    sim = make(0.995 * D * grid + 1e-3 * D * rng.standard_normal(grid.shape), law=law, guards=FREE, settings={"threads": crew.threads})
    sim.step()
    contacts, found = sim.nonsmooth.detector.contacts, sim.nonsmooth.problem.found
    overlap = np.maximum(contacts.overlap, 0.0)
    assert np.count_nonzero(overlap) > 3 * CHUNK
    expected = (found.stiffness * overlap ** (2 * law.exponent) / (2 * law.exponent)).sum()
    assert_allclose(sim.report.elastic_energy, expected, rtol=1e-12)


def test_residual_of_more_contacts_than_a_chunk(crew):
    """The mean that a solve reports is that of the residuals of all contacts, by kind and whole."""
    problem = PROBLEMS["box"]()
    assert problem.contact_count > CHUNK
    problem.team = crew
    report = PGS(iterations=7).solve(problem)
    by_kind = np.sqrt((problem.residual() ** 2).mean(axis=0))
    assert_allclose(report.residual_by_kind, by_kind, rtol=1e-12)
    assert_allclose(report.residual, np.linalg.norm(by_kind), rtol=1e-12)
