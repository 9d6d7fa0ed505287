"""The habits of this repository, as tests."""

import ast
import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeGuard

import pytest

from genverify.run.code import find_script, reached
from genverify.run.config import parse_config, read_shipped
from genverify.run.layout import load
from genverify.run.provenance.records import Stages
from genverify.run.registry import Study, commands, proof_kinds, stage_files, studies
from script_jobs import lines_of

ROOT = Path(__file__).parents[2]
STAGES = sorted((ROOT / "workflow").rglob("*.smk"))
SCRIPTS = sorted((ROOT / "scripts").rglob("*.py"))
MODULES = sorted((ROOT / "src").rglob("*.py"))


class Rule(NamedTuple):
    """A rule as it stands in its file: its name and the text of its body."""

    name: str
    body: str

    def has(self, pattern: str) -> bool:
        return re.search(pattern, self.body, re.MULTILINE) is not None


def rules_of(path: Path) -> list[Rule]:
    """The rules of a file: from `rule name:` to the next line that is not indented."""
    found = re.findall(r"^(?:rule|checkpoint) (\w+):\n((?:[ \t]+.*\n|\n)+)", path.read_text() + "\n", re.MULTILINE)
    return [Rule(name, body) for name, body in found]


RULES = [rule for path in [ROOT / "Snakefile", *STAGES] for rule in rules_of(path)]
WORKING = [rule for rule in RULES if rule.has(r"^    output:")]
COMPARED = Stages([ROOT / "Snakefile", *STAGES], parse_config(read_shipped(ROOT)))
WITHOUT_OUTPUT = [rule for rule in RULES if rule not in WORKING and rule.has(r"^    script:")]
# writes into a folder that is kept with the code, where a file of a fresh clone would pass for newer than any result
KEEPING = [rule for rule in WITHOUT_OUTPUT if rule.name == "reference"]
LOOKING = [rule for rule in WITHOUT_OUTPUT if rule not in KEEPING]
# scripts of no study: the audit, the crate and the reference set; the explorer and exported proofs
SHARED_SCRIPTS = {"run", "show"}
COLLECTING = [rule for rule in RULES if rule not in WORKING and rule not in WITHOUT_OUTPUT]


def name_of(value: object) -> str:
    return value.name if isinstance(value, Path | Rule) else str(value)


def test_the_rules_were_found() -> None:
    names = {rule.name for rule in RULES}
    assert {"all", "ingest_microdata", "sample_blocks", "tabulate_release", "verify_claims", "plot_fig2"} <= names
    assert len(names) == len(RULES)
    everything = "".join(path.read_text() for path in [ROOT / "Snakefile", *STAGES])
    assert len(RULES) == len(re.findall(r"^\s*(?:rule|checkpoint)\b", everything, re.MULTILINE))


@pytest.mark.parametrize("rule", RULES, ids=name_of)
def test_a_rule_begins_with_what_it_does(rule: Rule) -> None:
    assert re.match(r'    """[A-Z].{10,}', rule.body)


@pytest.mark.parametrize("rule", WORKING, ids=name_of)
def test_a_rule_is_a_complete_sentence(rule: Rule) -> None:
    assert rule.has(rf'^        code=code_of\("{rule.name}"\),?$'), "the code is no setting"
    assert rule.has(r'^        record="[^"]+\.json",?$'), "no record among the outputs"
    assert rule.has(r"^    log:\n        \"logs/"), "no log"
    assert rule.has(r"^    benchmark:\n        \"benchmarks/"), "no benchmark"
    assert rule.has(r"^    conda:\n"), "no environment"
    assert rule.has(rf'^    script:\n        "(?:\.\./)+scripts/\w+/{rule.name}\.py"$'), "no script of its name"
    assert not rule.has(r"^    (run|shell|message):"), "not a script"
    assert not rule.has(r"\blambda\b"), "a lambda"


@pytest.mark.parametrize("rule", [*WORKING, *WITHOUT_OUTPUT], ids=name_of)
def test_inputs_outputs_and_params_are_named(rule: Rule) -> None:
    for section in ("input", "output", "params"):
        for block in re.findall(rf"^    {section}:\n((?:        .*\n)+)", rule.body, re.MULTILINE):
            entries = re.findall(r"^        (\S.*)$", block, re.MULTILINE)
            assert all(re.match(r"\w+=|[\])}]", entry) for entry in entries), (section, entries)


@pytest.mark.parametrize("rule", WORKING, ids=name_of)
def test_the_audit_knows_which_setting_a_parameter_comes_from(rule: Rule) -> None:
    """What the audit does not read of a rule, a change of it goes unseen."""
    params = "".join(re.findall(r"^    params:\n((?:        .*\n)+)", rule.body, re.MULTILINE))
    names = set(re.findall(r"^        (\w+)=", params, re.MULTILINE)) - {"code"}
    assert names == COMPARED.named(rule.name, "params").keys() - {"code"}


