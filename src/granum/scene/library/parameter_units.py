"""Units of the parameters of library scenes, by their names: a name measures the same in all scenes.

Sizes that scenes count in grain diameters are plain numbers, and so are parameters that are not here.
"""

from __future__ import annotations

PARAMETER_UNITS = {
    "belt_speed": "m/s",
    "diameter": "m",
    "drop": "m",
    "duration": "s",
    "gravity": "m/s2",
    "plate_mass": "kg",
    "platen_mass": "kg",
    "pressure": "Pa",
    "ramp": "s",
    "rate": "1/s",
    "settle": "s",
    "stiffness": "N/m",
    "stress": "Pa",
    "stress_rate": "Pa/s",
    "time_step": "s",
    "youngs_modulus": "Pa",
}
