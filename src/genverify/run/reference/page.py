"""The page of a reference set: every figure and table of the papers with its caption and its target, then the digests."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from genverify.run.reference.listing import FIGURE, Listing
from genverify.run.reference.manifest import Entry
from genverify.show.markdown import bullets, markdown_table

INTRODUCTION = """\
# The papers, reproduced: figures and tables of the default study

Made by `snakemake reference` from the results of the default settings; nothing here is written by hand.
**The data are synthetic** (the built-in country: no real household or person is in it), but for the counts that the
paper on cell bounds prints. Pictures are smaller than those that a run makes. [manifest.json](manifest.json) tells what
each file was made from; `genverify reference` says whether the set is still current. Where each result is computed:
[map.md](../map.md)."""
DIGESTS = """\
## Digests

SHA-256 of each source as the study wrote it; settings and code: one digest each over all jobs from the raw data to the
result, as in manifest.json, which also has the digests of what the last job read."""


def reference_page(
    listing: Listing, entries: Mapping[str, Entry], captions: Mapping[str, str], absent: Mapping[str, str]
) -> str:
    """The page as Markdown; `captions` by target."""
    parts = [INTRODUCTION]
    for paper in listing.papers.values():
        parts.append(f"## {paper.title}")
        for target in paper.results:
            shown = target in entries
            parts += _shown(target, entries[target], captions[target]) if shown else [f"`{target}`: {absent[target]}."]
    parts += ["## Left out", bullets(f"`{target}`: {reason}" for target, reason in listing.absent.items())]
    parts += [DIGESTS, markdown_table(["target", "source", "SHA-256", "settings", "code"], _digests(entries), left=5)]
    return "\n\n".join(parts) + "\n"


def _shown(target: str, entry: Entry, caption: str) -> Iterator[str]:
    """A figure as an image, a table as links to it; below it the caption, the data and the target."""
    name, data = Path(target).stem, data_in_words(entry["seed"])
    yield f"### {name}"
    if Path(target).suffix == FIGURE:
        yield f"![{name}, {data}]({name}.png)"
    else:
        yield f"[{name}.md]({name}.md), [{name}.csv]({name}.csv)"
    yield f"{caption} *{data.capitalize()}.* `snakemake {target}`"


def data_in_words(seed: int | None) -> str:
    """
    Which data a result shows: whatever depends on a seed was drawn at random.

    >>> data_in_words(1), data_in_words(None)
    ('synthetic data, seed 1', 'no microdata: nothing drawn at random')
    """
    return "no microdata: nothing drawn at random" if seed is None else f"synthetic data, seed {seed}"


def _digests(entries: Mapping[str, Entry]) -> Iterator[list[str]]:
    for target, entry in entries.items():
        for path, value in sorted(entry["sources"].items()):
            yield [f"`{target}`", f"`{path}`", f"`{value}`", f"`{entry['settings']}`", f"`{entry['code']}`"]
