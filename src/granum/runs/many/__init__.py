"""Many runs as library calls: all combinations of parameters, a parameter that fits a measurement, and ensembles of packings."""
