"""Tables asked about as a user asks: the exit code, the answer as JSON, and what was said; within CPU seconds."""

import json
import signal
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from types import FrameType
from typing import Any

from genverify.cli import main


class OutOfTimeError(BaseException):
    """A case used up its CPU seconds: not an Exception, so that no reader takes it for a broken file."""


@dataclass(frozen=True)
class Reply:
    """What came out of one question; without an answer the tables were refused."""

    code: int
    text: str
    answer: dict[str, Any] = field(default_factory=dict)
    kind: str = ""

    @property
    def refused(self) -> bool:
        return not self.answer

    def says(self, cell: str, lower: int, upper: int | None) -> bool:
        """Whether a cell is reported with this range."""
        return any(
            (one["lower"], one["upper"]) == (lower, upper) for one in self.answer["unsafe_cells"] if one["cell"] == cell
        )


@contextmanager
def cpu_seconds(seconds: float) -> Iterator[None]:
    """Stop what runs longer than this, by its own CPU time: other programs on the machine do not count."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise OutOfTimeError(f"more than {seconds} CPU seconds")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def ask(*words: object, seconds: float = 10.0, folder: Path | None = None) -> Reply:
    """`genverify disclose` with --json and --fail-on exact; errors of the command are its words."""
    out, err = StringIO(), StringIO()
    own = ["--out", str(folder)] if folder else []
    with cpu_seconds(seconds), redirect_stdout(out), redirect_stderr(err):
        try:
            code = main(["disclose", *map(str, words), "--json", "--fail-on", "exact", *own])
        except SystemExit as error:  # argparse refuses an option
            code = int(str(error.code or 0))
    found = json.loads(out.getvalue() or "{}")
    if "error" in found:
        return Reply(code, str(found["error"]["message"]), kind=str(found["error"]["kind"]))
    return Reply(code, out.getvalue() + err.getvalue(), found)
