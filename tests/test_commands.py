"""Every command that a document, a help text or a message prints: run where it is cheap, else planned or parsed."""

import argparse
import re
import shlex
import shutil
import tomllib
from pathlib import Path

import pandas as pd
import pytest
from snakemake.cli import get_argument_parser

from genverify.cli import main
from genverify.run.cli.commands import OLD_NAMES, groups, parser, with_new_name
from genverify.run.cli.shell import with_values
from printed_commands import ROOT, Printed, printed
from study_runs import dry_run

COMMANDS = printed()
NAMES = {*OLD_NAMES, *(name for group in groups() for name in group.lines)}
# these look at the results of a study, which takes minutes to make: their words are parsed here
PARSED = {
    "audit": "tests/run/test_provenance.py runs it", "check": "tests/workflow runs it on a study",
    "ablation": "writes into config.yaml: tests/workflow/test_ablations.py runs it",
    "check-housing": "tests/scripts/housing runs it", "check-ppmf": "needs a file that is not shipped",
    "check-vipr": "tests/export/test_export_command.py runs it", "estimate": "reads surveys that are not shipped",
    "excluded": "tests/studies/gtv runs it", "explain": "tests/attack/test_explain.py runs it",
    "export": "tests/export/test_export_command.py runs it", "probability": "tests/attack/test_likely.py runs it",
    "new-study": "writes into the repository: tests/workflow/test_skeletons.py runs it",
    "new-reader": "writes into the repository: tests/workflow/test_skeletons.py runs it",
    "progress": "waits for a run; tests/run/test_progress.py runs it", "reference": "tests/run/test_reference.py runs it",
}  # fmt: skip
# lines that are parsed only, by a word of theirs
UNRUN = {
    **{f"examples/{name}/release.yaml": "minutes in all" for name in ("school", "health_survey", "census_block")},
    "release.yaml": "an audit of people, of seconds to minutes: tests/disclose and tests/run/test_shell.py run some",
    "reading.yaml": "made by the line before it", "--check": "checks what a line before it made: test_wheel.py",
    "tract.mps": "not shipped", "psam_pusa.csv": "files of a user",
}  # fmt: skip
# words of Snakemake that plan nothing: they are parsed here
UNPLANNED = {
    "--help": "prints", "--lint": "`make check` runs it", "--unlock": "needs a run that was killed: test_resilience.py",
    "--report": "tests/workflow/test_both_snakefiles.py runs it",
}  # fmt: skip
# files of the user's own, which a document names as an example: a plan that misses nothing else is right
OWN = re.compile(r"(?:mine|persons)\.csv\.gz|psam_p\d\d\.csv|sa[12]\.parquet|areas\.csv|\.\./earlier/src")
# packages that a document installs in an environment of their own, as they ask for other versions than the lock
APART = ("gconfid==2.0.4",)
BUYERS = "education,Low,Medium\nAlpha,0.4,0.6\nBeta,0.2,0.8\n"
PATIENTS = "clinic,women,men,Total\nNorth,*,4,7\nSouth,5,*,9\nTotal,8,8,16\n"
PEOPLE = "sex,age,smokes\nf,old,no\nf,young,yes\nm,old,no\nm,old,yes\n"
PROGRAM = """NAME one
ROWS
 N  obj
 E  c1
 E  c2
COLUMNS
    MARKER  'MARKER'  'INTORG'
    x  obj  1  c1  1
    x  c2  1
    y  c1  1  c2  -1
    MARKER  'MARKER'  'INTEND'
RHS
    RHS  c1  1  c2  1
BOUNDS
 UP BND  x  3
 UP BND  y  3
ENDATA
"""


def those_of(program: str) -> list[Printed]:
    return [one for one in COMMANDS if one.words[0] == program]


def said(wrong: dict[Printed, str]) -> str:
    return "\n".join(f"{one.where}: {one.text}: {why}" for one, why in wrong.items())


