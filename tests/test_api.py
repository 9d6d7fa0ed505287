"""The API: what `import genverify as gv` offers, and that it has no defaults of its own."""

import doctest
import logging
import subprocess
import sys
from importlib.metadata import version
from itertools import combinations
from pathlib import Path
from textwrap import dedent
from typing import Any

import numpy as np
import pandas as pd
import pytest

import genverify as gv
from genverify.attack.probability import Probability
from genverify.attack.verify import attack_release as attack_of_studies
from genverify.model.errors import ConfigError, DataError
from genverify.model.settings import DATASETS
from genverify.solve.program_settings import DEFAULT, ProgramSettings


def test_every_name_of_the_api_is_there() -> None:
    for name in gv.__all__:
        assert callable(getattr(gv, name)), name
    assert {"attack_release", "check", "explain", "make_schema", "make_release", "bound_cells"} <= set(dir(gv))
    assert set(dir(gv)) == {*gv.__all__, "__version__"}
    assert gv.__version__ == version("genverify")
    with pytest.raises(AttributeError, match="no attribute 'atack_release': did you mean attack_release"):
        gv.atack_release  # noqa: B018


def test_the_types_of_the_api_are_those_of_its_names(tmp_path: Path, root: Path) -> None:
    """The example of the README is right in the eyes of mypy, and every name is known to it."""
    _, _, rest = (root / "README.md").read_text().partition("## I write Python\n")
    code = dedent(rest.partition("\n## ")[0])
    assert "gv.check(" in code
    parser = doctest.DocTestParser()
    page = "".join(example.source for example in parser.get_examples((root / "docs" / "api.md").read_text()))
    (tmp_path / "example.py").write_text(code + "".join(f"print(gv.{name})\n" for name in gv.__all__))
    (tmp_path / "page.py").write_text(page)
    words = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--config-file",
        str(root / "pyproject.toml"),
    ]
    done = subprocess.run(
        [*words, str(tmp_path / "example.py"), str(tmp_path / "page.py")], cwd=root, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_nothing_is_imported_before_it_is_asked_for() -> None:
    """So that a module depends on what it imports, and not on the whole library."""
    code = "import sys, genverify; print([name for name in sys.modules if name.startswith('genverify.')])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout == "[]\n"


def test_defaults_are_those_of_the_configuration(config: dict[str, Any]) -> None:
    assert ProgramSettings(**config["program"]) == DEFAULT
    assert config["generate"]["datasets"] == DATASETS


SCHEMA = gv.make_schema({"sex": ["f", "m"], "age": ["young", "old"]}, {"all": ["sex", "age"]})


def test_a_release_of_a_frame_is_attacked_and_explained() -> None:
    release = gv.release_of(SCHEMA, pd.DataFrame({"sex": ["f", "m", "m"], "age": ["old", "old", "young"]}))
    found = gv.attack_release(release)
    assert gv.check(release, found.certificate).claims == len(found.claims) == len(gv.claims_frame(found)) == 7
    texts = [gv.explain(found, claim).splitlines()[0] for claim in found.claims]
    assert "exactly 1 record with sex: m, age: young" in texts
    assert "exactly 2 records with sex: m" in texts
    with pytest.raises(DataError, match="exactly 2 records with sex: f is not among the verified claims"):
        gv.explain(found, gv.Claim((0, -1), 2))


def test_records_that_do_not_fit_the_schema_are_named() -> None:
    with pytest.raises(DataError, match="the records have no column 'age'"):
        gv.release_of(SCHEMA, pd.DataFrame({"sex": ["f"]}))
    with pytest.raises(DataError, match=r"column age: 'olt' is none of its values: .*old"):
        gv.release_of(SCHEMA, pd.DataFrame({"sex": ["f"], "age": ["olt"]}))


def test_cells_of_a_frame_of_counts_are_bounded() -> None:
    found = gv.bound_cells(pd.DataFrame({"yes": [3, 20], "no": [1, 5]}, index=["a", "b"]), 29)
    assert (found["lower"] <= pd.Series([3, 1, 20, 5])).all()
    assert (found["upper"] >= pd.Series([3, 1, 20, 5])).all()


def test_the_page_of_the_verbs_is_true(root: Path) -> None:
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    done = doctest.testfile(str(root / "docs" / "api.md"), module_relative=False, optionflags=flags)
    assert done.attempted > 15
    assert done.failed == 0


PEOPLE = pd.DataFrame({
    "sex": pd.Categorical(["f", "m", "m", "f"], categories=["m", "f", "x"]),
    "age": [31, 44, 82, 67],
    "smoker": [True, False, True, False],
    "rooms": [1, 2, 2, 3],
})  # fmt: skip
BY_AGE = {"age": [0, 64, 120]}


def known(release: gv.Release) -> dict[str, tuple[int, int]]:
    cells = zip(release.queries, release.lo.tolist(), release.hi.tolist(), strict=True)
    return {query.id: (lo, hi) for query, lo, hi in cells}


def test_a_frame_becomes_a_release_in_labels() -> None:
    release = gv.Release.from_frame(PEOPLE, tables=["rooms", ("sex", "age"), ("smoker", "age")], bins=BY_AGE, name="block")
    assert (release.block, release.n) == ("block", 4)
    assert {c.name: c.meanings for c in release.schema.domain.columns} == {
        "sex": ("m", "f", "x"), "age": ("(0, 64]", "(64, 120]"), "smoker": ("False", "True"), "rooms": ("1", "2", "3"),
    }  # fmt: skip
    counts = known(release)
    assert counts["rooms.2"] == (2, 2)
    assert counts["sex_age.x.(0, 64]"] == (0, 0)
    assert counts["smoker_age.True.(64, 120]"] == (1, 1)


def test_small_counts_of_a_frame_are_suppressed_and_zeros_are_not() -> None:
    release = gv.Release.from_frame(PEOPLE, tables=["rooms", "sex"], suppress=3)
    assert known(release) == {
        "rooms.1": (1, 2), "rooms.2": (1, 2), "rooms.3": (1, 2), "sex.m": (1, 2), "sex.f": (1, 2), "sex.x": (0, 0),
    }  # fmt: skip
    # the proofs narrow what is left of N; what_if protects the exact counts, not those that are suppressed already
    bounds = release.bounds().set_index("cell")
    assert bounds.loc[["rooms.1", "sex.m"], ["lower", "upper"]].to_numpy().tolist() == [[1, 2], [2, 2]]
    tried = release.what_if([{"suppress": 2}]).set_index("protection")
    assert tried.loc["suppress below 2", "exact_cells"] == 6


def test_counts_become_the_release_of_the_frame_that_they_count() -> None:
    of_frame = gv.Release.from_frame(PEOPLE, tables=[("smoker", "rooms"), "smoker"])
    tables = [pd.crosstab(PEOPLE["smoker"], PEOPLE["rooms"]), PEOPLE["smoker"].value_counts().sort_index()]
    of_counts = gv.Release.from_counts(tables)
    assert known(of_counts) == known(of_frame)
    named = {("smoker", "rooms"): tables[0].to_numpy(), "smoker": tables[1]}
    named[("smoker", "rooms")] = pd.DataFrame(named[("smoker", "rooms")], index=[False, True], columns=[1, 2, 3])
    assert known(gv.Release.from_counts(named)) == known(of_frame)


def test_what_is_missing_among_counts_is_unknown_or_small() -> None:
    table = pd.DataFrame({"yes": [np.nan, 12], "no": [8, 0]}, index=["f", "m"])
    both = {("sex", "smoker"): table}
    assert known(gv.Release.from_counts(both, n=23)) == {
        "sex_smoker.f.no": (8, 8), "sex_smoker.m.yes": (12, 12), "sex_smoker.m.no": (0, 0),
    }  # fmt: skip
    assert known(gv.Release.from_counts(both, n=23, suppress=5))["sex_smoker.f.yes"] == (1, 4)
    with pytest.raises(DataError, match="give n"):
        gv.Release.from_counts(both)


@pytest.mark.parametrize(
    ("change", "options", "words"),
    [
        ({"age": [31, None, 82, 67]}, {}, "column age: 1 values are missing, the first in row 1; use fillna or dropna"),
        ({"age": [31, "44", 82, 67]}, {}, "column age: holds mixed-integer values; make them text"),
        ({"age": [31.5, 44, 82, 67]}, {}, "column age: holds floating values; .* or cut numbers with bins"),
        ({"age": pd.Categorical([1, "1", 1, 1])}, {}, "column age: 2 values, 1 texts"),
        ({}, {"bins": {"age": [0, 64]}}, "column age: 82 lies in no bin"),
        ({}, {"bins": {"sex": 3}}, "column sex: cannot be cut into bins"),
        ({}, {"bins": {"rooms": 3}}, "bins: no table has a column 'rooms'"),
        ({}, {"tables": [("sexx", "age")]}, "the frame has 0 columns 'sexx': did you mean sex"),
        ({}, {"tables": []}, "give tables such as"),
        ({}, {"tables": [("sex", "sex")]}, "each of its columns once"),
        ({}, {"tables": ["sex", "sex"]}, "each of its columns once"),
        ({"m": [1, 2, 3, 4]}, {"tables": ["m"]}, "column 'm': give it a name"),
        ({f"c{at}": [0, 1, 0, 1] for at in range(40)}, {"tables": [f"c{at}" for at in range(40)]}, "at most 16 are handled"),
    ],
)  # fmt: skip
def test_a_frame_that_is_no_release_is_refused_with_a_remedy(change: Any, options: Any, words: str) -> None:
    with pytest.raises(DataError, match=words):
        gv.Release.from_frame(PEOPLE.assign(**change), **{"tables": [("sex", "age")], **options})


def test_a_column_of_many_values_is_refused() -> None:
    with pytest.raises(DataError, match="column income: 100 values, 100 texts; give at most 60, or bins"):
        gv.Release.from_frame(pd.DataFrame({"income": range(100)}), tables=["income"])


def test_what_is_not_a_frame_a_release_or_a_count_is_refused_in_words() -> None:
    with pytest.raises(DataError, match=r"records: give a pandas\.DataFrame"):
        gv.Release.from_frame({"sex": ["f"]}, tables=["sex"])  # type: ignore[arg-type]
    with pytest.raises(DataError, match=r"records: give a pandas\.DataFrame with a row"):
        gv.Release.from_frame(PEOPLE.head(0), tables=["sex"])
    with pytest.raises(DataError, match="DataFrame: give a release"):
        gv.attack(PEOPLE)  # type: ignore[arg-type]
    with pytest.raises(DataError, match="the frame has 0 columns 1: known: sex"):
        gv.Release.from_frame(PEOPLE, tables=[1])  # type: ignore[list-item]
    release = gv.Release.from_frame(PEOPLE, tables="sex")
    assert known(release) == known(gv.Release.from_frame(PEOPLE, tables=["sex"]))
    with pytest.raises(ConfigError, match="Release: give paths, frames or a reading"):
        gv.disclose(release)  # type: ignore[arg-type]
    assert release.what_if({"suppress": 2}).equals(release.what_if([{"suppress": 2}]))


def test_an_audit_and_a_reading_are_short_when_printed(root: Path) -> None:
    """23,095 characters for a table of twelve counts, 2,830 for its reading, before."""
    path = root / "examples/clinic/patients.csv"
    audit = gv.disclose(path, symbol={"*": "suppressed"}, search_seconds=0)
    assert repr(audit).startswith("2 of your 2 suppressed cells are known exactly.")
    assert repr(gv.read(path)).startswith("Reading: 1 tables, 1 questions; 20 cells = 8 labels + 10 counts")


def test_a_table_of_weights_may_have_labels() -> None:
    release = gv.Release.from_frame(PEOPLE, tables=["sex", "smoker"])
    weights = pd.DataFrame(
        {"sex": ["f", "f", "m", "m"], "smoker": [True, False, True, False], "weight": [3.0, 1.0, 1.0, 3.0]}
    )
    codes = weights.assign(sex=weights["sex"].map({"m": 0, "f": 1}), smoker=weights["smoker"].astype(int))
    assert release.probability(sex="f", smoker=True, m=2, prior=weights) == release.probability(
        sex="f", smoker=True, m=2, prior=codes
    )
    with pytest.raises(DataError, match="weights are numbers from 0 on"):
        release.probability(sex="f", prior=weights.assign(weight=-1.0))
    with pytest.raises(DataError, match="no record has a weight above 0"):
        release.probability(sex="f", prior=weights.assign(weight=0.0))


def test_cells_that_would_share_a_name_are_refused() -> None:
    frame = pd.DataFrame({"a": ["1", "1.2"], "b": ["2.3", "3"]})
    with pytest.raises(DataError, match=r"two cells are called 'a_b\.1\.2\.3'"):
        gv.Release.from_frame(frame, tables=[("a", "b")])


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (pd.crosstab(PEOPLE["sex"], PEOPLE["smoker"], margins=True), "duplicated, unnamed or a total"),
        (pd.DataFrame({"yes": [1, 2]}, index=["f", "m"]), "name each for its column"),
        (pd.Series(["<5", 3], pd.Index(["f", "m"], name="sex")), "'<5' is not a count"),
        (pd.Series([1.5, 3], pd.Index(["f", "m"], name="sex")), "1.5 is not a count"),
        (pd.Series([-1, 3], pd.Index(["f", "m"], name="sex")), "-1 is not a count"),
        (pd.Series([1, 3], pd.Index(["f", "f"], name="sex")), "duplicated, unnamed or a total"),
        ([[1, 2]], "list: give tables as pandas.crosstab"),
    ],
)  # fmt: skip
def test_counts_that_are_no_table_are_refused(table: Any, words: str) -> None:
    with pytest.raises(DataError, match=words):
        gv.Release.from_counts([table])


