"""Thresholds of model reduction: when grains merge into rigid aggregates, and when these come apart (MR sections 3.1-3.2, Table 2)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ..records import NonNegative, Record, Whole

Limit = Annotated[float | None, Field(gt=0, allow_inf_nan=False)]  # none: no limit


class Merge(Record):
    """Two bodies merge when all that happens at their contact is slower than this (MR (26)-(28))."""

    approach: NonNegative = 2.5e-3
    """Normal velocity towards each other [m/s]."""
    separation: NonNegative = 2.5e-3
    """Normal velocity apart [m/s]."""
    tangential: NonNegative = 2.5e-3
    """[m/s]"""
    rolling: NonNegative = 0.5
    """[rad/s]"""
    normal_acceleration: Limit = 5.0
    """Change of the normal velocity over the step [m/s^2]."""
    tangential_acceleration: Limit = 5.0
    """[m/s^2]"""
    rolling_acceleration: Limit = None
    """[rad/s^2]"""
    steps: Whole = Field(default=4, ge=1)
    """In so many steps in a row that must be so for a grain that has moved (MR: 1); else grains of a slow flow freeze by chance, and have
    to be freed. New grains merge at once."""
    smallest: Whole = Field(default=8, ge=2)
    """Grains of an aggregate that no wall holds, at least: smaller ones cost more than they save (MR: 2)."""


class ContactSplit(Record):
    """Grains of an aggregate come off where something hits it or slides along it (MR (29)-(31))."""

    approach: Limit = 0.15
    """Normal velocity towards each other [m/s]."""
    separation: Limit = None
    """[m/s]; MR found no value that works."""
    tangential: Limit = 0.15
    """[m/s]"""
    rolling: Limit = None
    """[rad/s]"""
    depth: Whole = Field(default=2, ge=1)
    """N_c-spl: the grain that is touched (1), with its neighbours (2), with theirs (3) ..."""


class TrialSplit(Record):
    """Grains come off that do not stay in place when they are free for a step, with those around them (MR (32)-(36))."""

    every: Whole = Field(default=4, ge=1)
    """Steps between two trials (MR: 1); what is disturbed meanwhile is not forgotten."""
    force: Limit = 0.1
    """Force that is left over, as a part of the external plus the contact force on a grain (MR: 0.15, 0.25)."""
    load: Limit = None
    """Force that may be left over besides, as a part of all contact forces on a grain, added up without their directions: so few sweeps do
    not balance a grain that carries a thousand times its weight to a tenth of that weight."""
    torque: Limit = None
    """The same of the torque."""
    approach: Limit = None
    """Normal velocity towards each other [m/s] (MR: 2.6)."""
    separation: Limit = None
    """[m/s] (MR: 0.26)"""
    tangential: Limit = None
    """[m/s] (MR: 0.26)"""
    rolling: Limit = None
    """[rad/s]"""
    depth: Whole | None = Field(default=2, ge=1)
    """Layers of merged grains, counted from what touches or leaves them, that are tried; none: all."""
