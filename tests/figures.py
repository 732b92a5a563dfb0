"""What a matplotlib figure shows, for tests that look at figures."""

from __future__ import annotations

import numpy as np
from matplotlib.collections import EllipseCollection, LineCollection


def panels(figure):
    """Axes with something in them; colour bars and empty places are none."""
    return [a for a in figure.axes if a.get_label() != "<colorbar>" and (a.lines or a.collections or a.patches or a.images)]


def title(axes):
    return axes.get_title(loc="left") or axes.get_title()


def legend(axes):
    """What the legend names; none: nothing."""
    return [text.get_text() for text in axes.get_legend().get_texts()] if axes.get_legend() else []


def curve(axes, name):
    """(x, y) of the one curve of that name."""
    found = [line for line in axes.lines if line.get_label() == name]
    assert len(found) == 1, (name, [line.get_label() for line in axes.lines])
    return np.asarray(found[0].get_xdata(), float), np.asarray(found[0].get_ydata(), float)


def grains(axes):
    """Number of circles."""
    return sum(len(c.get_offsets()) for c in axes.collections if isinstance(c, EllipseCollection))


def segments(axes):
    """Number of lines drawn together, such as forces."""
    return sum(len(c.get_segments()) for c in axes.collections if isinstance(c, LineCollection))


def is_sound(figure):
    """Every panel is there to be read: both limits are finite and apart, all that is drawn has a place, axes of charts have names."""
    for axes in panels(figure):
        for low, high in (axes.get_xlim(), axes.get_ylim()):
            assert np.isfinite([low, high]).all()
            assert low != high
        named = axes.get_xlabel() or axes.get_ylabel() or title(axes)
        assert named, "a panel without a word"
    return bool(panels(figure))
