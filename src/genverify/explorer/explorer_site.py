"""The explorer: what its page shows of a study and of each block, built from results some batches at a time."""

import json
import zlib
from base64 import b64encode
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from html import escape
from importlib.resources import files
from itertools import accumulate, count, groupby, islice
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pandas as pd

from genverify.attack import explain
from genverify.checker.certificate import read_lines
from genverify.checker.stored import CheckedBlock, checked_blocks
from genverify.export.proof_programs import shortest
from genverify.model.arrays import Floats, Ints
from genverify.model.claims import ANY
from genverify.model.domain import Rule, read_domain
from genverify.model.errors import MALFORMED, DataError, refusing
from genverify.model.files import ONE_WORD, data_label, file_name, read_yaml
from genverify.model.query import table_titles
from genverify.model.release import TOTAL, Release, Schema
from genverify.model.settings import Explorer
from genverify.model.tablefiles import BLOCKS_AT_ONCE, FEW_BLOCKS_AT_ONCE, read_blocks, split_rows

# The files of the explorer: one page with its style and scripts inside, and pieces of data that it loads as scripts.

POLICY = (
    "default-src 'none'; script-src 'self' file: {scripts}; style-src {styles}; "
    "img-src data:; base-uri 'none'; form-action 'none'"
)
# named in full, so that the digest of a job's code covers them
TEMPLATE = "explorer/page/index.html"
STYLE = "explorer/page/explorer.css"
SCRIPTS = ("explorer/page/1-data.js", "explorer/page/2-words.js", "explorer/page/3-proof.js", "explorer/page/4-side.js",
           "explorer/page/5-likely.js", "explorer/page/6-block.js", "explorer/page/7-main.js")  # fmt: skip


MOST_INSIDE = 20_000_000  # characters of data in one file: what a browser opens from a report within seconds


def page_text(title: str, pieces: Path | None = None) -> str:
    """The page from the files of page/: template, style sheet, scripts in their order; with its pieces in it, all in one."""
    template, style, first, *rest = (files("genverify").joinpath(name).read_text() for name in (TEMPLATE, STYLE, *SCRIPTS))
    inside = [path.read_text() for path in sorted(pieces.glob("*.js")) if "vipr-" not in path.name] if pieces else []
    if pieces and sum(map(len, inside)) > MOST_INSIDE:
        inside = [(pieces / "study.js").read_text()]
    return render_page(template, style, [first, *("".join(inside).replace("</", "<\\/") for _ in inside[:1]), *rest], title)


def render_page(template: str, style: str, scripts: Sequence[str], title: str) -> str:
    """The page: nothing but its own style, its own scripts and pieces from beside it can ever be loaded or run."""
    inside = "".join(f"<script>{script}</script>\n" for script in scripts)
    policy = POLICY.format(scripts=" ".join(map(_source, scripts)), styles=_source(style))
    parts = {"title": escape(title), "policy": policy, "style": f"<style>{style}</style>", "scripts": inside}
    for name, text in parts.items():
        template = template.replace(f"{{{{ {name} }}}}", text)
    return template


