"""
What the explorer shows of one block: published counts, claims in groups that share a proof, certificates, and what is
likely.
"""

import json
import zlib
from base64 import b64encode
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pandas as pd

from genverify.attack.explain import CONCLUSIONS, CaseSplit, Layout, Phrases, Reasons, Sum, lay_out, read_phrases
from genverify.checker.certificate import Forks
from genverify.checker.stored import CheckedBlock
from genverify.model.arrays import Floats, Ints
from genverify.model.claims import ANY
from genverify.model.domain import Predicate, Rule, read_domain
from genverify.model.errors import DataError
from genverify.model.files import data_label, file_name, read_yaml
from genverify.model.query import table_titles
from genverify.model.release import TOTAL, Release
from genverify.model.settings import Explorer
from genverify.model.tablefiles import read_blocks

# The files of the explorer: one page with its style and scripts inside, and pieces of data that it loads as scripts.

POLICY = (
    "default-src 'none'; script-src 'self' file: {scripts}; style-src {styles}; "
    "img-src data:; base-uri 'none'; form-action 'none'"
)
# named in full, so that the digest of a job's code covers them
TEMPLATE = "explorer/page/index.html"
STYLE = "explorer/page/explorer.css"
SCRIPTS = (
    "explorer/page/1-data.js",
    "explorer/page/2-words.js",
    "explorer/page/3-proof.js",
    "explorer/page/4-side.js",
    "explorer/page/5-likely.js",
    "explorer/page/6-block.js",
    "explorer/page/7-main.js",
)


def page_text(title: str) -> str:
    """The page from the files of page/: the template, the style sheet and the scripts, in their order."""
    template, style, *scripts = (files("genverify").joinpath(name).read_text() for name in (TEMPLATE, STYLE, *SCRIPTS))
    return render_page(template, style, scripts, title)


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


def write_piece(folder: Path, name: str, content: Any) -> None:
    """A piece of data as a script that hands itself over; the same content gives the same bytes."""
    (folder / f"{file_name(name)}.js").write_text(f"genverify.take({json.dumps(name)},{_plain(content)});\n")


def write_list(folder: Path, name: str, rows: Iterable[Any]) -> None:
    """A piece that is a list, written row by row."""
    with (folder / f"{file_name(name)}.js").open("w") as file:
        file.write(f"genverify.take({json.dumps(name)},[")
        for place, row in enumerate(rows):
            file.write(f"{',' if place else ''}{_plain(row)}")
        file.write("]);\n")


def _plain(content: Any) -> str:
    return json.dumps(content, separators=(",", ":"), ensure_ascii=True)


def read_places(path: Path) -> Mapping[str, Any]:
    """Where each state stands on the map of tiles."""
    try:
        return {
            str(state): {
                "short": str(place["short"]),
                "name": str(place["name"]),
                "at": [int(place["row"]), int(place["column"])],
            }
            for state, place in read_yaml(path)["places"].items()
        }
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise DataError(f"{path}: not a file of places ({error!r}); see data/census/places.yaml for the form") from None


def in_pieces(entries: Iterable[tuple[str, Any]], size: int) -> Iterator[dict[str, Any]]:
    """Entries by name, some at a time."""
    piece: dict[str, Any] = {}
    for name, entry in entries:
        piece[name] = entry
        if len(piece) == size:
            yield piece
            piece = {}
    if piece:
        yield piece


# What the page calls things, and whether it may list blocks at all.


@dataclass(frozen=True)
class Words:
    """The names of the data and the variant, of places and tables, and the phrases of claims."""

    data: str
    synthetic: bool
    variant: str
    places: Mapping[str, Any]
    titles: Mapping[str, str]
    phrases: Phrases | None


def read_words(settings: Explorer, manifest: Path, tables: Path, domain: Path) -> Words:
    """The words that the settings name, and the name of the data."""
    phrases = read_phrases(Path(settings.phrases), read_domain(domain).domain) if settings.phrases else None
    titles, places = table_titles(read_yaml(tables)), read_places(Path(settings.places))
    return Words(data_label(manifest), is_synthetic(manifest), settings.variant, places, titles, phrases)


def is_synthetic(manifest: Path) -> bool:
    return bool(json.loads(manifest.read_text())["source"] == "synthetic")


# Numbers as short text: claims and probabilities by the hundred thousand, small enough for a page to load.

ALPHABET = "".join(chr(code) for code in range(35, 127) if chr(code) != "\\")
"""Characters that JSON writes as they are."""

