"""The force network of packings whose network is known."""

from __future__ import annotations

import builtins

import numpy as np
import pytest
from numpy.testing import assert_allclose

from granum.analysis import ContactRows, ForceNetwork, GrainRows, Snapshot
from granum.checks import InputError
from granum.contact import Material
from granum.scene import Plane, Scene

D = 0.01
WEIGHTLESS = {"acceleration": (0, 0, 0)}
SCENE = Scene(materials=[Material(name="m", friction=0.0)], walls=[Plane(material="m")] * 7, gravity=WEIGHTLESS)


def sheet(n=6, upright=4.0, across=1.0):
    """An n x n square lattice in the plane y = 0 on the floor; upright contacts push with ``upright`` [N], the others with ``across``."""
    number = np.arange(n * n).reshape(n, n)  # column, height
    x = np.stack([np.repeat(np.arange(n), n), np.zeros(n * n), np.tile(np.arange(n), n) + 0.5], axis=1) * D
    a = np.r_[number[:, :-1].ravel(), number[:-1].ravel(), number[:, 0]]
    b = np.r_[number[:, 1:].ravel(), number[1:].ravel(), np.full(n, -7)]
    normal = np.repeat([[0, 0, 1], [1, 0, 0], [0, 0, -1]], [n * (n - 1), n * (n - 1), n], axis=0)
    force = np.repeat([upright, across, upright], [n * (n - 1), n * (n - 1), n])
    return Snapshot.build(SCENE, GrainRows(position=x, radius=D / 2), ContactRows(a=a, b=b, normal=normal, normal_force=force))


def test_edges_and_matrix():
    s = sheet()
    net = ForceNetwork.of(s)
    pair = s.b >= 0
    dense = np.zeros((36, 36))
    dense[s.a[pair], s.b[pair]] = dense[s.b[pair], s.a[pair]] = s.normal_force[pair]
    assert_allclose(net.matrix.toarray(), dense)
    assert net.edge_count == s.contact_count
    assert net.mean_force == pytest.approx((36 * 4 + 30 * 1) / 66)
    assert_allclose(net.strong, s.normal_force > 2)
    assert_allclose(net.branch[:60], D * s.normal[:60])
    assert_allclose(net.branch[60:], D / 2 * s.normal[60:])


def test_contacts_without_force_are_no_edges():
    s = sheet(across=0.0)
    assert ForceNetwork.of(s).edge_count == 36


def test_upright_chains_of_a_sheet():
    """Each column is a chain: its grains carry more than those of no column, and no strong contact leads across."""
    s = sheet()
    number = np.arange(36).reshape(6, 6)
    # The top grain of a column is pushed from below only: it carries half, less than the mean.
    net = ForceNetwork.of(s)
    assert_allclose(net.chain_lengths, [5] * 6)
    assert_allclose(net.chain[number[:, :5]], np.repeat(np.arange(6), 5).reshape(6, 5))
    assert (net.chain[number[:, 5]] == -1).all()
    assert_allclose(net.in_chain[:30].reshape(6, 5), np.tile([True] * 4 + [False], (6, 1)))
    assert not net.in_chain[30:].any()


def test_two_in_a_row_are_no_chain():
    s = Snapshot.build(
        SCENE,
        GrainRows(position=[[0, 0, 0], [0, 0, D], [5 * D, 0, 0], [6 * D, 0, 0], [7 * D, 0, 0]], radius=D / 2),
        ContactRows(a=[0, 2, 3], b=[1, 3, 4], normal=[[0, 0, 1], [1, 0, 0], [1, 0, 0]], normal_force=[10.0, 1.0, 1.0]),
    )
    assert (ForceNetwork.of(s).chain == -1).all()


def test_grain_stress_sums_to_the_virial():
    """Arms of both grains make up the branch: sum of V_i sigma_i = sum of f l, symmetric part."""
    s = sheet()
    s = Snapshot.build(
        SCENE,
        GrainRows(position=s.position, radius=s.radius),
        ContactRows(a=s.a, b=s.b, normal=s.normal, normal_force=s.normal_force, tangential_force=0.3 * s.normal[:, [2, 1, 0]]),
    )
    net = ForceNetwork.of(s)
    virial = np.einsum("ci,cj->ij", net.force, net.branch)
    total = (net.grain_stress * (np.pi / 6 * D**3)).sum(axis=0)
    assert_allclose(total, (virial + virial.T) / 2, atol=1e-14)


def test_coordination_and_rattlers():
    """Inside of a sheet a grain has four contacts; taking away those with three or fewer eats up the whole sheet, corner by corner.

    Pressed together by walls on all sides every grain has four and stays.
    """
    s = sheet()
    net = ForceNetwork.of(s)
    assert net.coordination == pytest.approx((2 * 60 + 6) / 36)
    assert net.rattlers.all()
    assert np.isnan(net.backbone_coordination)
    n = 6
    number = np.arange(36).reshape(n, n)
    more = np.r_[number[:, -1], number[0], number[-1]]
    s = Snapshot.build(
        SCENE,
        GrainRows(position=np.r_[s.position, [[1.0, 0, 0]]], radius=D / 2),
        ContactRows(
            a=np.r_[s.a, more],
            b=np.r_[s.b, np.full(18, -1)],
            normal=np.r_[s.normal, np.repeat([[0, 0, 1], [-1, 0, 0], [1, 0, 0]], 6, axis=0)],
            normal_force=1.0,
        ),
    )
    net = ForceNetwork.of(s)
    assert np.flatnonzero(net.rattlers).tolist() == [36]
    assert net.backbone_coordination == 4
    assert net.coordination == pytest.approx(4 * 36 / 37)


