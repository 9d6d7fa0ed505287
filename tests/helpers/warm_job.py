"""
Jobs of the tests' Snakemake runs without the second that every one of them would need for imports: one process imports the
libraries (nothing of the repository: a copy has its own) and forks for every job.

`python -I -S warm_job.py SOCKET SCRIPT` hands a script over, with its folder, environment and streams, and ends as it does.
"""

import array
import json
import os
import socket
import sys
from importlib import import_module
from pathlib import Path
from types import FrameType

LISTENING = 64
LIBRARIES = (
    "highspy", "matplotlib.backends.backend_agg", "matplotlib.backends.backend_pdf", "matplotlib.pyplot", "pandas",
    "pyarrow.dataset", "pyarrow.parquet", "pydantic", "scipy.sparse", "snakemake.iocontainers", "snakemake.logging", "yaml",
)  # fmt: skip


def hand_over(address: str, words: list[str]) -> int:
    """Let the waiting process run a script; its exit code."""
    request = {"words": words, "home": os.getcwd(), "environment": dict(os.environ)}
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(address)
        streams = array.array("i", [0, 1, 2])
        server.sendmsg([b"."], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, streams)])
        server.sendall(json.dumps(request).encode() + b"\n")
        answer = server.makefile().readline()
    return int(answer) if answer else 1


def serve(address: str, parent: int) -> None:
    """Run scripts, each in a process of its own, as long as the process lives that started this one."""
    import gc
    import shutil
    import signal

    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen(LISTENING)
        gc.freeze()  # what is imported here lives as long as every child: no collection looks at it again
        signal.signal(signal.SIGCHLD, _reap)
        listener.settimeout(1.0)
        while os.getppid() == parent:
            try:
                client, _ = listener.accept()
            except TimeoutError:
                continue
            if os.fork() == 0:
                listener.close()
                client.setblocking(True)
                os._exit(_attend(client))
            client.close()
    shutil.rmtree(Path(address).parent, ignore_errors=True)


def _reap(_number: int, _frame: FrameType | None) -> None:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def import_libraries() -> None:
    """Those of most jobs."""
    for name in LIBRARIES:
        import_module(name)


def _attend(client: socket.socket) -> int:
    """Run the script of one client in a child, and tell the client how it ended."""
    import signal

    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    _, streams, _, _ = socket.recv_fds(client, 1, 3)
    request = json.loads(client.makefile().readline())
    if (child := os.fork()) == 0:
        client.close()
        os._exit(_run(request, streams))
    _, status = os.waitpid(child, 0)
    client.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())
    return 0


def _run(request: dict[str, object], streams: list[int]) -> int:
    """The script as Python would run it; its exit code."""
    import runpy
    import traceback

    for place, stream in enumerate(streams):
        os.dup2(stream, place)
        os.close(stream)
    os.chdir(str(request["home"]))
    os.environ.clear()
    os.environ.update(dict(request["environment"]))  # type: ignore[call-overload]
    sys.argv = list(request["words"])  # type: ignore[call-overload]
    sys.dont_write_bytecode = "PYTHONDONTWRITEBYTECODE" in os.environ
    given = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    sys.path[:1] = [str(Path(sys.argv[0]).parent), *given]
    code = 0
    try:
        runpy.run_path(sys.argv[0], run_name="__main__")
    except SystemExit as ended:
        if isinstance(ended.code, str):
            print(ended.code, file=sys.stderr)
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        traceback.print_exc()
        code = 1
    for written in (sys.stdout, sys.stderr):
        written.flush()
    return code


if __name__ == "__main__":
    sys.exit(hand_over(sys.argv[1], sys.argv[2:]))