@pytest.fixture(scope="module")
def known() -> argparse.ArgumentParser:
    return parser()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files that examples name, small."""
    for name in ("examples", "data", "config"):
        shutil.copytree(ROOT / name, tmp_path / name)
    for path in tmp_path.glob("examples/*/release.yaml"):  # the search for cells to withhold may take a minute each
        text = path.read_text()
        path.write_text(
            text.replace("search: {", "search: {seconds: 1, ") if "search: {" in text else text + "search: {seconds: 1}\n"
        )
    for name in ("people.csv", "release.yaml"):
        shutil.copy(tmp_path / "examples" / "health_survey" / name, tmp_path / name)
    shutil.copy(ROOT / "data/cellbounds/table2.csv", tmp_path / "counts.csv")
    (tmp_path / "tables").mkdir()
    for name in ("patients.csv", "a.csv", "b.csv", "tables/one.csv"):
        (tmp_path / name).write_text(PATIENTS)
    for name in ("tables.xlsx", "report.xlsx"):
        pd.read_csv(tmp_path / "patients.csv").to_excel(tmp_path / name, index=False)
    (tmp_path / "table.csv").write_text(BUYERS)
    (tmp_path / "bounds").mkdir()
    (tmp_path / "bounds/people.csv").write_text(PEOPLE)
    frame = pd.read_csv(tmp_path / "bounds/people.csv")
    for one, other in (("sex", "age"), ("age", "smokes")):
        frame.groupby([one, other]).size().rename("count").reset_index().to_csv(tmp_path / f"{one}_{other}.csv", index=False)
    (tmp_path / "program.mps").write_text(PROGRAM)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_program_is_one_that_is_tried_here() -> None:
    assert {one.words[0] for one in COMMANDS} == {"genverify", "snakemake", "make", "pip", "python"}
    assert len(COMMANDS) > 200


def test_the_lists_of_what_is_only_parsed_name_nothing_else() -> None:
    assert set(PARSED) <= NAMES
    assert all(PARSED.values())
    assert all(UNPLANNED.values())


def test_every_command_of_genverify_can_be_typed(known: argparse.ArgumentParser, capsys: pytest.CaptureFixture[str]) -> None:
    """On a line of its own it parses; within a sentence, which may leave out what is given, its options are known."""
    (choices,) = (action.choices for action in known._actions if isinstance(action, argparse._SubParsersAction))
    wrong: dict[Printed, str] = {}
    for one in those_of("genverify"):
        words = with_new_name([word.rstrip(".") for word in one.words[1:]])
        try:
            known.parse_args(with_values([word for word in words if word]))
        except SystemExit as end:
            why = capsys.readouterr().err
            own = choices.get(words[0]) if words else None
            options = [word.partition("=")[0] for word in words if word.startswith("--")]
            missing = own is not None and all(option in own._option_string_actions for option in options)
            partly = missing and re.search("arguments are required|expected (one|at least one|\\d) argument", why)
            if end.code and (one.whole or not partly):
                wrong[one] = why.strip().splitlines()[-1] if why else str(end.code)
    assert not wrong, said(wrong)


def test_every_cheap_command_of_genverify_runs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In a folder with the files of the examples: no error but what the document shows; the answer may be no."""
    wrong: dict[Printed, str] = {}
    ran: set[tuple[str, ...]] = set()
    for one in those_of("genverify"):
        words = one.words[1:]
        if words[0] in PARSED and "--help" not in words:
            continue
        if words[0] == "bounds" and "people.csv" in words:
            words = [word.replace("people.csv", "bounds/people.csv") for word in words]
        if "FOLDER" in words or (
            words[0] in NAMES and not one.whole and len(words) == 1 and words[0] not in ("page", "modules")
        ):
            continue  # a name in a sentence
        if not one.whole and len(words) == 2 and words[1].startswith("--") and words[1] != "--help":
            continue  # a name with an option, in a sentence
        if any(word in UNRUN for word in words) or words[:2] in (
            ["disclose", "tables.xlsx"],
            ["protect", "tables.xlsx"],
            ["what-if", "tables.xlsx"],
        ):
            continue
        if tuple(words) in ran:
            continue
        try:
            status = main([*words, *(["--force"] if words[0] == "page" else [])])
        except SystemExit as end:
            status = int(end.code or 0)
        ran.add(tuple(words))
        why = capsys.readouterr().err
        if "none.csv" in words:  # the document shows this mistake
            assert status == 2
        elif status > 1 or (status and re.search(r"^\w+(Error|Extra): ", why, re.MULTILINE)):
            wrong[one] = f"exit code {status}: {why}"
    assert not wrong, said(wrong)
    assert len(ran) > 15


