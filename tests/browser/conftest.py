"""The browser that all pages are opened in; without one, their tests are skipped."""

from collections.abc import Iterator
from typing import Any

import pytest

from browsers import ARGS, CHROMIUM, NO_BROWSER
from page_visit import PageVisit


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    sync_api = pytest.importorskip("playwright.sync_api", reason="the package playwright is not installed")
    if CHROMIUM is None:
        pytest.skip(NO_BROWSER)
    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGS)
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def opened(browser: Any) -> Iterator[PageVisit]:
    """The page, opened once for the tests of a file that only ask it."""
    found = PageVisit(browser)
    yield found
    found.end()
