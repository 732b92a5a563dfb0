"""Why model reduction is not for every method: the words of all refusals."""

SMOOTH = (
    "model reduction needs the nonsmooth stepper: it leaves contacts inside of rigid aggregates out of the contact problem of a step. "
    "The smooth stepper has no such problem: its forces are the springs of all contacts, so it needs the overlap of every one"
)
QUASISTATIC = (
    "model reduction needs a run in time with the nonsmooth stepper: it leaves contacts inside of rigid aggregates out of the contact "
    "problem of a step. A packing at rest has no such problem: its energy is that of the overlaps of all grains, which all must move to "
    "minimise it"
)
CELL = "model reduction does not work in a periodic cell: an aggregate could reach around it and touch itself"
LOCKED = "model reduction does not know of locked axes: an aggregate with such a body in it would move along them"
FIXED = "model reduction does not know of grains that are fixed to bodies: it would let them come off"