def _source(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _write_piece(folder: Path, name: str, content: Any) -> None:
    """A piece of data as a script that hands itself over; the same content gives the same bytes."""
    (folder / f"{file_name(name)}.js").write_text(f"genverify.take({json.dumps(name)},{_plain(content)});\n")


def _plain(content: Any) -> str:
    return json.dumps(content, separators=(",", ":"), ensure_ascii=True)


def read_places(path: Path) -> Mapping[str, Any]:
    """Where each state stands on the map of tiles."""
    with refusing(MALFORMED, f"{path}: not a file of places", "see data/census/places.yaml for the form"):
        return {str(state): {"short": str(tile["short"]), "name": str(tile["name"]),
                             "at": [int(tile["row"]), int(tile["column"])]}
                for state, tile in read_yaml(path)["places"].items()}  # fmt: skip


def in_pieces(entries: Iterable[tuple[str, Any]], size: int) -> Iterator[dict[str, Any]]:
    left = iter(entries)
    while piece := dict(islice(left, size)):
        yield piece


@dataclass(frozen=True)
class Words:
    """The names of the data and the variant, of places and tables, and the phrases of claims."""

    data: str
    synthetic: bool
    variant: str
    places: Mapping[str, Any]
    titles: Mapping[str, str]
    phrases: explain.Phrases | None


def read_words(settings: Explorer, manifest: Path, tables: Path, domain: Path) -> Words:
    """The words that the settings name, and the name of the data."""
    phrases = explain.read_phrases(Path(settings.phrases), read_domain(domain).domain) if settings.phrases else None
    titles, tiles = table_titles(read_yaml(tables)), read_places(Path(settings.places))
    synthetic = bool(json.loads(manifest.read_text())["source"] == "synthetic")
    return Words(data_label(manifest), synthetic, settings.variant, tiles, titles, phrases)


# Numbers as short text: claims and probabilities by the hundred thousand, small enough for a page to load.

ALPHABET = "".join(chr(code) for code in range(35, 127) if chr(code) != "\\")  # characters that JSON writes as they are
STEPS = 200  # levels to a power of ten: two characters then reach down to 1e-41, within 0.6 % (`levels`)
NEVER = len(ALPHABET) ** 2 - 1  # a probability of 0, and the last of the levels that two characters can say


def pack(numbers: Sequence[Ints], widths: Sequence[int]) -> str:
    """Rows of whole numbers from 0, each column in its number of characters."""
    base = len(ALPHABET)
    letters = np.frombuffer(ALPHABET.encode(), dtype=np.uint8)
    indices = [column // base**power % base for column, width in zip(numbers, widths, strict=True)
              for power in range(width - 1, -1, -1)]  # fmt: skip
    return str(letters[np.column_stack(indices)].tobytes(), "ascii")


def mask_width(columns: int) -> int:
    """The characters that a set of columns takes."""
    return next(width for width in count(1) if len(ALPHABET) ** width >= 2**columns)


def levels(p: Floats) -> Ints:
    """Probabilities as steps down from 1, two hundred to a power of ten: within 0.6 % of what they were."""
    with np.errstate(divide="ignore"):
        steps = np.rint(-STEPS * np.log10(np.minimum(p, 1.0)))
    return np.where(p > 0, np.minimum(steps, NEVER - 1), NEVER).astype(np.int64)


# The certificates of a block for the page: packed, one piece for each block, loaded only when somebody asks for a file.


def write_certificates(folder: Path, archives: Iterable[Path]) -> dict[str, int]:
    """A piece `vipr-<number>` for each block of some archives; the number of each block, by its name in the archive."""
    number: dict[str, int] = {}
    for path in archives:
        with ZipFile(path) as archive:
            files: dict[str, list[str]] = {}
            for name in archive.namelist():
                block, _, file = name.rpartition("/")
                if block:
                    files.setdefault(block, []).append(file)
            for block, names in files.items():
                number[block] = len(number)
                data = [archive.read(f"{block}/{name}") for name in names]  # far smaller together than each by itself
                packed = b64encode(zlib.compress(b"".join(data), 9)).decode()
                piece = {"names": names, "ends": list(accumulate(map(len, data))), "data": packed}
                _write_piece(folder, f"vipr-{number[block]}", piece)
    return number


# Proofs for the page: the claims that share a proof are one group, laid out once so that it serves them all.

Where = Mapping[str, int]
ALL = -1  # the cell that holds every record, beside the positions of the queries
SUM = 5  # the parts of a plain sum; a split into cases has four


def lay_out_block(block: CheckedBlock) -> dict[str, Any]:
    """The checked proofs of a block, each laid out as plain values in which cells are places in the list of queries."""
    stored = block.proofs
    reasons = explain.Reasons(block.release, stored["lemmas"])
    groups: list[list[Where]] = [[] for _ in stored["proofs"]]
    for claim in stored["statements"]:
        groups[claim["proof"]].append(claim["where"])
    halves = (_halves(reasons, proof, group) for proof, group in zip(stored["proofs"], groups, strict=True))
    return {"block": block.release.block, "proofs": list(halves)}


def _halves(reasons: explain.Reasons, proof: Mapping[str, Any], group: Sequence[Where]) -> list[Any]:
    """At least m match all that the claims of a group say, and at most m even its shortest claims."""
    every = {name: code for where in group for name, code in where.items()}
    lower = explain.lay_out(reasons, proof["lower"], -1, [explain.exactly(every)])
    upper = explain.lay_out(reasons, proof["upper"], +1, shortest([explain.exactly(where) for where in group]))
    return [_proofs_plain(reasons, lower), _proofs_plain(reasons, upper)]


def _proofs_plain(reasons: explain.Reasons, layout: explain.Layout) -> list[Any]:
    """A split into cases; or conclusion, denominator, cells, sides of the cases above, reasons."""
    if isinstance(layout, explain.CaseSplit):
        return [layout.part, layout.at, *(_proofs_plain(reasons, side) for side in (layout.below, layout.above))]
    cells = [part for y, name in layout.cells for part in (y, _place(reasons, name))]
    sides = [[w, int(below)] for w, below in layout.sides]
    because = [_reason(reasons, rule) for rule in layout.because]
    return [list(explain.CONCLUSIONS).index(layout.conclusion), layout.over, cells, sides, because]


def _reason(reasons: explain.Reasons, rule: Rule) -> int | list[int]:
    """A zero cell, or a total that its parts add up to: the total first."""
    if rule.name not in reasons.lemmas:
        return _place(reasons, rule.name)
    lemma = reasons.lemmas[rule.name]
    return [_place(reasons, name) for name in (lemma["universe"], *lemma["cells"])]


def _place(reasons: explain.Reasons, name: str) -> int:
    return ALL if name == TOTAL else reasons.release.schema.position[name]


def check_layout(block: CheckedBlock, laid_out: Sequence[Any], source: Path) -> None:
    """An error unless laid-out proofs add up what the checked ones do, by zeros and totals that are there."""
    reasons = explain.Reasons(block.release, block.proofs["lemmas"], search=False)
    known, because = [_reason(reasons, rule) for rule in reasons.rules], list[Any]()
    bare = [[_bare(half, []) for half in _halves(reasons, proof, [])] for proof in block.proofs["proofs"]]
    given = [[_bare(half, because) for half in halves] for halves in laid_out]
    if given != bare or any(why not in known for why in because):
        raise DataError(
            f"{source}: block {block.release.block}: the proofs laid out here are not those that were checked. Remove the "
            "file and let Snakemake lay the proofs out again."
        )


def _bare(layout: list[Any], because: list[Any]) -> list[Any]:
    """A plain layout without its reasons, which are added to a list: they are last in a sum, a split has none."""
    if len(layout) != SUM:
        return [*layout[:2], *(_bare(side, because) for side in layout[2:])]
    because += layout[4]
    return layout[:4]


# What is not certain but likely: claims of a block with their probability under each prior, beside the verified ones.

PRIORS = ("tract", "state", "nation", "uniform")
LEAST = 0.5  # a guess that is more often wrong than right is no finding: the page lists none
CLOSE = 0.02  # a shorter form that is hardly likelier says nothing new


def _likely_entries(weighed: pd.DataFrame, verified: pd.DataFrame, names: Sequence[str], most: int) -> list[dict[str, Any]]:
    """The likeliest claims under each prior that are not certain: codes, exact or not, intervals (None: not asked)."""
    codes = _codes(weighed, names)
    flagged = weighed["verified"].to_numpy(dtype=bool)
    known = {tuple(row) for row in _codes(verified[verified["m"] == 1], names).tolist()}
    if any((tuple(row) in known) != flag for row, flag in zip(codes.tolist(), flagged, strict=True)):
        raise DataError(
            f"block {weighed['block'].iloc[0]}: claims and probabilities disagree about what is verified. Make both again."
        )
    open_ = weighed[~flagged]
    chosen = np.unique(np.concatenate([_best(codes[~flagged], open_[prior].to_numpy(), most) for prior in PRIORS]))
    rows = zip(open_.iloc[chosen].to_dict("records"), codes[~flagged][chosen].tolist(), strict=True)
    return [{"codes": of_row, "exact": row["numbers"] == "exact", "chance": [_interval(row, prior) for prior in PRIORS]}
            for row, of_row in rows]  # fmt: skip


def _codes(frame: pd.DataFrame, names: Sequence[str]) -> Ints:
    return frame[list(names)].astype("Int64").fillna(ANY).to_numpy(dtype=np.int64)


def _best(codes: Ints, chance: Floats, most: int) -> Ints:
    """The places of the likeliest claims, without shorter forms of one of them that are hardly likelier."""
    asked = np.flatnonzero(chance >= LEAST)
    order = asked[np.lexsort((-chance[asked], -(codes[asked] != ANY).sum(axis=1)))]
    rest: list[int] = []
    for index in order.tolist():
        named = codes[index] != ANY
        longer = [other for other in rest if (codes[other][named] == codes[index][named]).all()]
        if not any(chance[other] >= chance[index] - CLOSE for other in longer):
            rest.append(index)
    best: Ints = np.array(sorted(rest, key=lambda index: -chance[index])[:most], dtype=np.int64)
    return best


def _interval(row: Mapping[Any, Any], prior: str) -> list[float] | None:
    """Rounded, but what is not certain is never rounded up to 1."""
    if pd.isna(row[prior]):
        return None
    return [min(round(float(row[name]), 4), 0.9999) for name in (prior, f"{prior}_low", f"{prior}_high")]


# What the page shows of one block: its published counts, and its verified claims in groups that share a proof.

BLOCK_PRIORS = ("tract", "tract_leave_out", "county", "state", "nation", "uniform")


def _block_entry(release: Release, claims: pd.DataFrame, proofs: Sequence[Any]) -> dict[str, Any]:
    """A block as plain values: N, the counts that are not 0, what is suppressed, the groups of claims."""
    cells = release.cells.tolist()
    ends = ((cell, lo, hi) for cell, lo, hi in zip(cells, release.lo.tolist(), release.hi.tolist(), strict=True) if hi)
    # cells and counts in turn, a range where the count is not exact
    counts = [part for cell, lo, hi in ends for part in (cell, hi if lo == hi else [lo, hi])]
    withheld = sorted(set(range(len(release.schema.queries))).difference(cells))
    return {"n": release.n, "counts": counts, "withheld": withheld, "groups": _groups(release, claims, proofs)}


def _groups(release: Release, claims: pd.DataFrame, proofs: Sequence[Any]) -> list[dict[str, Any]]:
    """Claims about fewest households first, then those that say most; a claim without a proof is a group of its own."""
    names = list(release.schema.domain.names)
    proof = claims["proof"].fillna(-1).to_numpy(dtype=np.int64)
    keys = np.where(proof >= 0, proof, -1 - np.arange(len(claims)))
    codes = claims[names].fillna(ANY).to_numpy(dtype=np.int64)
    m, k, effective = (claims[name].to_numpy(dtype=np.int64) for name in ("m", "k", "effective_k"))
    priors = [levels(claims[prior].to_numpy(dtype=np.float64)) for prior in BLOCK_PRIORS]
    forms = [((codes != ANY) << np.arange(len(names))).sum(axis=1), effective, *priors]
    order = np.lexsort((-effective, -k, keys))
    split = np.split(order, np.flatnonzero(np.diff(keys[order])) + 1) if len(order) else []
    result = sorted(split, key=lambda entry: (m[entry[0]], -k[entry[0]], -effective[entry[0]], keys[entry[0]]))
    groups = []  # the longest claim of a group with its proof, and every form of it packed
    for rows in result:
        first, packed_forms = rows[0], pack([part[rows] for part in forms], _form_widths(len(names)))
        groups.append({"m": int(m[first]), "codes": codes[first].tolist(), "forms": packed_forms})
        if keys[first] >= 0:
            groups[-1] |= {"id": int(keys[first]), "proof": proofs[keys[first]]}
    return groups


def _form_widths(columns: int) -> list[int]:
    """Characters of a packed form: its columns, its effective k, its probability under each prior."""
    return [mask_width(columns), 1, *[2] * len(BLOCK_PRIORS)]


def claims_by_block(claims: Path, baselines: Path, blocks: Collection[str]) -> tuple[dict[str, pd.DataFrame], pd.DataFrame]:
    """The claims of each block with their probabilities, once for two designs; and of a block that has none."""
    listed, likely = read_blocks(claims, blocks), read_blocks(baselines, blocks)
    if not listed[["block", "k", "m"]].equals(likely[["block", "k", "m"]]):
        raise DataError(f"{baselines}: it has not a row for each row of {claims}. Make both again.")
    joined = pd.concat([listed, likely[list(BLOCK_PRIORS)]], axis=1)
    first = joined.groupby("block")["design"].transform("first")
    return {str(block): rows for block, rows in joined[joined["design"] == first].groupby("block")}, joined.iloc[:0]


# What the page says of a study before a block is chosen: figures by state, and the list of blocks.


def figures_by_state(
    sample: pd.DataFrame, blocks: Path, households: Path, least: int, at_once: int = BLOCKS_AT_ONCE
) -> Iterator[pd.DataFrame]:
    """By state and block: designs, households, claims, unique, singled out by k from `least` on; some blocks at a time."""
    order = sample[["state", "block"]].drop_duplicates().sort_values(["state", "block"])
    for part in split_rows(order, at_once):
        wanted = set(part["block"])
        here, counted = sample[sample["block"].isin(wanted)], read_blocks(households, wanted)
        frame = here.groupby("block").agg(state=("state", "first"), n=("n_households", "first"))
        known = read_blocks(blocks, wanted).drop_duplicates("block").set_index("block")
        frame["designs"] = here.groupby("block")["design"].agg(list)
        verified = [name for name in known.columns if name.startswith("verified_k")]
        frame["claims"] = known[verified].sum(axis=1).astype(int)
        frame["unique"] = known["unique"].fillna(False).astype(bool)
        single = counted[(counted["claims"] == "singleton") & (counted["grouping"] == "k")]
        single = single[single["columns"] >= least].drop_duplicates(["block", "columns"])
        places = single.pivot(index="block", columns="columns", values="households")
        frame["single"] = places.reindex(frame.index).fillna(0).astype(int).to_numpy().tolist()
        yield frame.sort_values(["state", "block"])


def add_up(figures: Iterable[pd.DataFrame]) -> dict[str, dict[str, Any]]:
    states: dict[str, list[dict[str, Any]]] = {}
    for state, rows in (group for part in figures for group in part.groupby("state")):
        single, added = pd.DataFrame(rows["single"].tolist()), rows[["n", "claims", "unique"]].sum().tolist()
        figure = dict(zip(("blocks", "households", "claims", "unique"), (len(rows), *added), strict=True))
        lists = {"single": single.sum().tolist(), "exposed": (single > 0).sum().tolist()}
        states.setdefault(str(state), []).append(figure | lists)
    return {state: _sum(parts) for state, parts in states.items()}


def _sum(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Figures added up, lists place by place."""
    columns = {name: [part[name] for part in parts] for name in parts[0]}
    return {name: list(map(sum, zip(*column, strict=True))) if isinstance(column[0], list) else sum(column)
            for name, column in columns.items()}  # fmt: skip


def plain_sentence(sentence: explain.Sentence) -> dict[str, Any]:
    """A sentence of the phrase file as plain values: conditions are {column: codes}."""
    plain = asdict(sentence)
    plain["slots"] = [[[when.where, words] for when, words in slot] for slot in sentence.slots]
    plain |= {key: [when.where for when in getattr(sentence, key)] for key in ("only", "unless")}
    return plain


# Build the explorer from the results of a study, some batches at a time, so that memory does not grow with its blocks.

Batch = tuple[Path, Path, Path]  # a file of counts, one of proofs, and one of laid-out proofs


def write_study(
    folder: Path, schema: Schema, states: Mapping[str, Any], words: Words, least: int, designs: Sequence[str] | None
) -> None:
    """The piece that the page loads first: aggregates only. Earlier pieces go; designs are given to list blocks."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.js"):
        old.unlink()
    tables = list(dict.fromkeys(query.table for query in schema.queries))
    columns = [{"name": c.name, "label": c.label, "codes": c.meaning} for c in schema.domain.columns]
    _write_piece(folder, "study", {
        "columns": columns,
        "tables": [[name, words.titles.get(name, name)] for name in tables],
        "cells": [[query.id, tables.index(query.table), query.label] for query in schema.queries],
        "sentences": [plain_sentence(sentence) for sentence in words.phrases.sentences] if words.phrases else [],
        "conclusions": list(explain.CONCLUSIONS.values()),
        "priors": list(BLOCK_PRIORS),
        "weighed": list(PRIORS),
        "packing": {"alphabet": ALPHABET, "widths": _form_widths(len(columns)), "steps": STEPS, "never": NEVER},
        "states": states,
        "places": {state: words.places[state] for state in sorted(set(states) & set(words.places))},
        "all": _sum(list(states.values())),
        "data": words.data, "synthetic": words.synthetic, "variant": words.variant,
        "least": least, "listed": designs is not None, "designs": list(designs or []),
    })  # fmt: skip


def write_blocks(folder: Path, entries: Iterable[tuple[str, dict[str, Any]]], size: int) -> dict[str, int]:
    piece: dict[str, int] = {}
    for number, blocks in enumerate(in_pieces(entries, size)):
        _write_piece(folder, f"blocks-{number}", blocks)
        piece |= dict.fromkeys(blocks, number)
    return piece


def write_lists(folder: Path, figures: Iterable[pd.DataFrame], designs: Sequence[str], piece: Mapping[str, int]) -> None:
    """The list of the blocks of every state; figures come by state."""
    rows = ((str(block), row) for part in figures for block, row in part.iterrows())
    for state, group in groupby(rows, lambda pair: pair[1]["state"]):
        with (folder / f"{file_name(f'state-{state}')}.js").open("w") as file:  # a list is never held as a whole
            file.write(f"genverify.take({json.dumps(f'state-{state}')},[")
            for index, (block, row) in enumerate(group):
                file.write(f"{',' if index else ''}{_plain(_block_row(block, row, designs, piece))}")
            file.write("]);\n")


def _block_row(block: str, row: "pd.Series[Any]", designs: Sequence[str], piece: Mapping[str, int]) -> list[Any]:
    """A block: id, households, places of its designs, claims, unique, singled out by k, its piece."""
    places = [designs.index(design) for design in row["designs"]]
    return [block, int(row["n"]), places, int(row["claims"]), int(row["unique"]), row["single"], piece[block]]


def block_entries(
    schema: Schema, batches: Sequence[Batch], claims: Path, baselines: Path, at_once: int = FEW_BLOCKS_AT_ONCE,
    certificates: Mapping[str, int] | None = None, weighed: Sequence[Path] = (), most: int = 0,
) -> Iterator[tuple[str, dict[str, Any]]]:  # fmt: skip
    """
    Every block with what the page shows of it; claims are read for as many batches as hold about `at_once` blocks. Its
    proofs are checked, and every claim that names one is looked up among the proved ones. `certificates`: the numbers of
    the pieces with the files of a block; `weighed`: files that say which claims are likely beside, `most` of a block.
    """
    for group, blocks in _batches(batches, at_once):
        of_block, nothing = claims_by_block(claims, baselines, blocks)
        listed = (part for path in weighed for part in read_blocks(path, blocks).groupby("block"))
        likely = {str(block): rows[(rows["m"] == 1) & (rows[list(PRIORS)] >= LEAST).any(axis=1)] for block, rows in listed}
        for counts, proofs, explained in group:
            laid_out = {result["block"]: result["proofs"] for result in read_lines(explained)}
            for block in checked_blocks(counts, proofs, schema):
                name = block.release.block
                rows, layout = of_block.get(name, nothing), laid_out.get(name, [])
                block.require(rows[rows["proof"].notna()], claims)
                check_layout(block, layout, explained)
                entry = _block_entry(block.release, rows, layout)
                if name in likely:
                    entry["likely"] = _likely_entries(likely[name], rows, schema.domain.names, most)
                if certificates and file_name(name, ONE_WORD) in certificates:
                    entry["vipr"] = certificates[file_name(name, ONE_WORD)]
                yield name, entry


def _batches(batches: Iterable[Batch], at_once: int) -> Iterator[tuple[list[Batch], set[str]]]:
    """Batches with the names of their blocks, as many together as hold no more than `at_once`."""
    group: list[Batch] = []
    blocks: set[str] = set()
    for batch in batches:
        part = set(pd.read_parquet(batch[0], columns=["block"])["block"])
        if group and len(blocks) + len(part) > at_once:
            yield group, blocks
            group, blocks = [], set()
        group, blocks = [*group, batch], blocks | part
    if group:
        yield group, blocks


def weight(folder: Path) -> tuple[int, float]:
    """How many files a folder holds, and their size in megabytes."""
    sizes = [path.stat().st_size for path in folder.glob("*.js")]
    return len(sizes), sum(sizes) / 1e6