def test_every_command_of_snakemake_plans_its_jobs(tmp_path: Path) -> None:
    """Targets of the same options are planned together; a file of the user's own may be missing, and nothing else."""
    own = tmp_path / "mine.yaml"
    own.write_text("seed: 2\n")
    wrong: dict[Printed, str] = {}
    together: dict[tuple[str, ...], dict[str, Printed]] = {}
    for one in those_of("snakemake"):
        words = [str(own) if word in ("mine.yaml", "earlier.yaml") else word for word in one.words[1:]]
        words = [word.replace("{variant}", "paper") for word in words if word.strip("{}.")]
        words = [word.replace("=no_h12", "=no_ones") for word in words]  # the line before it in the document writes no_h12
        words = words[:-1] if words and words[-1] in ("--configfile", "--force", "--directory") else words
        try:
            options = get_argument_parser().parse_args([word for word in words if word != "--help"])
        except SystemExit:
            wrong[one] = "Snakemake does not know these words"
            continue
        if set(words) & UNPLANNED.keys():
            continue
        given = [f"--configfile={file}" for file in options.configfile or ()]
        given += [f"--config={' '.join(options.config)}"] if options.config else []
        if options.workflow_profile and "mine" not in str(options.workflow_profile):
            assert (ROOT / options.workflow_profile / "config.yaml").exists(), one
        together.setdefault(tuple(given), {}).update(dict.fromkeys(options.targets or ["all"], one))
    for given, targets in together.items():
        why = plan(list(targets), given)
        for target, one in targets.items() if why else ():
            if alone := plan([target], given):
                wrong[one] = alone
    assert not wrong, said(wrong)


def plan(targets: list[str], given: tuple[str, ...]) -> str:
    """Why Snakemake does not plan these targets; empty where it does, or where only files of the user's own are missing."""
    words = list[str]()
    for option, _, value in (text.partition("=") for text in given):
        words += [option, *(shlex.split(value) if option == "--config" and '"' not in value else [value])]
    try:
        dry_run(*targets, *words)
        return ""
    except AssertionError as error:
        text = str(error)
    missing = re.search(r"Missing input files.*?affected files:\n((?: +\S+\n)+)", text, re.DOTALL)
    if (
        missing and all(OWN.search(path) for path in missing[1].split())
    ) or "is not set: give the paths of your files" in text:
        return ""
    return text[-600:]


def test_every_target_of_make_is_one() -> None:
    text = (ROOT / "Makefile").read_text()
    rules = {name for names in re.findall(r"^([\w%/ ]+):(?!=)", text, re.MULTILINE) for name in names.split()}
    wrong = {}
    for one in those_of("make"):
        for target in one.words[1:]:
            if target not in rules and not any(target.startswith(rule[:-1]) for rule in rules if rule.endswith("/%")):
                wrong[one] = f"no rule for {target}"
    assert not wrong, said(wrong)


def test_what_pip_is_told_to_install_is_there() -> None:
    """
    The project is on no package index: a document installs the copy of the repository, or wheels at hand; where it is
    installed already, as whoever reads a message has it, its name with an extra adds what the extra brings.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    others = {re.split(r"[<>=\[]", line)[0] for lines in extras.values() for line in lines}
    wrong: dict[Printed, str] = {}
    for one in those_of("pip"):
        for word in one.words[2:]:
            named = re.fullmatch(r"(\.|genverify)(?:\[([\w{}]+)\])?", word)
            if named:
                first = one.where.endswith((".md", ".R")) and "--find-links" not in one.text and "{" not in word
                installed = "is installed, `pip" in (ROOT / one.where).read_text()
                if (named[2] or "site") not in (*extras, "{}") or (named[1] == "genverify" and first and not installed):
                    wrong[one] = "cannot be installed so"
            elif word not in (*others, *APART) and not word.startswith("-") and word != "wheels":
                wrong[one] = f"{word} is no package that the project names"
    assert not wrong, said(wrong)


def test_what_python_is_told_to_run_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    wrong: dict[Printed, str] = {}
    for one in those_of("python"):
        first, *rest = one.words[1:]
        if first == "-m" and rest[0] == "genverify":
            if len(rest) > 1 and rest[1] not in NAMES:
                wrong[one] = "no such command"
        elif first == "-m" and rest[0] != "venv":
            wrong[one] = "not tried here"
        elif first != "-m" and not (ROOT / first).is_file():
            wrong[one] = "no such file"
    assert not wrong, said(wrong)


def test_words_of_documents_are_split_as_a_shell_does() -> None:
    one = Printed("here", "env/bin/genverify disclose t.csv --mark '-=0' --quiet && echo publish")
    assert one.words == ["genverify", "disclose", "t.csv", "--mark", "-=0", "--quiet"]
    assert shlex.split(one.text)[0] == "env/bin/genverify"
