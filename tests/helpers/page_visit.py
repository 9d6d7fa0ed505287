"""The page that works offline, opened from its file, and what tests do on it."""

import json
from copy import deepcopy
from typing import Any

import numpy as np

from browsers import Visit
from genverify.disclose.disclose_command import PAGE


class PageVisit(Visit):
    """The page, with what people do on it."""

    def __init__(self, browser: Any, **context: Any) -> None:
        super().__init__(browser, **context)
        self.page.goto(PAGE.as_uri())

    def ask(self, code: str, asked: Any) -> Any:
        """What code of the page makes of something; as text, because the browser's own conversion of large lists is slow."""
        return json.loads(self.page.evaluate(code, json.dumps(asked)))

    def fill(self, text: str) -> None:
        self.page.fill("#text", text)

    def run(self) -> str:
        self.page.click("#run")
        self.page.wait_for_selector("#answer")
        return str(self.page.inner_text("#report"))

    @staticmethod
    def large() -> str:
        """A table of 1,681 cells, more than half of them suppressed: a search of seconds."""
        rng = np.random.default_rng(1)
        rows = [[f"r{row}", *("*" if rng.random() < 0.6 else "5" for _ in range(40)), "200"] for row in range(40)]
        heads = ["g", *(f"c{at}" for at in range(40)), "Total"]
        return "\n".join(",".join(row) for row in [heads, *rows, ["Total", *["200"] * 40, "8000"]])

    def failed(self) -> str:
        self.page.wait_for_selector("#failed", state="visible")
        return str(self.page.inner_text("#failed"))


def better(statements: list[Any], at: int) -> list[Any]:
    """The statements with one of them saying more by one."""
    forged = deepcopy(statements)
    forged[at]["value"] += -1 if forged[at]["side"] == "upper" else 1
    return forged