STEPS = 200  # levels to a power of ten: two characters then reach down to 1e-41, within 0.6 % (`levels`)
NEVER = len(ALPHABET) ** 2 - 1
"""A probability of 0, and the last of the levels that two characters can say."""


def pack(numbers: Sequence[Ints], widths: Sequence[int]) -> str:
    """
    Rows of whole numbers from 0, each column in its number of characters.

    >>> pack([np.array([0, 92]), np.array([1, 2])], [2, 1])
    '##$$$%'
    """
    base = len(ALPHABET)
    letters = np.frombuffer(ALPHABET.encode(), dtype=np.uint8)
    places = [column // base**power % base for column, width in zip(numbers, widths, strict=True)
              for power in range(width - 1, -1, -1)]  # fmt: skip
    return str(letters[np.column_stack(places)].tobytes(), "ascii")


def mask_width(columns: int) -> int:
    """
    The characters that a set of columns takes.

    >>> mask_width(3), mask_width(10), mask_width(14)
    (1, 2, 3)
    """
    width = 1
    while len(ALPHABET) ** width < 2**columns:
        width += 1
    return width


def levels(p: Floats) -> Ints:
    """
    Probabilities as steps down from 1, two hundred to a power of ten: within 0.6 % of what they were.

    >>> levels(np.array([1.0, 0.1, 0.0])).tolist() == [0, 200, NEVER]
    True
    """
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
                texts = [archive.read(f"{block}/{name}").decode() for name in names]
                write_piece(folder, f"vipr-{number[block]}", packed(names, texts))
    return number


def packed(names: list[str], texts: list[str]) -> dict[str, object]:
    """
    Files as one deflated text, which is far smaller than each by itself; `ends` says where in it each file ends.

    >>> packed(["a", "b"], ["one", "two"])["ends"]
    [3, 6]
    """
    data = [text.encode() for text in texts]
    ends, at = [], 0
    for part in data:
        at += len(part)
        ends.append(at)
    return {"names": names, "ends": ends, "data": b64encode(zlib.compress(b"".join(data), 9)).decode()}


# Proofs for the page: the claims that share a proof are one group, laid out once so that it serves them all.

Where = Mapping[str, int]
ALL = -1
"""The cell that holds every record, beside the places of the queries."""
SUM = 5
"""The parts of a plain sum; a split into cases has four."""


def lay_out_block(block: CheckedBlock) -> dict[str, Any]:
    """The checked proofs of a block, each laid out as plain values in which cells are places in the list of queries."""
    found = block.proofs
    reasons = Reasons(block.release, found["lemmas"])
    groups: list[list[Where]] = [[] for _ in found["proofs"]]
    for claim in found["statements"]:
        groups[claim["proof"]].append(claim["where"])
    halves = (_halves(reasons, proof, group) for proof, group in zip(found["proofs"], groups, strict=True))
    return {"block": block.release.block, "proofs": list(halves)}


def _halves(reasons: Reasons, proof: Mapping[str, Any], group: Sequence[Where]) -> list[Any]:
    """
    At least m match all that the group says, so each claim of it; at most m match even its shortest claims.

    The claims of a group are about the same possible records, so both hold of every one of them.
    """
    every = {name: code for where in group for name, code in where.items()}
    lower = lay_out(reasons, proof["lower"], -1, [_predicate(every)])
    upper = lay_out(reasons, proof["upper"], +1, [_predicate(where) for where in shortest(group)])
    return [_proofs_plain(reasons, lower), _proofs_plain(reasons, upper)]


def _predicate(where: Where) -> Predicate:
    return Predicate.of({name: [code] for name, code in where.items()})


def shortest(group: Sequence[Where]) -> list[Where]:
    """
    The claims of a group that no other claim of it is part of.

    >>> shortest([{"A": 1, "B": 2}, {"A": 1}, {"B": 2, "C": 3}])
    [{'A': 1}, {'B': 2, 'C': 3}]
    """
    items = [frozenset(where.items()) for where in group]
    least: list[frozenset[tuple[str, int]]] = []
    for item in sorted(set(items), key=len):
        if not any(other <= item for other in least):
            least.append(item)
    return [where for where, item in zip(group, items, strict=True) if item in least]


def _proofs_plain(reasons: Reasons, layout: Layout) -> Any:
    if isinstance(layout, CaseSplit):
        return [layout.part, layout.at, _proofs_plain(reasons, layout.below), _proofs_plain(reasons, layout.above)]
    return _plain_sum(reasons, layout)