def small_frame(seed: int, people: int = 30) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    values = {"sex": "fm", "age": "abc", "smoker": "ny", "region": "nsew", "school": "lmh", "work": "ny"}
    return pd.DataFrame({name: rng.choice(list(words), people) for name, words in values.items()})


@pytest.mark.parametrize("seed", [0, 3])
def test_the_verb_verifies_what_the_attack_of_the_studies_does(seed: int) -> None:
    """Datasets from one walk, with no search for all of them, lead to the same claims: the proofs decide."""
    frame = small_frame(seed, people=12)
    release = gv.Release.from_frame(frame, tables=list(combinations(frame.columns[:4], 2)))
    result = release.attack()
    assert set(result.claims) == set(attack_of_studies(release).claims)
    assert all((frame[list(row.index)] == row).all(axis=1).sum() == m for row, m in _rows(result.frame()))
    few = release.attack(min_k=2, max_k=2)
    assert set(few.claims) == {claim for claim in result.claims if claim.k == 2}
    with pytest.raises(ConfigError, match="min_k=3, max_k=2: give"):
        release.attack(min_k=3, max_k=2)


def _rows(frame: pd.DataFrame) -> Any:
    for _, row in frame.iterrows():
        yield row.drop(["k", "m"])[lambda values: values != "*"], row["m"]


