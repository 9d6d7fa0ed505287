"""Small synthetic tables in the shapes of real releases, each read by eye: cells of each kind, and what adds up to what."""

from pathlib import Path

import openpyxl
import pytest

from genverify.reading.reading import read
from genverify.reading.source import read_source

# name: (text, (tables, counts, symbols, statistics, cells left out), sums)
SHAPES: dict[str, tuple[str, tuple[int, int, int, int, int], list[str]]] = {
    "two_headers.csv": (
        """Table 3: Pupils by sex and age

,Boys,,,Girls,,
District,Under 5,5 to 10,All boys,Under 5,5 to 10,All girls
Alder,12,34,46,11,[c],[c]
Birch,[c],25,[c],14,20,34
Cedar,31,22,53,8,9,17
All districts,[c],81,[c],33,[c],[c]

[c] = confidential
Source: school census""",
        (1, 16, 8, 0, 0),
        ["All districts = Alder + Birch + Cedar"],
    ),
    "totals_first.csv": (
        """Region;Insgesamt;männlich;weiblich
Insgesamt;1.234;600;634
Nord;500;250;250
Süd;.;.;100
Ost;334;150;184
West;.;.;100""",
        (1, 11, 4, 0, 0),
        ["Insgesamt = Nord + Süd + Ost + West", "Insgesamt = männlich + weiblich"],
    ),
    "stacked.csv": (
        """Characteristic,n,%
Total,200,100.0
Sex,,
Male,90,45.0
Female,110,55.0
Age,,
18-39,*,30.0
40-64,80,40.0
65+,*,30.0""",
        (1, 4, 2, 6, 0),
        ["Total = Male + Female"],
    ),
    "codes.csv": (
        """code,name,2021,2022
01,Farming,120,130
02,Mining,c,c
03,Trade,400,410
TOT,Total,545,570""",
        (1, 6, 2, 0, 0),
        ["Total = Farming + Mining + Trade"],
    ),
    "ranges.csv": (
        """Ward,0-4,5-9,10+,Total
A,<5,10,20,33
B,7,<5,12,22
C,3,4,5,12
Total,13,17,37,67""",
        (1, 14, 2, 0, 0),
        ["Total = A + B + C", "Total = 0-4 + 5-9 + 10+"],
    ),
    "european.csv": (
        """Gemeinde;Fälle;Anteil in %
A;1.200;12,5
B;3.400;35,4
C;-;0,0
D;5.000;52,1
Zusammen;9.600;100,0""",
        (1, 4, 1, 5, 0),
        ["Zusammen = A + B + C + D"],
    ),
    "spaces.csv": (
        """Kommun;Män;Kvinnor;Totalt
Eka;1 234;1 300;2 534
Berg;..;..;800
Dal;2 000;2 100;4 100
Riket;3 634;3 800;7 434""",
        (1, 10, 2, 0, 0),
        ["Riket = Eka + Berg + Dal", "Totalt = Män + Kvinnor"],
    ),
    "sdmx.csv": (
        """DATAFLOW,FREQ,REF_AREA,SEX,TIME_PERIOD,OBS_VALUE,OBS_STATUS,CONF_STATUS
X:Y(1.0),A,DE,M,2020,10,A,F
X:Y(1.0),A,DE,F,2020,,A,C
X:Y(1.0),A,DE,_T,2020,25,A,F
X:Y(1.0),A,FR,M,2020,7,A,F
X:Y(1.0),A,FR,F,2020,8,A,F
X:Y(1.0),A,FR,_T,2020,15,A,F
X:Y(1.0),A,IT,M,2020,9,A,F
X:Y(1.0),A,IT,F,2020,6,A,F
X:Y(1.0),A,IT,_T,2020,15,A,F""",
        (1, 8, 1, 0, 0),
        ["_T = M + F"],
    ),
    "tidy_measures.csv": (
        """year,area,measure,value
2020,North,Number of cases,12
2020,North,Percentage,40.0
2020,South,Number of cases,x
2020,South,Percentage,60.0
2020,All,Number of cases,30
2020,All,Percentage,100.0
2021,North,Number of cases,10
2021,North,Percentage,33.3
2021,South,Number of cases,20
2021,South,Percentage,66.7
2021,All,Number of cases,30
2021,All,Percentage,100.0""",
        (1, 5, 1, 6, 0),
        ["All = North + South"],
    ),
    "two_tables.csv": (
        """Table 1 Deaths by sex
Sex,2020,2021
Men,20,25
Women,*,30
Total,45,55

Table 2 Deaths by place
Place,2020,2021
Home,15,20
Hospital,30,35
Total,45,55
Note: * suppressed""",
        (2, 11, 1, 0, 0),
        ["Total = Men + Women", "Total = Home + Hospital"],
    ),
    "legend_bottom.tsv": (
        """Area	A1	A2	Total
X	5	..	9
Y	6	7	13
Z	1	..	8
Total	12	18	30

..	not available for confidentiality""",
        (1, 10, 2, 0, 0),
        ["Total = X + Y + Z", "Total = A1 + A2"],
    ),
    "subtotals.csv": (
        """Industry,Jobs
Agriculture,50
Forestry,20
Primary subtotal,70
Steel,100
Cars,D
Manufacturing subtotal,180
Total,250""",
        (1, 6, 1, 0, 0),
        [],
    ),
    "mixed.csv": (
        """Group,Cases (%),Controls (%)
Yes,12 (24%),20 (40%)
No,38 (76%),30 (60%)
Total,50 (100%),50 (100%)""",
        (1, 6, 0, 0, 0),
        ["Total = Yes + No"],
    ),
    "year_blocks.csv": (
        """Year,Area,Men,Women,Total
2020,North,10,12,22
,South,*,*,18
,Total,19,21,40
2021,North,11,13,24
,South,9,7,16
,Total,20,20,40""",
        (1, 16, 2, 0, 0),
        ["Total = North + South", "Total = Men + Women"],
    ),
    "rates.csv": (
        """Hospital,Admissions,Deaths,Deaths per 1000 admissions
A,2000,12,6.0
B,1500,<5,2.0
C,800,8,10.0
All,4300,23,5.3""",
        (1, 7, 1, 4, 0),
        ["All = A + B + C"],
    ),
    "income.csv": (
        """Income band,Households
Under 10000,40
10000-19999,s
20000-29999,55
30000 and over,s
All households,160""",
        (1, 3, 2, 0, 0),
        [],
    ),
    "blank_hidden.csv": (
        """Area,Count
A,12
B,
C,9
Total,25""",
        (1, 3, 0, 0, 0),
        ["Total = A + B + C"],
    ),
    "multiresponse.csv": (
        """Reason (more than one possible),Persons
Cost,50
Time,40
Health,c
All persons asked,80""",
        (1, 3, 1, 0, 0),
        [],
    ),
    "cube.px": (
        """AXIS-VERSION="2000";TITLE="People by sex and area";UNITS="persons";STUB="area";HEADING="sex";
VALUES("area")="Total","N","S","W";VALUES("sex")="Total","M","F";ELIMINATION("sex")="Total";DATASYMBOL2="confidential";DATA=
30 14 16
10 ".." ".."
12 6 6
8 ".." "..";""",
        (1, 8, 4, 0, 0),
        ["Total = N + S + W", "Total = M + F"],
    ),
    "total_cols_left.csv": (
        """Local authority,All people,White,Asian,Black,Mixed,Other
A,1000,800,100,50,c,c
B,2000,1500,300,100,60,40
C,500,490,c,c,0,0
Region,3500,2790,405,153,98,54""",
        (1, 20, 4, 0, 0),
        ["All people = White + Asian + Black + Mixed + Other"],
    ),
    "quarterly.csv": (
        """Quarter,Applications,Granted,Refused,Withdrawn
2022 Q1,100,60,30,10
2022 Q2,120,80,~,~
2022 Q3,90,50,35,5
2022 Q4,110,70,30,10
2022,420,260,~,~""",
        (1, 16, 4, 0, 0),
        [],
    ),
}


