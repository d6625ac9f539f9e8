"""`python3 -m slipstick sweep ...`: the commands of studies (docs/sweeps.md)."""
import sys

from .studies.command import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