def test_a_result_is_short_and_says_all_when_asked(tmp_path: Path) -> None:
    result = gv.Release.from_frame(PEOPLE, tables=[("sex", "age"), ("age", "smoker")], bins=BY_AGE, name="<b>").attack()
    assert len(repr(result)) < 200
    assert "&lt;b&gt;" in result._repr_html_()
    assert result._repr_html_().count("<tr") <= 21
    assert result.check().claims == len(result.claims) == len(result.frame())
    assert result.explain(0).startswith("exactly 2 records with sex: ")
    assert gv.explain(result, 0) == result.explain(result.claims[0])
    with pytest.raises(DataError, match="there is no claim 99"):
        result.explain(99)
    assert "claims" in result.export(tmp_path / "proofs.zip")
    with pytest.raises(ConfigError, match="unknown format 'vip': did you mean vipr"):
        result.export(tmp_path / "other.zip", "vip")


def test_a_probability_is_asked_in_labels() -> None:
    release = gv.Release.from_frame(PEOPLE, tables=["sex", ("rooms", "smoker")])
    by_name = release.probability(sex="f", rooms=2, m=1)
    assert by_name == gv.probability(release, gv.Claim((1, -1, 1), 1)) == release.probability(sex="f", rooms="2")
    assert str(gv.probability(release, "sex=f,smoker=True")) == str(release.probability(sex="f", smoker=True))
    with pytest.raises(DataError, match="rooms=2 is a label and also another code"):
        gv.probability(release, "sex=f,rooms=2")
    with pytest.raises(DataError, match="no column 'sexx': did you mean sex"):
        release.probability(sexx="f")
    with pytest.raises(DataError, match="column smoker has no value 'Tru': did you mean True"):
        release.probability(smoker="Tru")
    with pytest.raises(DataError, match="name a column"):
        release.probability()


