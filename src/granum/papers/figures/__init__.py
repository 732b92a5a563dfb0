"""Figures of the papers' experiments: each draws what an experiment returns."""
