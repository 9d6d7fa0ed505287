"""Tables in the shapes that people print them in, some of them malformed: titles, sections, spans, bands, tidy, sizes."""

# the marks that stand in a table and say nothing by themselves: a mark that is told and never met is an error
MARKED: dict[str, tuple[str, ...]] = {
    "Age,Sex,count\n0-14,f,3\n0-14,m,4\n15+,f,5\n15+,m,*\nTotal,f,8\nTotal,m,\n": ("blank", "*"),
    "DATAFLOW,Age,Sex,OBS_VALUE,CONF_STATUS\nX,0-14,f,3,F\nX,0-14,m,,C\nX,15+,f,4,F\nX,15+,m,5,F\n": ("status C",),
    "sex,count,status\nf,3,\nm,,C\nTotal,7,\n": ("status C",),
    "g\ta\tb\nx\t1\t2\ny\t\t4\n": ("blank",),
}
PLAIN = [
    "Age,Women,Men,Total\nyoung,3,4,7\nold,6,9,15\nTotal,9,13,22\n",
    "Patients by age\n\nAge;Women;Men;Total\nyoung;1 200;4;1 204\nold;6;9;15\nTotal;1 206;13;1 219\nSource: made up\n",
    "Title here,,,\nAge,Sex,,\n,Women,Men,Both sexes\nyoung,3,4,7\nold,6,9,15\nAll ages,9,13,22\n",
    ",Women,,Men,\nAge,n,%,n,%\nyoung,3,43%,4,57%\nold,6,40%,9,60%\n",
    'Characteristic,"Drug A, N = 98","Drug B, N = 102"\nAge,,\nyoung,46 (47%),50 (49%)\nold,52 (53%),52 (51%)\n'
    "Grade,,\nI,35 (36%),33 (32%)\nII,32 (33%),36 (35%)\nIII,31 (32%),33 (32%)\n",
    'age,n\n0-4,"1,200"\n5-9,"1,300"\n0-9,"2,500"\n10+,500\nTotal,"3,000"\n',
    "region,age,Men,Women\nA,young,1,2\n,old,3,4\n,Total,4,6\nB,young,1,1\n,old,2,2\n,Total,3,3\n"
    "Total,young,2,3\n,old,5,6\n,Total,7,9\n",
    "x,a,b,c\nr1,1,2,3\nr2,2,2,4\nr3,3,1,4\nr4,6,5,11\n",
    "Tenure,n1,n2\nOwned outright,3,4\nOwned with mortgage,5,6\nTotal owned,8,10\nRented,1,2\nTotal,9,12\n",
    "Age\\Sex,f,m\n0-4,1,2\n5-9,3,4\n0-9,4,6\n10 and over,2,2\n",
    "a,b\nx,1\ny,2\n\n\nc,d,e\nx,1,2\ny,3,4\n",
    "table,sex,count\nt1,f,3\nt1,m,4\nt2,f,3\nt2,m,4\n",
    "sex,yes,no\nf*,3,4\nm [1],5,6\nTotal,8,10\n[1] with a footnote,,\n",
    "rows,yes,no\nf,3,4\nm,5,6\n\ncolumns,u,v\nyes,4,4\nno,5,5\n",
    "a|b|c|Total\nx|1|2|3\ny|4|5|9\n",
    "a;b,5;c\nx;1;2\ny;3;4\n",
    "x,a,b\nr1,1.5,2\nr2,3,4\n",
    "x,a,b\nr1,1e5,2\n",
    "only\n",
    "",
    "a,b\n1,2\n3,4\n",
    "Age,Women,Men\nyoung,<5,>=3\nold,6,9\nTotal,under 20,at least 5\n",
    "area,2019,2020\nA,10,12\nB,5,6\nTotal,15,18\n",
    "Year,A,B\n2019,10,5\n2020,12,6\nTotal,22,11\n",
    "g,all,a,b\nx,3,1,2\ny,9,4,5\nz,7,3,4\n",
    "g,a,b\nTotal,3,3\nx,1,1\ny,2,2\n",
    "sex,f,m\nyes,1,2\nno,3,4\n\nage,yes,no\nyoung,2,3\nold,1,4\n",
    "g,Under 18,18 to 64,65+,Total\nx,1,2,3,6\ny,1,1,1,3\n",
    "\ufeffg,a,b\nx,1,2\ny,3,4\n",
    'g,"a ""q""",b\nx,1,2\ny,"3",4\n',
    "g,a,b\r\nx,1,2\r\ny,3,4\r\n",
    "Age,Women,Men,Total\nyoung,3,4,7\nold,6,9,15\nTotal,9,13,22\nTotal,9,13,22\n",
    "g,a,b,Total,Grand total\nx,1,2,3,3\ny,1,2,3,3\n",
]
SHAPES = dict.fromkeys(PLAIN, tuple[str, ...]()) | MARKED