def test_a_label_may_hold_a_comma() -> None:
    release = gv.Release.from_frame(PEOPLE, tables=[("sex", "age")], bins=BY_AGE)
    assert gv.probability(release, "age=(0, 64],sex=f,m=1").value == 1


def test_what_is_certain_is_proved_where_counting_takes_too_much() -> None:
    """All fifteen two-way tables of thirty people are beyond the budget, and no estimate is made of a published cell."""
    frame = small_frame(0)
    release = gv.Release.from_frame(frame, tables=list(combinations(frame.columns, 2)))
    count = int(((frame["sex"] == "f") & (frame["smoker"] == "y")).sum())
    for m in (count, count + 1):
        answer = release.probability(sex="f", smoker="y", m=m)
        assert (answer.exact, answer.value) == (True, float(m == count))
    unsure = release.probability(sex="f", smoker="y", age="a", m=3)
    assert unsure.exact or unsure.low <= unsure.value <= unsure.high


@pytest.mark.parametrize("suppress", [1, 0, -3, True, 2.5, "5"])
def test_a_threshold_that_hides_nothing_is_refused(suppress: Any) -> None:
    with pytest.raises(ConfigError, match="would hide no count"):
        gv.Release.from_frame(pd.DataFrame({"sex": ["f", "m"]}), tables=["sex"], suppress=suppress)