@pytest.mark.parametrize("name", SHAPES)
def test_a_shape_of_real_releases_is_read_as_by_eye(tmp_path: Path, name: str) -> None:
    text, numbers, sums = SHAPES[name]
    (tmp_path / name).write_text(text + "\n", encoding="utf-8")
    reading = read([read_source(tmp_path / name)])
    cells = reading.conservation
    assert reading.conserved
    assert (len(reading.tables), *(cells[word] for word in ("counts", "symbols", "statistics", "left out"))) == numbers
    trees = [own for table in reading.tables for axis in table.axes for own in axis.tree]
    assert [f"{parent} = {' + '.join(children)}" for parent, children in trees] == sums


def test_a_row_of_counts_in_steps_below_merged_headers_is_no_header(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    for row in (["Births"], ["Area", "2020", None, "2021", None], [None, "Boys", "Girls", "Boys", "Girls"],
                ["A", 5, 6, 7, 8], ["B", "*", 4, "*", 6], ["C", 9, 9, 9, 9], ["Total", 17, 19, 19, 23]):  # fmt: skip
        sheet.append(row)
    for merged in ("B2:C2", "D2:E2", "A2:A3"):
        sheet.merge_cells(merged)
    book.save(tmp_path / "t.xlsx")
    table = read([read_source(tmp_path / "t.xlsx")]).tables[0]
    assert (table.block.header, len(table.block.body)) == ((1, 2), 4)
    assert [own.label for own in table.counts] == ["2020 Boys", "2020 Girls", "2021 Boys", "2021 Girls"]
