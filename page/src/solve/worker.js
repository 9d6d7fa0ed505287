// The thread that links, solves and checks: it is sent the tables of a reading and sends back a checked answer.
import { TASKS } from "../audit.js";
import { CertificateError, checkSums } from "../check.js";
import { unpacked } from "../packed.js";
import { Problem } from "../problem.js";
import { WORDS } from "../words.js";
import { begin } from "./highs.js";

self.onmessage = async ({ data }) => {
  if (data.wasm) {
    begin(unpacked(data.wasm));
    return;
  }
  const { number, ask, ...question } = data;
  try {
    const work = ask === "check" ? ({ sums, statements }) => checkSums(sums, statements) : TASKS[ask];
    self.postMessage({ number, found: await work(question, (done, of) => self.postMessage({ number, done, of })) });
  } catch (error) {
    const refused = error instanceof CertificateError;
    const said = refused || error instanceof Problem ? error.message : WORDS.solverFailed(error?.message ?? error);
    self.postMessage({ number, problem: said, refused, places: error?.places });
  }
};