@pytest.mark.parametrize("rule", COLLECTING, ids=name_of)
def test_a_rule_without_script_only_collects_targets(rule: Rule) -> None:
    assert not rule.has(r"^    (output|shell|run|log):")
    assert rule.has(r"^    input:")


@pytest.mark.parametrize("rule", LOOKING, ids=name_of)
def test_a_rule_that_only_looks_makes_nothing_and_asks_for_nothing(rule: Rule) -> None:
    """Without inputs it makes no other job run; without outputs it always runs, and leaves no record and no benchmark."""
    assert rule.name in {"audit", "plan"}, "a new kind of rule: should it not leave a record of what it made?"
    assert not rule.has(r"^    input:")


@pytest.mark.parametrize("rule", WITHOUT_OUTPUT, ids=name_of)
def test_a_rule_without_output_always_runs_and_leaves_a_log(rule: Rule) -> None:
    assert not rule.has(r"^    (output|benchmark|shell|run|message):")
    assert not rule.has(r"\blambda\b")
    assert rule.has(r"^    log:\n        \"logs/")
    assert rule.has(r"^    conda:\n")
    assert rule.has(rf'^    script:\n        "(?:\.\./)+scripts/\w+/{rule.name}\.py"$')


def test_every_script_has_its_rule() -> None:
    assert {path.stem for path in SCRIPTS} == {rule.name for rule in [*WORKING, *WITHOUT_OUTPUT]}


@pytest.mark.parametrize("path", STAGES, ids=name_of)
def test_a_stage_opens_with_its_contract(path: Path) -> None:
    text = path.read_text()
    assert text.startswith('"""')
    if path.name != "common.smk":
        opening = text.split('"""')[1]
        assert opening.startswith("\nReads: ")
        assert "\nWrites: " in opening


def test_every_stage_is_included_once() -> None:
    """Those of studies are found in their folders, the others stand in the contents page."""
    included = re.findall(r'^include: "(workflow/[\w/]+\.smk)"$', (ROOT / "Snakefile").read_text(), re.MULTILINE)
    below = [
        str(path.with_name(name).relative_to(ROOT))
        for path in STAGES
        for name in re.findall(r'^include: "(\w+\.smk)"$', path.read_text(), re.MULTILINE)
    ]
    found = stage_files(ROOT / "workflow")
    assert sorted([*included, *below, *found]) == sorted(str(path.relative_to(ROOT)) for path in STAGES)
    assert included[0] == "workflow/common.smk"


def test_every_study_has_the_same_name_everywhere() -> None:
    """Its folder in workflow/, scripts/ and tests/ is called as that of its code; and the contents page tells of it."""
    names = {study.name for study in studies()}
    assert {path.parent.name for path in (ROOT / "src" / "studies").glob("*/*.py")} == names
    assert {path.parent.name for path in (ROOT / "workflow").glob("*/*.smk")} == names
    assert {path.parent.name for path in (ROOT / "scripts").glob("*/*.py")} == {*names, *SHARED_SCRIPTS}
    for place in ("tests/scripts", "tests/studies"):
        assert {path.parent.name for path in (ROOT / place).glob("*/*.py")} <= {*names, *SHARED_SCRIPTS}
    assert "for stage in stage_files(HERE):" in (ROOT / "Snakefile").read_text()


def test_no_two_stages_give_a_name_two_values() -> None:
    """All stages share their names: a second value would hold for whatever is included later."""
    assigned = Counter(
        name for path in STAGES for name in set(re.findall(r"^([A-Z_]{2,}) = ", path.read_text(), re.MULTILINE))
    )
    assert [name for name, times in assigned.items() if times > 1] == []


def test_what_every_stage_shares_is_short() -> None:
    assert len((ROOT / "workflow" / "common.smk").read_text().splitlines()) < 90


@pytest.mark.parametrize("path", SCRIPTS, ids=name_of)
def test_a_script_is_a_short_main(path: Path) -> None:
    tree = ast.parse(path.read_text())
    assert ast.get_docstring(tree)
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    main = functions["main"]
    assert (main.end_lineno or 0) - main.lineno < 25
    assert [argument.arg for argument in main.args.args] == ["job"]
    assert 'if __name__ == "__main__":\n    run(main, snakemake)' in path.read_text()


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT / "src")))
def test_a_module_says_what_it_is(path: Path) -> None:
    assert read_module(path).docstring


LAYOUT = ROOT / "src" / "genverify" / "run" / "layout.py"
FOLDERS = {"results", "figures", "logs", "benchmarks", *(p.name for p in ROOT.iterdir() if p.is_dir() and p.name[0] != ".")}
FOLDERS -= {"proofs"}  # the theorem in Coq, which no code opens; a variant's results have a folder of that name, too
NAMED = re.compile(rf"(?:\./)?(?:{'|'.join(sorted(FOLDERS))})/[^\s;]*|Snakefile|requirements\.lock|sources\.csv")
OPENING = {"Path", "open", "joinpath", "glob", "rglob", "read_parquet", "read_csv", "read_yaml", "files"}


