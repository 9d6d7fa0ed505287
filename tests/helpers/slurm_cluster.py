"""
A real Slurm on this one machine, for tests: `python tests/helpers/slurm_cluster.py start` and `... stop`. It must be run as
root.

Slurm's job-step plugin drops the variable that would name another file, so the configuration stands at its default place; a
file that somebody else put there is left alone, and nothing is started.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

CONFIG = Path("/etc/slurm/slurm.conf")
HOME = Path("/var/tmp/genverify-slurm")
MUNGE = HOME / "munge"
MARK = "# genverify: a Slurm for tests"
PROGRAMS = ("munged", "munge", "setpriv", "slurmctld", "slurmd", "sbatch", "srun", "squeue", "sinfo")
MOST_MB = 8192
SETTINGS = """{mark}
ClusterName=genverify
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
StateSaveLocation={home}/state
SlurmdSpoolDir={home}/spool
SlurmctldPidFile={home}/slurmctld.pid
SlurmdPidFile={home}/slurmd.pid
SlurmctldLogFile={home}/slurmctld.log
SlurmdLogFile={home}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
ReturnToService=2
MinJobAge=86400
AccountingStorageType=accounting_storage/none
# without control groups memory is watched: a job over its limit is killed at the next look
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
JobAcctGatherParams=OverMemoryKill
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
DefMemPerCPU=512
NodeName={host} NodeAddr=127.0.0.1 CPUs={cores} RealMemory={memory} State=UNKNOWN
PartitionName=main Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def missing() -> str | None:
    """Why a Slurm cannot be started here, or nothing."""
    absent = [name for name in PROGRAMS if shutil.which(name) is None]
    if absent:
        return f"no {absent[0]} here: apt-get install slurmctld slurmd slurm-client munge"
    if os.geteuid() != 0:
        return "a Slurm for tests is started by root only"
    if CONFIG.exists() and MARK not in CONFIG.read_text():
        return f"{CONFIG} is somebody else's"
    return None


def start() -> None:
    """Munge, controller and node, ready for jobs."""
    stop()
    for folder in (HOME / "state", HOME / "spool", MUNGE):
        folder.mkdir(parents=True)
    _start_munge()
    host = os.uname().nodename.split(".")[0]
    there = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2**20
    settings = {"host": host, "home": HOME, "cores": os.cpu_count(), "memory": min(MOST_MB, int(0.9 * there))}
    CONFIG.write_text(SETTINGS.format(mark=MARK, **settings))
    for program in ("slurmctld", "slurmd"):
        subprocess.run([program], check=True, capture_output=True)
    _wait_for("idle", 30)


def _start_munge() -> None:
    """The service that says who sends a job; one that is already there is used, and not ended."""
    if subprocess.run(["munge", "-n"], capture_output=True).returncode == 0:
        return
    socket = Path("/run/munge")
    socket.mkdir(exist_ok=True)
    for folder in (socket, MUNGE):
        shutil.chown(folder, "munge", "munge")
    files = {"pid": "munged.pid", "log": "munged.log", "seed": "munged.seed"}
    words = ["munged", "--force", *(f"--{kind}-file={MUNGE / name}" for kind, name in files.items())]
    subprocess.run(["setpriv", "--reuid=munge", "--regid=munge", "--clear-groups", *words], check=True, capture_output=True)


def _wait_for(state: str, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    state_now = ""
    while time.monotonic() < deadline:
        done = subprocess.run(["sinfo", "-h", "-o", "%t"], capture_output=True, text=True)
        state_now = done.stdout.strip() or done.stderr.strip()
        if state_now == state:
            return
        time.sleep(0.2)
    raise RuntimeError(f"the node is not {state} but {state_now!r}: see {HOME}/slurmctld.log and slurmd.log")


def stop() -> None:
    """End the daemons that `start` started, and take their files away."""
    for path in (HOME / "slurmd.pid", HOME / "slurmctld.pid", MUNGE / "munged.pid"):
        if path.exists():
            _end(int(path.read_text()))
    if CONFIG.exists() and MARK in CONFIG.read_text():
        CONFIG.unlink()
    shutil.rmtree(HOME, ignore_errors=True)


def _end(pid: int) -> None:
    for wanted in (signal.SIGTERM, signal.SIGKILL):
        for _ in range(50):
            try:
                os.kill(pid, wanted)
            except ProcessLookupError:
                return
            time.sleep(0.1)


if __name__ == "__main__":
    reason = missing()
    if reason:
        sys.exit(reason)
    {"start": start, "stop": stop}[sys.argv[1]]()
