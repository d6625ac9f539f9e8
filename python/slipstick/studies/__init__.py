"""Studies: many runs of one scene. `slipstick.sweep` and the commands `sweep` and `fit` (docs/sweeps.md)."""