def named_paths(tree: ast.AST) -> list[tuple[int, str]]:
    """Texts of a module that are paths of the repository: as a whole, or a folder's name where a path is put together."""
    nodes = list(ast.walk(tree))
    found = [node for node in nodes if is_text(node) and NAMED.fullmatch(node.value)]
    for node in nodes:
        joined = []
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            joined = [node.left, node.right]
        elif isinstance(node, ast.Call):
            called = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            joined = node.args if called in OPENING else []
        found += [part for part in joined if is_text(part) and (part.value in FOLDERS or "config.yaml" in part.value)]
    return [(node.lineno, node.value) for node in found]


class Module(NamedTuple):
    """What the tests ask of a module: its docstring, its imports from others (line, level, name), paths that it names."""

    docstring: str | None
    imports: list[tuple[int, int, str]]
    paths: list[tuple[int, str]]


@cache
def read_module(path: Path) -> Module:
    """One parse for all tests."""
    tree = ast.parse(path.read_text())
    imports = [(n.lineno, n.level, n.module or "") for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)]
    return Module(ast.get_docstring(tree), imports, named_paths(tree))


def is_text(node: ast.AST) -> TypeGuard[Any]:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


@pytest.mark.parametrize(
    "text",
    [
        'Path("results")', 'home / "logs"', 'x = "results/paper/claims.parquet"', 'f"results/raprank/survey/{task}"',
        'x = ("envs", "requirements.lock")', 'read_yaml(folder / "config.yaml")', 'open("data/census/domain.yaml")',
        'root.joinpath("config", name)', 'x = "data/housing"', 'x = "workflow/common.smk"',
    ],
)  # fmt: skip
def test_a_path_of_the_repository_is_seen(text: str) -> None:
    assert named_paths(ast.parse(text))


@pytest.mark.parametrize("text", ['row["data"]', 'x = "results"', 'say("see data/x.yaml for the form")', 'a / "proofs"'])
def test_what_is_no_path_of_the_repository_may_be_said(text: str) -> None:
    assert named_paths(ast.parse(text)) == []


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT / "src")))
def test_the_source_opens_no_path_of_the_repository(path: Path) -> None:
    """Paths come from the caller, run/layout.py or a study.py; a message may name one."""
    module = read_module(path)
    for line, level, name in module.imports:
        assert level == 0, f"line {line}: a relative import"
        assert name.split(".")[0] != "snakemake", f"line {line}: the library knows Snakemake"
    assert path == LAYOUT or path.name == "study.py" or module.paths == []


@pytest.mark.parametrize("study", studies(), ids=lambda study: study.name)
def test_what_a_study_registers_is_there(study: Study) -> None:
    single = [study.names, study.settings_check, study.files_check, study.possible, study.private, study.left_out]
    for name in [*filter(None, single), *study.settings.values()]:
        assert callable(load(study.absolute(name))), name


def test_the_proofs_and_commands_of_studies_are_there() -> None:
    kinds, groups = proof_kinds().values(), commands()
    assert {"tracts", "housing"} <= proof_kinds().keys()
    assert {"check-ppmf", "excluded", "check-housing", "estimate"} <= {name for group in groups for name in group.lines}
    for name in [*(kind.check for kind in kinds), *(kind.open for kind in kinds), *(group.add for group in groups)]:
        assert callable(load(name)), name


STAGES_OF_ATTACKS = [
    "generate_datasets",
    "verify_claims",
    "collect_claims",
    "rank_areas",
    "rank_release",
    "attack_protected",
    "attack_zeros",
    "attack_tracts",
    "decide_zeros",
    "search_zeros",
    "try_onehot",
    "attack_generator",
    "weigh_claims",
]


@pytest.mark.parametrize("stage", STAGES_OF_ATTACKS)
def test_the_stages_of_the_attack_are_given_no_microdata(stage: str) -> None:
    rule = next(rule for rule in RULES if rule.name == stage)
    assert "results/microdata" not in rule.body
    assert functions_of_the_country(find_script(ROOT / "scripts", stage)) == set()


def functions_of_the_country(script: Path) -> set[str]:
    """The functions of the country, which read private data, that a script can reach; what it says of blocks may be used."""
    found: set[str] = set()
    for file, pieces in reached(str(script)).items():
        if Path(file).is_relative_to(ROOT / "src" / "studies" / "country"):
            functions = [node for node in ast.parse(Path(file).read_text()).body if isinstance(node, ast.FunctionDef)]
            spans = [lines_of(file, piece) for piece in pieces or ()]
            found |= {node.name for node in functions if pieces is None or any(node.lineno in span for span in spans)}
    return found


def test_a_script_that_reads_microdata_is_seen() -> None:
    assert "read_microdata" in functions_of_the_country(find_script(ROOT / "scripts", "tabulate_release"))
