// The thread that reads: Python, with the library's own reading. Everything that it loads stands in the page.
import { unpacked } from "../packed.js";

const NOWHERE = "https://nowhere.invalid/"; // Python's loader asks for its files below an address: they are given from here
let ready = null;

self.onmessage = async ({ data }) => {
  if (data.python) {
    ready = begun(data);
    return;
  }
  const { number, files, ...question } = data;
  try {
    const python = await ready;
    if (files) {
      python.clear();
      question.files = files.map(({ name, bytes }) => python.put(name.split(/[\\/]/).at(-1) || "table.csv", bytes));
    }
    self.postMessage({ number, ...JSON.parse(python.answer(JSON.stringify(question))) });
  } catch (error) {
    const lines = `${error?.message ?? error}`.trim().split("\n");
    const said = lines.findLast((line) => /^[\w.]+(Error|Exception)\b/.test(line)) ?? lines.at(-1);
    const fatal = error?.name !== "PythonError"; // then Python itself cannot go on, and another one is begun
    self.postMessage({ number, problem: `the reader failed: ${said}. Please report this with the table`, fatal });
  }
};

async function begun({ python, library, sources }) {
  const parts = { "pyodide.asm.wasm": unpacked(python), "python_stdlib.zip": unpacked(library) },
    texts = unpacked(sources);
  self.fetch = async (address) => {
    const part = await parts[`${address}`.replace(NOWHERE, "")];
    return new Response(part ?? null, { status: part ? 200 : 404, headers: { "Content-Type": "application/wasm" } });
  };
  const own = await self.loadPyodide({
    indexURL: NOWHERE,
    packageBaseUrl: NOWHERE,
    lockFileContents: JSON.stringify({ info: self.pythonInfo, packages: {} }),
    env: { HOME: "/home", PYTHONINSPECT: "", TZ: "UTC" },
  });
  for (const [path, text] of Object.entries(JSON.parse(new TextDecoder().decode(await texts)))) {
    own.FS.mkdirTree(`/own/${path}`.replace(/\/[^/]*$/, ""));
    own.FS.writeFile(`/own/${path}`, text);
  }
  own.runPython("import sys; sys.path.insert(0, '/own')");
  own.pyimport("stand_ins").begin();
  const module = own.pyimport("reader");
  return {
    clear: () => module.clear(),
    put: (name, bytes) => {
      own.FS.writeFile(`/tmp/files/${name}`, bytes);
      return name;
    },
    answer: (question) => module.answer(question),
  };
}
