"""Protections of a release of records: the usual ones tried, what each costs, and combinations that nobody can have."""

from collections.abc import Iterable, Iterator
from itertools import combinations

import pandas as pd

from genverify.disclosure.record_attack import Attack
from genverify.disclosure.release_data import ReleaseDescription
from genverify.disclosure.release_form import ProtectionForm, RuleForm
from genverify.disclosure.whatif import AS_IS, information, label, protected, protection_row, with_missing_counts
from genverify.model.release import Release
from genverify.model.work import progress

THRESHOLDS = (3, 5, 10)  # below which counts are suppressed, and bases of rounding: those that offices use
RARE = 0.05  # share of the records below which a code may be merged with other rare ones
COMBINED = 4  # protections of those tried alone, the best ones, that are tried in pairs: six more attacks
COUNTED = 1  # protections, the best ones, under which datasets are counted for what is likely: up to minutes for each
EXPECTED = 10  # records, if two columns were independent: none at all is then no chance (e^-10), but a rule of the data


def usual_protections(described: ReleaseDescription) -> list[list[ProtectionForm]]:
    """Thresholds, rounding, each table left out, each column coarser; of one kind the weaker before the stronger."""
    kinds = list[list[ProtectionForm]]()
    if all((release.lo == release.hi).all() for release in described.exact):  # ranges are not protected once more
        kinds += [[ProtectionForm(suppress=t, zeros=zeros) for t in THRESHOLDS] for zeros in ("shown", "hidden")]
        kinds.append([ProtectionForm(round=t) for t in THRESHOLDS])
    tables = list(described.form.tables)
    kinds += [[ProtectionForm(drop=[table])] for table in tables] if len(tables) > 1 else []
    return kinds + [[ProtectionForm(coarsen=merged)] for merged in _coarser(described)]


def _coarser(described: ReleaseDescription) -> Iterator[dict[str, dict[str, list[str]]]]:
    """Each column with its codes merged: neighbours in pairs where they are bins of numbers, else those that are rare."""
    for name, coding in described.codings.by_name.items():
        form = described.form.columns.get(name)
        if form is not None and form.bins:
            pairs = [coding.texts[at : at + 2] for at in range(0, len(coding.texts) - 1, 2)]
        elif described.records is not None:
            shares = described.records[name].value_counts(normalize=True)
            pairs = [tuple(t for t, code in coding.code_of.items() if shares.get(code, 0) < RARE)]
        else:
            pairs = []
        merged = {" or ".join(pair): list(pair) for pair in pairs if 1 < len(pair) < len(coding.texts)}
        if merged:
            yield {name: merged}


def compare_protections(described: ReleaseDescription, attack: Attack, k: int) -> pd.DataFrame:
    """
    The release as it is, the usual protections, and pairs of the best: what the attack verifies under each, the best first.

    loss: percent of what the exact counts say, in bits: a count known to lie between lo and hi of 0 to n says
    log2(n + 1) - log2(hi - lo + 1) of them. The best leave the fewest claims of k or more columns, and lose the least;
    what is likely under them, and under the release as it is, is counted as well.
    """
    tried = list[_Trial]()
    for kind in progress(usual_protections(described), "kinds of protection tried"):
        for form in kind:
            tried.append(_Trial(described, form, attack, k))
            if not tried[-1].left:  # a stronger one of this kind only loses more
                break
    best = [one.form for one in sorted(tried)[:COMBINED]]
    pairs = [both for first, second in combinations(best, 2) if (both := _together(first, second))]
    tried += [_Trial(described, form, attack, k) for form in progress(pairs, "pairs of protections tried")]
    rows = [protection_row(AS_IS, described, attack, k) | {"loss": 0.0}]
    for place, one in enumerate(sorted(tried)):
        likely = place < COUNTED
        row = protection_row(label(one.form), protected(described, one.form), attack, k) if likely else one.row
        rows.append(row | {"loss": one.loss})
    return with_missing_counts(pd.DataFrame(rows), k)


class _Trial:
    """A protection and what came of it; less is better."""

    def __init__(self, described: ReleaseDescription, form: ProtectionForm, attack: Attack, k: int) -> None:
        case = protected(described, form)
        self.form, self.row = form, protection_row(label(form), case, attack, k, likely=False)
        self.left = self.row[f"singleton_claims_k{k}"] + self.row["undecided"]

        def said(releases: Iterable[Release]) -> float:
            return sum(information(release.n, release.lo, release.hi) for release in releases)

        self.loss = round(100 * (1 - said(case.releases) / (said(described.exact) or 1)), 1)

    def __lt__(self, other: "_Trial") -> bool:
        return (self.left, self.loss) < (other.left, other.loss)


def _together(first: ProtectionForm, second: ProtectionForm) -> ProtectionForm | None:
    """Both protections; none where they are of one kind, since the stronger of two thresholds is one of them."""
    given = [{name: value for name in form.model_fields_set if (value := getattr(form, name))} for form in (first, second)]
    shared = set(given[0]) & set(given[1])
    if shared - {"drop", "coarsen"}:
        return None
    one, other = given
    both = {name: [*one[name], *other[name]] if name == "drop" else one[name] | other[name] for name in shared}
    return ProtectionForm(**(one | other | both))


def impossible_pairs(described: ReleaseDescription) -> list[RuleForm]:
    """
    Pairs of codes that no record has although ten or more would by chance, as rules that the user may confirm.

    A rule is offered, never assumed: that nobody has a combination today does not say that nobody can.
    """
    if described.records is None:
        return []
    rules = []
    for first, second in combinations(described.codings.by_name, 2):
        counts = pd.crosstab(described.records[first], described.records[second])
        expected = counts.sum(axis=1).to_numpy()[:, None] * counts.sum(axis=0).to_numpy() / max(len(described.records), 1)
        codings = described.codings[first], described.codings[second]
        texts = [dict(zip(coding.column.codes, coding.texts, strict=True)) for coding in codings]
        never = (counts == 0) & (expected >= EXPECTED)
        for code in counts.index[never.any(axis=1)]:
            allowed = [texts[1][int(other)] for other in counts.columns if not never.loc[code, other]]
            name = f"{first} {texts[0][code]}: not every {second}"
            rules.append(RuleForm(name=name, when={first: [texts[0][code]]}, then=[{second: allowed}]))
    return rules
