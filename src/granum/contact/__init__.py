"""How bodies push: materials, their pair table, and the laws of the normal force."""

from .laws import HertzContact, Law, LinearContact
from .material import Material, MaterialPair
from .pair_table import PairTable

__all__ = ["HertzContact", "Law", "LinearContact", "Material", "MaterialPair", "PairTable"]