@pytest.mark.parametrize("friction", [0.0, 0.5])
def test_what_stands_under_gravity_is_no_rattler(friction):
    """Five grains on each other, each carrying those above, and one in flight: only that is loose."""
    scene = Scene(materials=[Material(name="m", friction=friction)], walls=[Plane(material="m")])
    x = [[0, 0, (k + 0.5) * D] for k in range(5)] + [[5 * D, 0, 9 * D]]
    s = Snapshot.build(
        scene,
        GrainRows(position=x, radius=D / 2),
        ContactRows(a=[0, 0, 1, 2, 3], b=[-1, 1, 2, 3, 4], normal=[[0, 0, -1]] + [[0, 0, 1]] * 4, normal_force=[5.0, 4.0, 3.0, 2.0, 1.0]),
    )
    net = ForceNetwork.of(s)
    assert np.flatnonzero(net.rattlers).tolist() == [5]
    assert net.backbone_coordination == pytest.approx(9 / 5)


def test_with_friction_two_contacts_hold_a_grain():
    """A chain that ends free is eaten up from its end; one between walls stays."""
    rough = Scene(materials=[Material(name="m", friction=0.5)], walls=[Plane(material="m")], gravity=WEIGHTLESS)
    x = np.arange(4)[:, None] * [D, 0, 0]
    normal = [[1, 0, 0]] * 3 + [[-1, 0, 0]]
    free = Snapshot.build(
        rough, GrainRows(position=x, radius=D / 2), ContactRows(a=[0, 1, 2, 0], b=[1, 2, 3, -1], normal=normal, normal_force=1.0)
    )
    assert ForceNetwork.of(free).rattlers.all()
    held = Snapshot.build(
        rough,
        GrainRows(position=x, radius=D / 2),
        ContactRows(a=[0, 1, 2, 0, 3], b=[1, 2, 3, -1, -1], normal=[*normal, [1, 0, 0]], normal_force=1.0),
    )
    assert not ForceNetwork.of(held).rattlers.any()
    assert ForceNetwork.of(held).backbone_coordination == 2


def test_fabric():
    net = ForceNetwork.of(sheet())
    assert_allclose(net.fabric, np.diag([30, 0, 36]) / 66)
    assert net.anisotropy == pytest.approx(36 / 66)
    assert_allclose(net.force_fabric, np.diag([30, 0, 144]) / 174)
    assert net.force_anisotropy == pytest.approx(144 / 174)


def test_distribution_of_exponential_forces():
    """P(f) = exp(-f): the tail has the rate 1 within the standard error 1 / sqrt(n) of its n forces (four of them)."""
    rng = np.random.default_rng(5)
    n = 4000
    s = Snapshot.build(
        SCENE,
        GrainRows(position=rng.uniform(size=(n, 3)), radius=0.01),
        ContactRows(a=np.arange(n - 1), b=np.arange(1, n), normal=(1, 0, 0), normal_force=7 * rng.exponential(size=n - 1)),
    )
    found = ForceNetwork.of(s).distribution()
    assert found.count.sum() == n - 1
    assert (found.density * np.diff(found.edges)).sum() == pytest.approx(1)
    assert found.mean == pytest.approx(7, rel=0.1)
    assert found.tail_rate == pytest.approx(1, abs=4 / np.sqrt(n * np.exp(-1)))
    assert np.isnan(ForceNetwork.of(sheet(2)).distribution().tail_rate)


def test_no_force_is_refused_in_words():
    s = Snapshot.build(SCENE, GrainRows(position=np.zeros((1, 3)), radius=D), time=0.5)
    with pytest.raises(InputError, match=r"no contact carries force at t = 0\.5 s \(1 grains, 0 contacts\)"):
        ForceNetwork.of(s)


def test_networkx():
    networkx = pytest.importorskip("networkx")
    s = sheet(3)
    net = ForceNetwork.of(s)
    graph = net.to_networkx()
    assert isinstance(graph, networkx.Graph)
    assert graph.number_of_nodes() == 9 + 1
    assert graph.number_of_edges() == net.edge_count
    assert graph[0][1]["weight"] == 4.0
    assert graph[0][("wall", 6)]["force"] == (0.0, 0.0, -4.0)
    assert graph.nodes[4]["position"] == pytest.approx((D, 0, 1.5 * D))


def test_missing_networkx_is_named(monkeypatch):
    kept = builtins.__import__

    def without(name, *args, **kwargs):
        if name == "networkx":
            raise ImportError
        return kept(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(InputError, match=r"granum\[analysis\]"):
        ForceNetwork.of(sheet(3)).to_networkx()
