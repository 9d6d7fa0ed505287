"""
Snakemake for the many short runs of the tests: one process imports it and its libraries, and forks for every run.

`python warm_snakemake.py FOLDER WORDS` is one run alone, for tests that kill it with all its jobs: these are forked too, by
a process of the same group that waits in FOLDER. What is sent to Slurm starts cold.
"""

import atexit
import gc
import json
import marshal
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import warm_job


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
    folder = Path(tempfile.mkdtemp())
    _warm(folder)
    _keep_stages(folder / "stages")
    answers = os.fdopen(os.dup(1), "w")
    for line in sys.stdin:
        gc.freeze()  # what stands here lives as long as every child: no collection looks at it again
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


def _warm(folder: Path) -> None:
    """Import what every run and every job imports, but nothing of the repository, since a copy has its own; serve jobs."""
    os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}  # as Snakemake tells its jobs
    import smart_open  # noqa: F401
    import snakemake.cli
    import snakemake.profiles
    import snakemake.storage

    warm_job.import_libraries()
    snakemake.cli.get_argument_parser()  # collects the plugins
    parent, address = os.getpid(), folder / "jobs"
    if os.fork() == 0:
        for stream in (0, 1):
            os.dup2(os.open(os.devnull, os.O_RDWR), stream)
        warm_job.serve(str(address), parent)
        os._exit(0)
    while not address.exists():
        time.sleep(0.01)
    # what Snakemake takes for Python hands jobs over
    sys.executable = f"{sys.executable} -I -S {warm_job.__file__} {address}"


def _keep_stages(known: Path) -> None:
    """
    Let Snakemake translate a stage file once, and not in every run: the answer is kept by the path, the whole text and the
    number of rules before it, all that it depends on.
    """
    from snakemake import parser, workflow

    def parse(path: Any, flow: Any, linemap: dict[int, int], rulecount: int = 0) -> tuple[str, int]:
        where = path.get_path_or_uri(secret_free=True)
        with flow.sourcecache.open(path) as file:
            asked = sha256(json.dumps([where, file.read(), rulecount]).encode()).hexdigest()
        kept = known / asked
        if not kept.exists():
            lines: dict[int, int] = {}
            answer = parser.parse(path, flow, lines, rulecount=rulecount)
            known.mkdir(exist_ok=True)
            kept.with_suffix(f".{os.getpid()}").write_bytes(marshal.dumps((answer, lines)))
            kept.with_suffix(f".{os.getpid()}").rename(kept)
        (code, rules), lines = marshal.loads(kept.read_bytes())
        linemap |= lines
        return code, rules

    workflow.parse = parse


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


def _alone(folder: Path, words: list[str]) -> None:
    from snakemake.cli import main

    _warm(folder)
    sys.path[0] = os.getcwd()
    main(words)


if __name__ == "__main__":
    _alone(Path(sys.argv[1]), sys.argv[2:]) if sys.argv[1:] else _serve()
