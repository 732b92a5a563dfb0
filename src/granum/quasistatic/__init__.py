"""No time at all: packings, their energy and its minima."""