def _plain_sum(reasons: Reasons, layout: Sum) -> list[Any]:
    """Conclusion, denominator, cells, sides of the cases above, reasons."""
    cells = [part for y, name in layout.cells for part in (y, _place(reasons, name))]
    sides = [[w, int(below)] for w, below in layout.sides]
    because = [_reason(reasons, rule) for rule in layout.because]
    return [list(CONCLUSIONS).index(layout.conclusion), layout.over, cells, sides, because]


def _reason(reasons: Reasons, rule: Rule) -> int | list[int]:
    """A zero cell, or a total that its parts add up to: the total first."""
    if rule.name not in reasons.lemmas:
        return _place(reasons, rule.name)
    lemma = reasons.lemmas[rule.name]
    return [_place(reasons, name) for name in (lemma["universe"], *lemma["cells"])]


def _place(reasons: Reasons, name: str) -> int:
    return ALL if name == TOTAL else reasons.release.schema.position[name]


class _Unexplained(Reasons):
    """The cells of a block without the search for what a sum rests on."""

    def needed(self, leaf: Mapping[str, Any], s: int, forks: Forks, matching: Sequence[Predicate]) -> list[Rule]:
        return []


def check_layout(block: CheckedBlock, laid_out: Sequence[Any], source: Path) -> None:
    """
    An error unless laid-out proofs add up what the checked ones do, and the zeros and totals that they rest on are there.

    Cells, multipliers and cases are compared; that the named zeros are enough for words is not searched again.
    """
    reasons = _Unexplained(block.release, block.proofs["lemmas"])
    bare = [[_bare(half) for half in _halves(reasons, proof, [])] for proof in block.proofs["proofs"]]
    known = [_reason(reasons, rule) for rule in reasons.rules]
    shown = [[_bare(half) for half in halves] for halves in laid_out]
    if shown != bare or any(why not in known for halves in laid_out for half in halves for why in _because(half)):
        raise DataError(
            f"{source}: block {block.release.block}: the proofs laid out here are not those that were checked. Remove the "
            "file and let Snakemake lay the proofs out again."
        )


def _bare(layout: list[Any]) -> list[Any]:
    """A plain layout without reasons: they are last in a sum, and a split into cases has none of its own."""
    return layout[:4] if _is_sum(layout) else [*layout[:2], *map(_bare, layout[2:])]


def _because(layout: list[Any]) -> Iterator[Any]:
    if _is_sum(layout):
        yield from layout[4]
    else:
        yield from (why for side in layout[2:] for why in _because(side))


def _is_sum(layout: list[Any]) -> bool:
    return len(layout) == SUM


# What is not certain but likely: claims of a block with their probability under each prior, beside the verified ones.

PRIORS = ("tract", "state", "nation", "uniform")
LEAST = 0.5  # a guess that is more often wrong than right is no finding: the page lists none
CLOSE = 0.02  # a shorter form that is hardly likelier says nothing new


def likely_by_block(paths: Sequence[Path], blocks: Collection[str]) -> Mapping[str, pd.DataFrame]:
    """Of each of the blocks that were weighed, the claims about one household that are likely under some prior."""
    found = {}
    for path in paths:
        for block, rows in read_blocks(path, blocks).groupby("block"):
            found[str(block)] = rows[(rows["m"] == 1) & (rows[list(PRIORS)] >= LEAST).any(axis=1)]
    return found


def likely_entries(weighed: pd.DataFrame, verified: pd.DataFrame, names: Sequence[str], most: int) -> list[dict[str, Any]]:
    """
    The likeliest claims under each prior that are not certain: codes, whether the numbers are exact, and for each prior the
    probability with both ends of its interval (none where it was not asked under that prior).
    """
    codes = _codes(weighed, names)
    flagged = weighed["verified"].to_numpy(dtype=bool)
    known = {tuple(row) for row in _codes(verified[verified["m"] == 1], names).tolist()}
    if any((tuple(row) in known) != flag for row, flag in zip(codes.tolist(), flagged, strict=True)):
        raise DataError(
            f"block {weighed['block'].iloc[0]}: claims and probabilities disagree about what is verified. Make both again."
        )
    open_ = weighed[~flagged]
    chosen = np.unique(np.concatenate([_best(codes[~flagged], open_[prior].to_numpy(), most) for prior in PRIORS]))
    return [
        _entry(row, own) for row, own in zip(open_.iloc[chosen].to_dict("records"), codes[~flagged][chosen], strict=True)
    ]


