"""The toy example of section 4.2 of generate-then-verify, as a release."""

from genverify.model.release import Release, make_release, make_schema


def toy_release(n: int, third: bool = True) -> Release:
    """
    The toy example of section 4.2, three counts of 1 of which a human can see what follows; or the first two of them.

    Queries 1 and 2 tell of one row with A = 0, B = 0 and of one with B = 0, C = 0. By query 3 only one row has B = 0, so
    they are the same. Nothing else need be published but N.
    """
    columns = {"A": ["0", "1"], "B": ["0", "1"], "C": ["0", "1"]}
    schema = make_schema(columns, {"ab": ["A", "B"], "bc": ["B", "C"], "b": ["B"]})
    counts = {"N": n, "ab.0.0": 1, "bc.0.0": 1} | ({"b.0": 1} if third else {})
    return make_release(schema, "toy", counts)
