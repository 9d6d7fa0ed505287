"""What the tests of the papers share."""

from collections.abc import Iterator

import matplotlib.pyplot as plt
import pytest

from cheaper import compile_plainly, letters_only

compile_plainly()


@pytest.fixture(scope="module", autouse=True)
def small_fonts() -> Iterator[None]:
    with letters_only():
        yield


@pytest.fixture(autouse=True)
def no_open_figures() -> object:
    yield
    plt.close("all")
