"""Materials, and what a pair of them does differently from the mean of the two."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ..records import Fraction, NonNegative, Positive, Record


class Material(Record):
    """What a grain or wall is made of (WS Table 1)."""

    name: str
    """By which grains and walls name it."""
    density: Positive = 2500.0
    """rho [kg/m^3] of the solid."""
    youngs_modulus: Positive = 1e7
    """E [Pa]."""
    poisson_ratio: Annotated[Fraction, Field(lt=0.5)] = 0.3
    """nu [-], in [0, 0.5)."""
    restitution: Fraction = 0.5
    """e [-], in [0, 1]: Newton's restitution of the normal velocity in an impact."""
    friction: NonNegative = 0.5
    """mu [-], Coulomb friction."""
    rolling_friction: NonNegative = 0.0
    """mu_r [-]: the rolling and twisting torque is at most mu_r R* f_n."""

    @property
    def softness(self) -> float:
        """(1 - nu^2) / E [1/Pa]: its part of 1 / E* in a contact."""
        return (1 - self.poisson_ratio * self.poisson_ratio) / self.youngs_modulus


class MaterialPair(Record):
    """Overrides what the pair table would take from the two materials alone."""

    materials: tuple[str, str]
    """Names of the two; the same name twice: grains of one material among themselves."""
    restitution: Fraction | None = None
    """e [-]"""
    friction: NonNegative | None = None
    """mu [-]"""
    rolling_friction: NonNegative | None = None
    """mu_r [-]"""
