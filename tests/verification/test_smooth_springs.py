"""Springs whose stiffness follows the overlap gain no energy: closed forms of single loops, and any path, step by step.

A heavy grain on a plane, or two, are led: centres along the normal, so that it keeps its direction, and spins at will, which shear, roll
and twist the contact. With F and W the force and the energy of a spring, and x what the contact moves in a step, the work of the step is
taken as x (F + F') / 2. While K grows, F' = F + k' x, and work - (W' - W) = F^2 / 2 (1 / k - 1 / k') >= 0 exactly. While K falls,
s' = s + x, and it is (k - k') s s' / 2, which is below zero only while a spring passes through its end, and then by (k - k') x^2 / 8 at
most. Friction that cuts a spring back loses more. So the bound of every step is known.
"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from granum.contact import HertzContact, LinearContact
from tests.reference.scenes import D, hertz_stiffness
from tests.reference.smooth import make

R, H = D / 2, 1e-3
SHEAR = 2 * (1 - 0.3) / (2 - 0.3)  # Mindlin's ratio for nu = 0.3, to the tangent of Hertz' law
LAWS = {"hertz": HertzContact(), "linear": LinearContact(stiffness=2e3)}
STICKS, SLIPS = {"friction": 1e9, "rolling_friction": 1e9}, {"friction": 0.3, "rolling_friction": 0.1}


class Led:
    """One contact, led: ``work`` [J] put into its springs so far, ``stored`` [J] in them, and what they may seem to gain (``allowed``)."""

    def __init__(self, kind, law, **friction):
        self.pair, self.law = kind == "pair", law
        self.round, self.arm = (R / 2, R) if self.pair else (R, R)
        place = np.array([(-R, 0, 0), (R, 0, 0)] if self.pair else [(0, 0, R)]) * (1 + 1e-9)
        self.sim = make(place, walls=() if self.pair else True, density=1e24, restitution=1.0, h=H, law=LAWS[law], **friction)
        at = self.sim.position
        self.overlap = 2 * R - (at[1, 0] - at[0, 0]) if self.pair else R - at[0, 2]
        self.work = self.stored = self.allowed = 0.0
        self.push = np.zeros((2, 3))  # force and torque on b

    def stiffness(self, overlap):
        """k_t [N/m] of the closed form."""
        if self.law == "linear":
            return SHEAR * LAWS["linear"].stiffness * (overlap > 0)
        return 1.5 * SHEAR * hertz_stiffness(R, R if self.pair else np.inf) * np.sqrt(max(overlap, 0.0))

    def pressed(self, overlap):
        """Energy [J] of the overlap itself."""
        if self.law == "linear":
            return 0.5 * LAWS["linear"].stiffness * max(overlap, 0.0) ** 2
        return 0.4 * hertz_stiffness(R, R if self.pair else np.inf) * max(overlap, 0.0) ** 2.5

    def move(self, press, turn):
        """One step: the overlap grows by ``press`` [m], grains turn by ``turn`` (N, 3) [rad]."""
        sim = self.sim
        along = np.array([1.0, 0, 0]) if self.pair else np.array([0, 0, -1.0])
        sim.velocity[:] = np.outer([0.5, -0.5] if self.pair else [1.0], press / H * along)
        sim.spin[:] = np.asarray(turn) / H
        sim.step()
        before, soft = self.overlap, self.stiffness(self.overlap)
        self.overlap = before + press
        # of b against a: contact points and turns, for the pair as its owner has it
        c = sim.contacts
        own = int(c.a[0]) if c.contact_count else 0
        n = along if own == 0 else -along
        arm = self.arm - 0.5 * max(self.overlap, 0.0) if self.pair else self.arm
        x = -np.cross(arm * np.sum(turn, axis=0), n)
        w = (turn[1 - own] - turn[own]) if self.pair else -np.asarray(turn[0])
        push = np.array([c.tangential_force[0], c.rolling_torque[0]]) if c.contact_count else np.zeros((2, 3))
        if own:
            x, w, push = -x, -w, -push  # of 1 against 0, so that steps can be summed
        self.work -= 0.5 * np.sum((self.push + push) * np.array([x, w]))
        self.stored = sim.report.elastic_energy - self.pressed(self.overlap)
        softens = max(0.0, soft - self.stiffness(self.overlap))
        self.allowed += softens * (x @ x + self.round**2 * (w @ w)) / 8
        self.push = push

    def go(self, press, turn, steps):
        for _ in range(steps):
            self.move(press / steps, np.asarray(turn) / steps)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("kind", ["wall", "pair"])
@pytest.mark.parametrize("way", ["shear", "twist"])
def test_loops_lose_what_the_closed_form_says(way, kind, law):
    """Sheared by s at an overlap, pressed or released to another, sheared back: the work is (k_2 - k_1) s^2 / 2 > 0, in both directions.

    Springs that kept their length would have given that much when pressed, forces that stayed when released. The same for twisting.
    """
    shallow, deep, angle = 0.01 * D, 0.03 * D, 2e-3
    axis = np.array([1.0, 0, 0]) if kind == "pair" else np.array([0, 0, 1.0])
    axis = axis if way == "twist" else np.array([0, 1.0, 0])
    sense = np.array([-1.0, 1.0] if way == "twist" else [1.0, 1.0]) if kind == "pair" else np.ones(1)  # twist against, roll together
    turn = angle * np.outer(sense, axis)
    for first, second in ((shallow, deep), (deep, shallow)):
        led = Led(kind, law, **STICKS)
        led.go(first - led.overlap, 0 * turn, 7)
        led.go(0.0, turn, 10)
        # k_t s^2 of shear, or k_t R*^2 q^2 of twisting; a wall that shears also rolls
        arm = R - first / 2 if kind == "pair" else R
        squares = {
            ("shear", "pair"): (2 * arm * angle) ** 2,
            ("shear", "wall"): (R * angle) ** 2 + (R * angle) ** 2,
            ("twist", "pair"): (R / 2 * 2 * angle) ** 2,
            ("twist", "wall"): (R * angle) ** 2,
        }
        square = squares[way, kind]
        assert_allclose(led.stored, 0.5 * led.stiffness(first) * square, rtol=1e-9)
        led.go(second - first, 0 * turn, 13)
        back = -turn * ((R - first / 2) / (R - second / 2) if (way, kind) == ("shear", "pair") else 1.0)  # as far, with another arm
        led.go(0.0, back, 10)
        lost = 0.5 * abs(led.stiffness(deep) - led.stiffness(shallow)) * square
        assert_allclose(led.work, lost, rtol=1e-8, atol=1e-9 * led.stiffness(deep) * square)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("kind", ["wall", "pair"])
@pytest.mark.parametrize("friction", [STICKS, SLIPS], ids=["sticks", "slips"])
def test_no_path_gains_energy(friction, kind, law):
    """1000 steps of pressing, releasing, shearing, rolling and twisting at random, now and then apart: work is stored or lost, not made."""
    rng, led = np.random.default_rng(5), Led(kind, law, **friction)
    lost, apart, gained, worst = [0.0], 0, 0.0, 0.0
    for _ in range(50):
        goal = rng.choice([-0.002, rng.uniform(0.002, 0.03)], p=[0.1, 0.9]) * D
        turn = 2e-2 * rng.uniform(-1, 1, (2 if kind == "pair" else 1, 3)) * rng.choice([0, 1], p=[0.3, 0.7])
        if kind == "pair":
            turn[1, 0] = -turn[0, 0]  # a common twist would turn the springs, and the trapeze rule with them
        start = led.overlap
        for _ in range(20):
            led.move((goal - start) / 20, turn / 20)
            lost.append(led.work - led.stored)
            gained += max(0.0, lost[-2] - lost[-1])
            apart += led.sim.report.contacts == 0
            worst = max(worst, led.pressed(led.overlap))
    assert apart > 10
    assert lost[-1] > 1e3 * led.allowed
    assert gained <= led.allowed + 1000 * 1e-14 * worst
