"""Kinds of constraints.

A kind is a module of device functions, and a kernel never asks which kind it has before it: it calls ``every.py``, where all kinds stand
in a fixed order. What a kind supplies:

- *apply*: its impulses at the start of a solve are added to the velocities of the bodies (warm start);
- *sweep*: every one of its constraints is updated once, with the newest velocities;
- *residual*: what a projected update would change, in m/s, zero at the solution;
- *work*: what bodies that do not yield have done on those that do;
- *rows*: its part of G, Sigma, targets and bounds, for solvers that factorise and for files.

Contacts are two kinds: of spheres, which lie in lanes and are swept with vector instructions (``spheres.py``), and of bodies with full
inertia, which carry lever arms and are swept one by one (``full.py``); what both have in common is in ``contact.py``. A further kind is a
module beside them, a group of arrays in ``groups.py``, and a line in each function of ``every.py``.
"""
