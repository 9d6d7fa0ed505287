"""The audit: from results through every job record to the raw data; whatever is not as recorded is an error."""

import json
import time
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path

from genverify.housing.check import check_detection
from genverify.housing.verdict import FLAGGED
from genverify.jobs import git_state
from genverify.provenance.chain import Chain, find_results, walk
from genverify.provenance.checks import Checks, digest_files, files_of, read_listed
from genverify.provenance.layout import Layout
from genverify.provenance.proofs import batches_of, check_proofs, detections_of
from genverify.provenance.records import AuditError, find_records
from genverify.provenance.rules import CODE, read_sections, unchecked
from genverify.provenance.tree import tree, versions
from genverify.settings import Config


def audit(layout: Layout, config: Config, asked: Iterable[str] = (), proofs: bool = True) -> Iterator[str]:
    """The lines of the audit: the chain as a tree, then what was checked. AuditError names the first file that differs."""
    started = time.monotonic()
    records = find_records(layout.made)
    results = find_results(asked, layout.shown)
    if not results:
        raise AuditError(f"nothing to audit: no file in {', '.join(map(str, layout.shown))}. Run Snakemake first.")
    chain, listed = walk(results, records), read_listed(layout.sources)
    yield from tree(chain, listed)
    yield from versions(chain)
    yield _git_now()
    now = digest_files(files_of(chain, layout.lock))
    checks = Checks(layout, config, records, read_sections(layout.stages), listed, now)
    for record in chain.jobs:
        checks.check(record)
    yield from _unlisted(chain, checks)
    if proofs:
        yield _proofs(chain)
    yield f"chain {chain_digest(chain, now)} (publish it, and anybody can see whether one of these files was changed later)"
    files = sum(not Path(path).is_dir() for path in now)
    named = "1 result" if len(results) == 1 else f"{len(results)} results"
    yield f"{named}, {files} files, all accounted for ({time.monotonic() - started:.1f} s)"


def _git_now() -> str:
    git = git_state()
    if git["commit"] is None:
        return "now: not in a git checkout"
    return f"now: git {git['commit'][:10]}, {'files differ from it' if git['dirty'] else 'clean'}"


def _unlisted(chain: Chain, checks: Checks) -> Iterator[str]:
    """What the audit could not hold against anything but the record itself."""
    others = {f"{record.rule}.{name}" for record in chain.jobs for name in unchecked(record, checks.sections)}
    if others:
        yield f"parameters that were not compared with config.yaml: {', '.join(sorted(others))}"


def _proofs(chain: Chain) -> str:
    batches, detections = batches_of(chain.jobs), detections_of(chain.jobs)
    if not batches and not detections:
        return "proofs: none in this chain"
    said = []
    if batches:
        found = check_proofs(batches)
        said.append(f"{found['blocks']} blocks, {found['claims']} claims, {found['proofs']} proofs")
    if detections:
        flagged = sum(counts[verdict] for counts in map(check_detection, detections) for verdict in FLAGGED)
        said.append(f"{flagged} flagged blocks of {len(detections)} conditions")
    return f"proofs: {'; '.join(said)}: all right"


def chain_digest(chain: Chain, now: Mapping[str, str | None]) -> str:
    """One digest over every file and every setting of a chain, but no time and no place: who runs it again gets the same."""
    jobs = [
        [job.rule, job.wildcards, {name: value for name, value in job.params.items() if name != CODE}] for job in chain.jobs
    ]
    told = [sorted(now.items()), sorted(json.dumps(job, sort_keys=True) for job in jobs)]
    return sha256(json.dumps(told).encode()).hexdigest()
