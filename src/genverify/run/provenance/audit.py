"""The audit: from results through every job record to the raw data; whatever is not as recorded is an error."""

import time
from collections import Counter
from collections.abc import Generator, Iterable, Iterator
from pathlib import Path

from genverify.run.jobs import git_state
from genverify.run.provenance.chain import Chain, find_results, walk
from genverify.run.provenance.checks import Checks, digest_files, files_of, read_listed
from genverify.run.provenance.collected import check_collection, collection_of
from genverify.run.provenance.installed import differing, in_words, read_lock
from genverify.run.provenance.layout import Layout
from genverify.run.provenance.published import CHAIN, Summary, summarise
from genverify.run.provenance.recheck import check_proofs, jobs_with_proofs
from genverify.run.provenance.records import AuditError, Records, find_records, reading_tables
from genverify.run.provenance.rules import unchecked
from genverify.run.provenance.stages import read_stages
from genverify.run.provenance.tree import git_in_words, tree, versions
from genverify.run.registry import ProofKind
from genverify.run.settings import Config


def audit(layout: Layout, config: Config, asked: Iterable[str] = (), proofs: bool = True) -> Generator[str, None, Summary]:
    """
    The lines of the audit: the chain as a tree, then what was checked. AuditError names the first file that differs.

    Returns the chain in the form that can be published.
    """
    started = time.monotonic()
    records = find_records(layout.made)
    results = find_results(asked, layout.shown)
    if not results:
        raise AuditError(f"nothing to audit: no file in {', '.join(map(str, layout.shown))}. Run Snakemake first.")
    chain, listed = walk(results, records), read_listed(layout.sources)
    yield from tree(chain, listed)
    yield from versions(chain)
    lock = read_lock(layout.lock)
    yield in_words(differing(lock), layout.lock)
    yield f"now: {git_in_words(git_state())}"
    now = digest_files(files_of(chain, layout))
    checks = Checks(layout, config, records, read_stages(layout.stages), listed, now, lock)
    open_ = [name for record in chain.jobs for name in checks.check(record)]
    yield from _not_compared(chain, checks, open_)
    found = Counter[str]()
    if proofs:
        found, kinds = _check_proofs(chain, records)
        yield _proofs_in_words(found, kinds)
    summary = summarise(chain, now, found if proofs else None)
    yield f"chain {summary[CHAIN]} (publish it, and anybody can see whether one of these files was changed later)"
    files = sum(not Path(path).is_dir() for path in now)
    named = "1 result" if len(results) == 1 else f"{len(results)} results"
    yield f"{named}, {files} files, all accounted for ({time.monotonic() - started:.1f} s)"
    return summary


def _not_compared(chain: Chain, checks: Checks, inputs: Iterable[str]) -> Iterator[str]:
    """What the audit could not hold against anything but the record itself."""
    others = {f"{record.rule}.{name}" for record in chain.jobs for name in unchecked(record, checks.sections)}
    if others:
        yield f"parameters that were not compared with config.yaml: {', '.join(sorted(others))}"
    if inputs:
        yield f"inputs named by a function, whose paths were not compared: {', '.join(sorted(set(inputs)))}"


def _proofs_in_words(found: Counter[str], kinds: Iterable[ProofKind]) -> str:
    said = [(kind.words.format_map(found), kind.unproved) for kind in kinds]
    if not said:
        return "proofs: none in this chain"
    without = [f"; {words.format(found[name])}" for _, resting in said for name, words in resting.items() if found[name]]
    return f"proofs: {'; '.join(words for words, _ in said)}: all right{''.join(without)}"


def _check_proofs(chain: Chain, records: Records) -> tuple[Counter[str], list[ProofKind]]:
    """The proofs of every job, and every table put together from batches: what is right, and the kinds of proofs."""
    jobs = jobs_with_proofs(chain.jobs, records)
    found = dict(zip(jobs, check_proofs(list(jobs.values())), strict=True))
    for record in chain.jobs:
        collection = collection_of(record)
        if collection is not None:
            read = [found[path] for path in chain.upstream[record.path] if path in found]
            proven = {block: digest for one in read for block, digest in one.claims.items()}
            with reading_tables(collection.claims):
                check_collection(collection, proven, read[0].names if read else ())
    kinds = {job.kind.check: job.kind for job in jobs.values()}
    return sum((one.counts for one in found.values()), Counter[str]()), [kinds[check] for check in sorted(kinds)]
