"""`python3 -m slipstick sweep ...`: the commands of studies (docs/sweeps.md), and `recheck` (docs/recheck.md)."""
import sys

if __name__ == "__main__":
    if sys.argv[1:2] == ["recheck"]:  # needs nothing of what studies need
        from . import recheck
        sys.exit(recheck.main(sys.argv[2:]))
    from .studies.command import main
    sys.exit(main(sys.argv[1:]))
