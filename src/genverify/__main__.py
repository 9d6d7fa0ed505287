"""`python -m genverify`: the command `genverify`."""

import sys

from genverify.cli import main

sys.exit(main())
