"""Tests of robustness use the command line as the unit tests do."""

from tests.unit.conftest import granum  # noqa: F401
