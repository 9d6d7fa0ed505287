"""`python -m genverify`: the command `genverify`."""

import sys

from genverify.cli import main

if __name__ == "__main__":
    sys.exit(main())
