"""
The toy example of section 4.2: three counts of 1, of which a human can see what follows.

Queries 1 and 2 tell of one row with A = 0, B = 0 and of one with B = 0, C = 0. By query 3 only one row has B = 0, so they
are the same. Nothing else need be published but N.

>>> from genverify.attack.attack import attack_release
>>> found = attack_release(toy_release(4))
>>> [claim.codes for claim in found.claims if claim.k == 3]
[(0, 0, 0)]
>>> {claim.m for claim in found.claims if claim.k == 3}
{1}

Without query 3 the two rows may be different people, and the claim falls:

>>> sorted(claim.codes for claim in attack_release(toy_release(4, third=False)).claims if claim.k == 3)
[]

Nor can there be two such rows (footnote 9):

>>> from genverify.attack.verify import Verifier
>>> from genverify.papers.gtv.excluded.multiplicities import multiplicities
>>> from genverify.solve.settings import DEFAULT
>>> multiplicities(Verifier(DEFAULT.bounder(toy_release(4))), (0, 0, 0), (), DEFAULT).possible
[1]
"""

from genverify.core.describe import make_schema
from genverify.core.release import Release, make_release

VALUES = ["0", "1"]


def toy_release(n: int, third: bool = True) -> Release:
    """The three queries of the example, or the first two, and the number of rows."""
    columns = {"A": VALUES, "B": VALUES, "C": VALUES}
    schema = make_schema(columns, {"ab": ["A", "B"], "bc": ["B", "C"], "b": ["B"]})
    counts = {"N": n, "ab.0.0": 1, "bc.0.0": 1} | ({"b.0": 1} if third else {})
    return make_release(schema, "toy", counts)
