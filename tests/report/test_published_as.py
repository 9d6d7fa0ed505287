"""What other programs read about this one says the same everywhere: version, licence, authors, title, Python, packages."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
CITATION: dict[str, Any] = yaml.safe_load((ROOT / "CITATION.cff").read_text())
CODEMETA: dict[str, Any] = json.loads((ROOT / "codemeta.json").read_text())
ZENODO: dict[str, Any] = json.loads((ROOT / ".zenodo.json").read_text())
LOCK = "envs/requirements.lock"


def test_the_version_is_one() -> None:
    released = re.findall(r"^## (\d+\.\d+\.\d+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert {CITATION["version"], CODEMETA["version"], ZENODO["version"], released[0]} == {PROJECT["version"]}


def test_the_licence_is_one() -> None:
    assert PROJECT["license"] == {"file": "LICENSE"}
    assert (ROOT / "LICENSE").read_text().startswith(f"{CITATION['license']} License\n")
    assert CODEMETA["license"] == f"https://spdx.org/licenses/{CITATION['license']}"
    assert ZENODO["license"] == CITATION["license"]


def test_the_authors_are_the_same() -> None:
    authors = [author["name"] for author in CITATION["authors"]]
    assert [author["name"] for author in CODEMETA["author"]] == authors
    assert [creator["name"] for creator in ZENODO["creators"]] == authors
    assert all(author in (ROOT / "LICENSE").read_text() for author in authors)


def test_title_and_description_are_the_same() -> None:
    assert CODEMETA["name"] == ZENODO["title"] == CITATION["title"]
    assert CODEMETA["identifier"] == PROJECT["name"]
    assert CODEMETA["description"] == ZENODO["description"] == PROJECT["description"]
    assert CODEMETA["keywords"] == ZENODO["keywords"]


def test_the_papers_are_the_same() -> None:
    papers = CITATION["references"]
    assert [article["name"] for article in CODEMETA["isBasedOn"]] == [paper["title"] for paper in papers]
    named = [
        article["identifier"].removeprefix("https://doi.org/")
        for article in CODEMETA["isBasedOn"]
        if "identifier" in article
    ]
    assert named == [paper["doi"] for paper in papers if "doi" in paper]
    assert [paper["identifier"] for paper in ZENODO["related_identifiers"]] == named


def supported(version: str) -> bool:
    """Whether a version such as 3.13 lies within requires-python."""
    bounds = re.fullmatch(r">=3\.(\d+),<3\.(\d+)", PROJECT["requires-python"])
    assert bounds
    return int(bounds[1]) <= int(version.removeprefix("3.")) < int(bounds[2])


def test_the_tests_online_run_the_commands_of_the_readme() -> None:
    text = (ROOT / ".github" / "workflows" / "test.yml").read_text()
    job = yaml.safe_load(text)["jobs"]["test"]
    commands = [
        step["run"] for step in job["steps"] if step.get("run", "").startswith("make ")
    ]  # besides what apt-get installs
    readme = (ROOT / "README.md").read_text()
    assert commands == re.findall(r"^    (make \S+) +#", readme, re.MULTILINE)
    versions = job["strategy"]["matrix"]["python"]
    assert all(supported(version) for version in versions)
    assert not supported(f"3.{int(max(versions).removeprefix('3.')) + 1}"), "the newest Python that is supported is tried"
    assert all(re.fullmatch(r"[\w/-]+@v\d+", step["uses"]) for step in job["steps"] if "uses" in step)
    assert "secrets." not in text


@pytest.mark.parametrize(("path", "image"), [("Dockerfile", "FROM"), ("envs/apptainer.def", "From:")])
def test_a_container_is_made_from_the_lock(path: str, image: str) -> None:
    text = (ROOT / path).read_text()
    base = re.search(rf"^{image} python:(3\.\d+)-slim$", text, re.MULTILINE)
    assert base
    assert supported(base[1])
    assert LOCK in text
    installs = re.findall(r"pip install (.*)$", text, re.MULTILINE)
    assert installs
    assert all("--require-hashes" in words or "--no-deps" in words for words in installs), installs


def test_docker_runs_nothing_as_root() -> None:
    last = re.findall(r"^USER (\w+)$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)[-1]
    assert last != "root"
