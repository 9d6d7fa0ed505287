"""What random rounding to a base may have printed."""

from studies.disclosure.area_tables import rounded_ends


def test_a_count_may_be_printed_as_the_multiples_around_it() -> None:
    assert (rounded_ends(0, 3), rounded_ends(6, 3)) == ((0, 2), (4, 8))
