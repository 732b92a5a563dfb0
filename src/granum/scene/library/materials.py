"""Materials of the papers."""

from __future__ import annotations

from ...contact import Material

PELLET = Material(
    name="pellet", density=3700, youngs_modulus=6e6, poisson_ratio=0.3, restitution=0.18, friction=0.91, rolling_friction=0.32
)
"""Iron ore green pellets (WS Table 1)."""

BEAD = Material(name="bead", density=2500, youngs_modulus=5e6, poisson_ratio=0.3, restitution=0.0, friction=0.7)
"""Grains and walls of SN 4.2: no rebound, no rolling resistance."""


def changed(material: Material, **changes: float | str | None) -> Material:
    """The material with some properties changed; none keeps a property."""
    return Material(**{**material.model_dump(), **{k: v for k, v in changes.items() if v is not None}})


def pellet(**changes: float | None) -> Material:
    """The pellet with some properties changed; none keeps a property."""
    return changed(PELLET, **changes)
