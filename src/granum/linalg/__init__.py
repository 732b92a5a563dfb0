"""Sparse symmetric matrices of contact networks: their order of elimination and their Cholesky factors."""

from .cholesky import Factor, Plan

__all__ = ["Factor", "Plan"]
