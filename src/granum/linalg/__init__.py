"""Sparse symmetric matrices of contact networks: their order of elimination and their Cholesky factors."""