def test_an_estimate_is_never_printed_as_certain() -> None:
    estimate = Probability(gv.Claim((1,), 1), "uniform", 0.0, 0.0, 1.0, exact=False)
    assert str(estimate) == "near 0 % (estimated, near 0 % to near 100 %, prior: uniform)"


def test_a_result_is_plotted_by_the_number_of_columns() -> None:
    pytest.importorskip("matplotlib").use("agg")
    result = gv.Release.from_frame(PEOPLE, tables=[("sex", "age"), ("age", "smoker")], bins=BY_AGE).attack()
    axes = result.plot()
    heights = [bar.get_height() for bars in axes.containers for bar in bars]
    assert sum(heights) == len(result.claims)
    assert len(axes.containers) == 2


def test_long_work_says_how_far_it_is(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A line on the standard error, where the caller did not set up logging; the logger is left as it was."""
    monkeypatch.setattr("genverify.model.work.ProgressLog.every", -1.0)
    monkeypatch.setattr("genverify.model.work.ProgressLog.__post_init__", lambda self: setattr(self, "last", -1e9))
    logger = logging.getLogger("genverify")
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    gv.Release.from_frame(PEOPLE, tables=["sex"]).attack()
    assert "claims decided" in capsys.readouterr().err
    assert not logger.handlers


def test_the_guesses_of_a_new_user() -> None:
    """Tried in a notebook: each was an error, codes, or two million characters."""
    people = pd.DataFrame({"sex": ["f", "m", "m"], "age": ["old", "young", "young"], "smoker": [True, False, True]})
    release = gv.Release.from_frame(people, tables=[("sex", "age"), ("age", "smoker")])  # no way from a frame to a schema
    result = gv.attack(release)  # 'module' object is not callable
    assert result.claims == release.attack().claims
    assert len(repr(result)) < 200  # 1,971,231 characters for 30 people
    assert set(result.frame()["sex"]) == {"f", "m", "*"}  # codes, not labels
    assert gv.probability(release, "sex=f").value == 1  # labels were rejected
    assert release.probability(sex="f").exact
    assert gv.disclose is not None  # no disclose, what_if, plot, __version__; no progress: tests above
    assert {"what_if", "bounds", "probability", "attack"} <= set(dir(release))
    assert {"plot", "explain", "check", "export", "frame"} <= set(dir(result))
    with pytest.raises(DataError, match="did you mean sex"):
        release.probability(sx="f")
    import genverify.attack as package
    from genverify.attack import verify

    assert package.verify is verify  # it is still the package
