"""The page that works offline, opened from its file, and what tests do on it."""

import base64
import json
from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

import numpy as np

from browsers import Visit
from genverify.disclosure.disclose_command import PAGE

READ = """async (asked) => {
  const { files, words } = JSON.parse(asked);
  const given = files.map(({ name, bytes }) => ({ name, bytes: Uint8Array.from(atob(bytes), (own) => own.charCodeAt(0)) }));
  try { return JSON.stringify(await genverify.reader({ ask: "read", files: given, words })); }
  catch (error) { return JSON.stringify({ problem: error.message }); }
}"""


class PageVisit(Visit):
    """The page, with what people do on it."""

    def __init__(self, browser: Any, **context: Any) -> None:
        super().__init__(browser, **context)
        self.page.goto(PAGE.as_uri())
        self.page.wait_for_function("() => genverify.started !== null", timeout=60_000)

    def ask(self, code: str, asked: Any) -> Any:
        """What code of the page makes of something; as text, because the browser's own conversion of large lists is slow."""
        return json.loads(self.page.evaluate(code, json.dumps(asked)))

    def read(self, files: Mapping[str, bytes], words: Sequence[str] = ()) -> dict[str, Any]:
        """How the page reads files as told by the words of a command line: the reading, or a problem."""
        given = [{"name": name, "bytes": base64.b64encode(data).decode()} for name, data in files.items()]
        found: dict[str, Any] = self.ask(READ, {"files": given, "words": list(words)})
        return found

    def settled(self) -> None:
        """Wait until the page has read what it was given."""
        self.page.wait_for_function("() => document.getElementById('reads').textContent === ''")

    def fill(self, text: str) -> None:
        self.page.fill("#text", text)
        self.settled()

    def mean(self, symbol: str, meaning: str) -> None:
        """Say what a symbol means."""
        self.page.select_option(f"[id='symbol {symbol}']", meaning)
        self.settled()

    def click(self, head: str, choice: str) -> None:
        """Click the head of a column (a letter) or a row (a number), and a choice of its menu."""
        self.page.locator(f"xpath=//table[@class='sheet']//th//button[b='{head}']").first.click()
        self.page.click(f"#menu button:has-text('{choice}')")
        self.settled()

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
