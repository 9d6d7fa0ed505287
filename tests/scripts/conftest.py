"""What the tests of the scripts share."""

from collections.abc import Iterator

import pytest

from cheaper import collect_rarely, compile_plainly, letters_only

collect_rarely()
compile_plainly()


@pytest.fixture(scope="module", autouse=True)
def small_fonts() -> Iterator[None]:
    with letters_only():
        yield
