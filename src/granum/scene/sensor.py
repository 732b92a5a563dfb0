"""Sensors: shapes that grains pass through; inside them nothing moves as one (MR 3.2.3)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from .regions import BallRegion, BoxRegion, CylinderRegion


class BoxSensor(BoxRegion):
    """A box along the world's axes."""


class CylinderSensor(CylinderRegion):
    """A full cylinder with flat ends."""


class BallSensor(BallRegion):
    """A ball."""


Sensor = Annotated[BoxSensor | CylinderSensor | BallSensor, Field(discriminator="shape")]
