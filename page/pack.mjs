// The part of Python's library that the reading needs, compiled: node pack.mjs SOURCES.json OUT.zip (build.py calls it).
// Everything that is imported while the page's reader starts and reads one small file of each form, and all encodings.
import { readFileSync, writeFileSync } from "node:fs";
import { loadPyodide } from "pyodide";

const [sources, out] = process.argv.slice(2);
const python = await loadPyodide();
for (const [path, text] of Object.entries(JSON.parse(readFileSync(sources, "utf-8")))) {
  python.FS.mkdirTree(`/own/${path}`.replace(/\/[^/]*$/, ""));
  python.FS.writeFile(`/own/${path}`, text);
}
const PACK = `
import importlib._bootstrap_external as external
import importlib.util, io, sys, zipfile
sys.path.insert(0, "/own")
import json, stand_ins
stand_ins.begin()
import reader
SAMPLES = {  # some modules are only imported when they are needed: one small file of each form is read
    "a.csv": b"area,a,b,Total\\nN,*,2.5%,3\\nS,2,1,3\\nTotal,4,2,6\\n", "b.csv": "\\u00e4,n\\nx,1\\ny,2\\n".encode("cp1252"),
    "c.px": b'CODEPAGE="iso-8859-1";STUB="sex";VALUES("sex")="m","f";DATA=1 2;',
    "d.json": b'{"value":[1,2],"dimension":{"id":["s"],"size":[2],"s":{"category":{"index":["m","f"]}}}}', "e.csv": b"",
}
book = io.BytesIO()
with zipfile.ZipFile(book, "w", zipfile.ZIP_DEFLATED) as packed:
    packed.writestr("content.xml", '<t:table xmlns:t="urn:oasis:names:tc:opendocument:xmlns:table:1.0" t:name="s"/>')
SAMPLES["f.ods"] = book.getvalue()
for name, data in SAMPLES.items():
    reader.clear()
    (reader.FOLDER / name).write_bytes(data)
    for words in ([], ["--total", "area=Total", "--symbol", "*=1-4"], ["--labels", "Z"]):
        found = json.loads(reader.answer(json.dumps({"ask": "read", "files": [name], "words": words})))
        if "found" in found and not words:
            reader.answer('{"ask": "system", "words": ["--symbol", "*=suppressed", "--allow-partial", ""]}')
            (reader.FOLDER / "r.yaml").write_text(found["found"]["reading_file"])
            reader.answer(json.dumps({"ask": "read", "files": ["r.yaml"], "words": []}))
zip = next(path for path in sys.path if path.endswith(".zip")) + "/"
wanted = {(getattr(own, "__file__", None) or "").removeprefix(zip) for own in list(sys.modules.values())}
held = io.BytesIO()
with zipfile.ZipFile(zip[:-1]) as whole, zipfile.ZipFile(held, "w", zipfile.ZIP_STORED) as packed:
    for name in sorted(whole.namelist()):
        if name.endswith(".py") and (name in wanted or name.startswith("encodings/")):
            text = whole.read(name)
            code = compile(text, name, "exec", dont_inherit=True, optimize=2)
            own = external._code_to_hash_pyc(code, importlib.util.source_hash(text), False)
            packed.writestr(zipfile.ZipInfo(name + "c", (1980, 1, 1, 0, 0, 0)), own)
`;
try {
  python.runPython(PACK);
} catch (error) {
  console.error(error.message); // without the loader's own code, a line of a megabyte
  process.exit(1);
}
writeFileSync(out, python.runPython("held.getvalue()").toJs());
