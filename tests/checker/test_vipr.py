"""The VIPR checker: a certificate that can be followed by hand, and every kind of wrong step."""

from pathlib import Path
from zipfile import ZipFile

import pytest

from genverify.model.errors import DataError
from vipr_checker import ViprError, check_archive, check_vipr

# most of x + y with 2x + 2y <= 5, x and y whole: 2, by halving and rounding
ROUNDED = """% a comment, VER 7
%
VER 1.0
VAR 2
x y
INT 2
0 1
OBJ max
2 0 1 1 1
CON 3 2
lx G 0 1 0 1
ly G 0 1 1 1
c L 5 2 0 2 1 2
RTP range 2 2
SOL 1
one 2 0 1 1 1
DER 1
half L 2 OBJ { rnd 1 2 1/2 } -1
"""
# least of x with x >= 0
LEAST = """VER 1.0
VAR 1
x
INT 1
0
OBJ min
1 0 1
CON 1 1
lx G 0 1 0 1
RTP range 0 inf
SOL 0
DER 1
same G 0 OBJ { lin 1 0 1 } -1
"""
# no whole x has 2x = 1: either x <= 0 or x >= 1, and neither can be
CASES = """VER 1.0
VAR 1
x
INT 1
0
OBJ min
0
CON 1 0
odd E 1 1 0 2
RTP infeas
SOL 0
DER 5
low L 0 1 0 1 { asm } -1
high G 1 1 0 1 { asm } -1
a L -1 0 { lin 2 0 -1 1 2 } -1
b G 1 0 { lin 2 0 -1 2 2 } -1
none L -1 0 { uns 3 1 4 2 } -1
"""


def test_certificates_that_can_be_followed_by_hand() -> None:
    assert check_vipr(ROUNDED) == check_vipr(LEAST) == 1
    assert check_vipr(CASES) == 5


@pytest.mark.parametrize(
    ("text", "old", "new", "message"),
    [
        (ROUNDED, "VER 1.0\n", "VER 1.1\n", "1.0 is expected, not '1.1'"),
        (ROUNDED, "{ rnd", "{ lin", "half does not follow"),
        (ROUNDED, "1/2 }", "1/3 }", "not whole"),
        (ROUNDED, "1/2 }", "-1/2 }", "half does not follow"),
        (ROUNDED, "1/2 }", "1/0 }", "not a rational number"),
        (ROUNDED, "1/2 }", "1e9 }", "not a rational number"),
        (ROUNDED, "{ rnd 1 2 1/2 }", "{ rnd 2 2 1/2 2 1 }", "the index 2 is listed twice"),
        (ROUNDED, "{ rnd 1 2 1/2 }", "{ rnd 1 3 1/2 }", "out of range"),
        (ROUNDED, "{ rnd 1 2 1/2 }", "{ rnd 2 0 1 2 1/2 }", "senses of what is added up differ"),
        (ROUNDED, "half L 2 OBJ", "half L 1 OBJ", "half does not follow"),
        (ROUNDED, "half L 2 OBJ", "half L 3 OBJ", "does not follow|not what was to be proved"),
        (ROUNDED, "RTP range 2 2", "RTP range 2 1", "not what was to be proved"),
        (ROUNDED, "RTP range 2 2", "RTP range 3 2", "no solution reaches 3"),
        (ROUNDED, "RTP range 2 2", "RTP range 2 inf", "asks for no bound"),
        (ROUNDED, "RTP range 2 2", "RTP range inf 2", "inf to 2 holds no number"),
        (ROUNDED, "RTP range 2 2", "RTP range 2 -inf", "2 to -inf holds no number"),
        (LEAST, "RTP range 0 inf", "RTP range 0 -inf", "0 to -inf holds no number"),
        (ROUNDED, "one 2 0 1 1 1", "one 2 0 1 1 2", "the solution one does not fit c"),
        (ROUNDED, "one 2 0 1 1 1", "one 2 0 1/2 1 1", "the solution one is not whole"),
        (ROUNDED, "INT 2\n0 1", "INT 1\n0", "a variable is not whole"),
        (ROUNDED, "{ rnd 1 2 1/2 }", "{ asm }", "rests on the assumption half"),
        (ROUNDED, "x y", "x x", "two variables have one name"),
        (ROUNDED, "} -1", "} -1 more", "text after the derivation"),
        (ROUNDED, "DER 1\nhalf L 2 OBJ { rnd 1 2 1/2 } -1", "DER 0", "nothing is derived"),
        (ROUNDED, "lx G", "lx X", "L or E or G is expected"),
        (ROUNDED, "} -1\n", "", "is expected, not 'the end of the file'"),
        (ROUNDED, "{ rnd 1 2 1/2 }", "{ sol }", "no solution is as good|not what was to be proved"),
        (CASES, "{ uns 3 1 4 2 }", "{ uns 3 1 3 2 }", "rests on the assumption low"),
        (CASES, "high G 1", "high G 2", "not two cases"),
        (CASES, "high G 1 1 0 1", "high G 1 1 0 3", "does not follow|not two cases"),
        (CASES, "odd E 1", "odd E 2", "does not follow"),
        (CASES, "none L -1 0", "none L 0 0", "not what was to be proved"),
        (CASES, "DER 5", "DER 4", "text after the derivation"),
    ],
)
def test_a_wrong_certificate_is_refused(text: str, old: str, new: str, message: str) -> None:
    assert old in text
    with pytest.raises(ViprError, match=message):
        check_vipr(text.replace(old, new))


def test_assumptions_of_both_sides_remain() -> None:
    """A case whose second side rests on one more assumption than it takes back is not closed."""
    text = CASES.replace("DER 5", "DER 6").replace("a L -1", "more L 0 1 0 1 { asm } -1\na L -1")
    text = text.replace("{ lin 2 0 -1 1 2 }", "{ lin 2 0 -1 3 2 }").replace("{ uns 3 1 4 2 }", "{ uns 4 1 5 2 }")
    with pytest.raises(ViprError, match="rests on the assumption more"):
        check_vipr(text)


def test_files_folders_and_archives(tmp_path: Path) -> None:
    (tmp_path / "a.vipr").write_text(ROUNDED)
    with ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("x/a.vipr", ROUNDED)
        archive.writestr("x/b.vipr", CASES)
        archive.writestr("index.csv", "")
    assert check_archive(tmp_path / "a.vipr") == check_archive(tmp_path) == 1
    assert check_archive(tmp_path / "all.zip") == 2
    (tmp_path / "a.vipr").write_text(ROUNDED.replace("rnd", "lin"))
    with pytest.raises(ViprError, match=r"a\.vipr: not accepted: half does not follow"):
        check_archive(tmp_path)
    (tmp_path / "bad.zip").write_text("no archive")
    with pytest.raises(DataError, match="cannot be read"):
        check_archive(tmp_path / "bad.zip")