def _codes(frame: pd.DataFrame, names: Sequence[str]) -> Ints:
    return frame[list(names)].astype("Int64").fillna(ANY).to_numpy(dtype=np.int64)


def _best(codes: Ints, chance: Floats, most: int) -> Ints:
    """The places of the likeliest claims, without shorter forms of one of them that are hardly likelier."""
    asked = np.flatnonzero(chance >= LEAST)
    order = asked[np.lexsort((-chance[asked], -(codes[asked] != ANY).sum(axis=1)))]
    kept: list[int] = []
    for place in order.tolist():
        named = codes[place] != ANY
        longer = [other for other in kept if (codes[other][named] == codes[place][named]).all()]
        if not any(chance[other] >= chance[place] - CLOSE for other in longer):
            kept.append(place)
    best: Ints = np.array(sorted(kept, key=lambda place: -chance[place])[:most], dtype=np.int64)
    return best


def _entry(row: Mapping[Any, Any], codes: Ints) -> dict[str, Any]:
    return {
        "codes": codes.tolist(),
        "exact": row["numbers"] == "exact",
        "chance": [_interval(row, prior) for prior in PRIORS],
    }


def _interval(row: Mapping[Any, Any], prior: str) -> list[float] | None:
    """Rounded, but what is not certain is never rounded up to 1."""
    if pd.isna(row[prior]):
        return None
    return [min(round(float(row[name]), 4), 0.9999) for name in (prior, f"{prior}_low", f"{prior}_high")]


# What the page shows of one block: its published counts, and its verified claims in groups that share a proof.

BLOCK_PRIORS = ("tract", "tract_leave_out", "county", "state", "nation", "uniform")


def block_entry(release: Release, claims: pd.DataFrame, proofs: Sequence[Any]) -> dict[str, Any]:
    """A block as plain values: N, the counts that are not 0, what is withheld, the groups of claims."""
    return {"n": release.n, **_published(release), "groups": _groups(release, claims, proofs)}


def _published(release: Release) -> dict[str, Any]:
    """Cells and counts in turn (a range where the count is not exact); cells that are not published."""
    counts: list[Any] = []
    for cell, lo, hi in zip(release.cells.tolist(), release.lo.tolist(), release.hi.tolist(), strict=True):
        if hi:
            counts += [cell, hi if lo == hi else [lo, hi]]
    known = set(release.cells.tolist())
    return {"counts": counts, "withheld": [cell for cell in range(len(release.schema.queries)) if cell not in known]}


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
    rows = np.split(order, np.flatnonzero(np.diff(keys[order])) + 1) if len(order) else []
    found = sorted(rows, key=lambda own: (m[own[0]], -k[own[0]], -effective[own[0]], keys[own[0]]))
    return [_group(int(keys[own[0]]), int(m[own[0]]), codes[own[0]], [part[own] for part in forms], proofs) for own in found]


def _group(key: int, m: int, codes: Ints, forms: Sequence[Ints], proofs: Sequence[Any]) -> dict[str, Any]:
    """The longest claim of a group with its proof, and every form of it: columns, effective k and baselines, packed."""
    entry: dict[str, Any] = {"m": m, "codes": codes.tolist(), "forms": pack(forms, form_widths(len(codes)))}
    if key >= 0:
        entry |= {"id": key, "proof": proofs[key]}
    return entry


def form_widths(columns: int) -> list[int]:
    """Characters of a packed form: its columns, its effective k, its probability under each prior."""
    return [mask_width(columns), 1, *[2] * len(BLOCK_PRIORS)]


def claims_by_block(
    claims: Path, baselines: Path, blocks: Collection[str]
) -> tuple[Mapping[str, pd.DataFrame], pd.DataFrame]:
    """
    The claims of each of the blocks with their probabilities, and of a block that has none.

    A claim is listed once although its block may serve two designs.
    """
    listed, likely = read_blocks(claims, blocks), read_blocks(baselines, blocks)
    if not listed[["block", "k", "m"]].equals(likely[["block", "k", "m"]]):
        raise DataError(f"{baselines}: it has not a row for each row of {claims}. Make both again.")
    joined = pd.concat([listed, likely[list(BLOCK_PRIORS)]], axis=1)
    first = joined.groupby("block")["design"].transform("first")
    return {str(block): rows for block, rows in joined[joined["design"] == first].groupby("block")}, joined.iloc[:0]
