"""Runs as library calls: what a command of the same name does, with its files, its talk and its end."""
