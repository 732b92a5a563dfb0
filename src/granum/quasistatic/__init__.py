"""Packings at rest, without time: energy minimisation."""
