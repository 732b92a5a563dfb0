"""Materials of the papers."""

from __future__ import annotations

from ...contact import Material

PELLET = Material(
    name="pellet", density=3700, youngs_modulus=6e6, poisson_ratio=0.3, restitution=0.18, friction=0.91, rolling_friction=0.32
)
"""Iron ore green pellets (WS Table 1)."""


def pellet(**changes: float | None) -> Material:
    """The pellet with some properties changed; none keeps a property."""
    return Material(**{**PELLET.model_dump(), **{k: v for k, v in changes.items() if v is not None}})
