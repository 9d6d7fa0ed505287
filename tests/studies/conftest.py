"""What the tests of the papers share."""

import matplotlib.pyplot as plt
import pytest


@pytest.fixture(autouse=True)
def no_open_figures() -> object:
    yield
    plt.close("all")
