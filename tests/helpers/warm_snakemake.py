"""
Snakemake for the many short runs of the tests: one process imports it and its libraries, and forks for every run.

A start of its own costs a second more; tests of what happens to a whole process (killed, sent to Slurm) use one.
"""

import atexit
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any


def run(home: Path, words: tuple[str, ...], environment: Mapping[str, str]) -> tuple[int, str]:
    """The exit code of `snakemake` in a folder with these words, and what it printed."""
    server = _server()
    assert server.stdin is not None
    assert server.stdout is not None
    request = {"home": str(home), "words": words, "environment": dict(environment)}
    server.stdin.write(json.dumps(request) + "\n")
    server.stdin.flush()
    answer = server.stdout.readline()
    assert answer, "the process that imports Snakemake ended"
    code, said = json.loads(answer)
    return int(code), str(said)


@cache
def _server() -> "subprocess.Popen[str]":
    environment = {
        name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE")
    }
    words = [sys.executable, __file__]
    server = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
    atexit.register(_stop, server)
    return server


def _stop(server: "subprocess.Popen[str]") -> None:
    for stream in (server.stdin, server.stdout):
        if stream is not None:
            stream.close()
    server.wait()


def _serve() -> None:
    """Answer requests, one a line, until there are no more."""
    import pandas  # noqa: F401  (what every run imports, but nothing of the repository: a copy has its own)
    import pydantic  # noqa: F401
    import scipy.sparse  # noqa: F401
    import snakemake.cli  # noqa: F401

    answers = os.fdopen(os.dup(1), "w")
    _warm_jobs()
    for line in sys.stdin:
        reading, writing = os.pipe()
        if (child := os.fork()) == 0:
            os.close(reading)
            os._exit(_child(json.loads(line), writing))
        os.close(writing)
        with os.fdopen(reading, errors="replace") as output:
            said = output.read()
        _, status = os.waitpid(child, 0)
        answers.write(json.dumps([os.waitstatus_to_exitcode(status), said]) + "\n")
        answers.flush()


def _warm_jobs() -> None:
    """Let jobs be run by a process that has imported their libraries: what Snakemake takes for Python hands them over."""
    helper, address = Path(__file__).with_name("warm_job.py"), str(Path(tempfile.mkdtemp()) / "jobs")
    one_thread = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}  # as Snakemake tells its jobs
    words = [sys.executable, str(helper), "--serve", address, str(os.getpid())]
    subprocess.Popen(words, env={**os.environ, **one_thread}, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    while not Path(address).exists():
        time.sleep(0.01)
    sys.executable = f"{sys.executable} -I -S {helper} {address}"


def _child(request: dict[str, Any], output: int) -> int:
    """Snakemake as the command line starts it; its exit code."""
    from snakemake.cli import main

    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.chdir(request["home"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.dont_write_bytecode = "PYTHONDONTWRITEBYTECODE" in os.environ
    sys.path[:1] = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    try:
        main(list(request["words"]))
        code = 0
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    return code


if __name__ == "__main__":
    _serve()
