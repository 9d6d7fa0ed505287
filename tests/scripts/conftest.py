"""What the tests of the scripts share."""

from collections.abc import Iterator

import pytest

from cheaper import compile_plainly, letters_only

compile_plainly()


@pytest.fixture(scope="module", autouse=True)
def small_fonts() -> Iterator[None]:
    with letters_only():
        yield
