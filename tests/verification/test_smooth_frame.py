"""Frame indifference: loaded springs turn with their contact when both bodies turn as one, about any axis, the normal included."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

from granum.scene import Body, Motion, Plane
from granum.smooth.touching import SPRINGS
from tests.reference.smooth import make

D = 0.01
TURN = 2 * np.pi * np.array([0.36, 0.48, 0.8])  # [rad/s]: one revolution in 1 s
AXES = {"across": np.array([0.8, -0.6, 0.0]), "slanted": np.array([0.6, 0.64, 0.48]), "along": TURN / (2 * np.pi)}  # the normal, at first


def turned(time, x):
    return Rotation.from_rotvec(TURN * time).apply(x)


def revolve(steps, normal, wall=False):
    """Springs before and after one revolution of a pair, or of a grain with its wall, in that many steps, as parts of D and radians.

    The grains are too heavy to mind the contact; each step takes them where the rotation says.
    """
    h = 1 / steps
    bodies, place = [], np.array([-0.49 * D * normal, 0.49 * D * normal])
    if wall:
        place = place[:1]
        bodies = [Body(name="wall", kind="kinematic", motion=Motion(spin=tuple(TURN)), walls=[Plane(material="m", normal=tuple(-normal))])]
    sim = make(
        place,
        diameter=D,
        bodies=bodies,
        density=1e24,
        friction=1e9,
        rolling_friction=1e9,
        restitution=1.0,
        h=h,
        velocity=(turned(h, place) - place) / h,
        spin=np.tile(TURN, (len(place), 1)),
    )
    place = sim.position.copy()

    def lead(sim):
        sim.position[:] = turned(sim.time, place)
        sim.velocity[:] = (turned(sim.time + h, place) - sim.position) / h
        sim.spin[:] = TURN

    sim.callbacks.append(lead)
    sim.step()
    touching, walls = sim.stepper.touching, sim.stepper.at_walls

    def spring():
        """All of its numbers, and which of them are lengths."""
        return (walls.now.of("spring")[0], range(1, 7)) if wall else (touching.pairs.kept[touching.found().place[0]], SPRINGS[1:])

    own = lambda: 1 if sim.contacts.a[0] == 0 else -1  # noqa: E731  a new list may turn the pair round
    across = np.cross(sim.contacts.normal[0], [0.3, -0.5, 0.7])
    loaded = np.concatenate([0.02 * D * across / np.linalg.norm(across), np.array([0.01, -0.03, 0.02])])
    held, places = spring()
    held[list(places)] = loaded * own()
    for _ in range(steps):  # a whole turn from here
        sim.step()
    assert sim.report.contacts == 1
    held, places = spring()
    return loaded, held[list(places)] * own()


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("wall", [False, True], ids=["pair", "wall"])
def test_springs_turn_with_the_contact(axis, wall):
    """After one revolution both springs are back where they were, with their length: first order in h or better.

    In a step by the angle w h, springs are turned to first order and then given back their length, and the velocity of its middle meets
    the normal of its end: (w h)^2 / 4 at most of a spring's direction, and of D as slip. In a turn that is pi^2 / steps.
    """
    errors, counts = [], np.array([100, 200, 400])
    for steps in counts:
        before, after = revolve(steps, AXES[axis], wall)
        slip, lost = np.linalg.norm(after[:3] - before[:3]) / D, np.linalg.norm(after[3:] - before[3:]) / np.linalg.norm(before[3:])
        errors.append((slip, lost))
        # No spin of one against the other. The overlap, D / 50, is known to some hundred eps, K to half of it; springs shrink as it falls.
        assert_allclose(np.linalg.norm(after[3:]), np.linalg.norm(before[3:]), rtol=500 * np.finfo(float).eps * steps)
    errors = np.array(errors)
    slopes = np.log2(errors[:-1] / errors[1:])
    assert (errors < 1.05 * np.pi**2 / counts[:, None]).all()
    assert (slopes > 0.9).all()
