// The solver in a thread of its own: it is sent a system and sends back statements with proofs, which the page checks.
import { cheapestMove } from "./move.js";
import { allRanges } from "./parts.js";

let ready = null;

self.onmessage = async ({ data }) => {
  if (data.wasm) {
    ready = started(data.wasm);
    return;
  }
  try {
    self.postMessage({ found: data.move ? freed(await ready, data.move) : solved(await ready, data) });
  } catch (error) {
    self.postMessage({ error: `the solver failed: ${error?.message ?? error}` });
  }
};

/** The solver from the bytes of its program: the package itself would look for a file. */
function started(bytes) {
  return new Promise((resolve, reject) => {
    const instantiateWasm = (imports, done) => {
      WebAssembly.instantiate(bytes, imports).then(({ instance }) => done(instance), reject);
      return {};
    };
    self.Module({ instantiateWasm }).then(resolve, reject);
  });
}

function solved(highs, { sums, wanted, seconds }) {
  let last = performance.now();
  return allRanges(highs, sums, new Set(wanted), seconds, (done, of) => {
    if (performance.now() - last < 200) return;
    last = performance.now();
    self.postMessage({ done, of });
  });
}

/** For every target the cells that would let it move; those chosen for one are withheld for the next. */
function freed(highs, { sums, x, fixed, open, targets, seconds }) {
  const left = new Set(fixed),
    added = new Set(open),
    stuck = [],
    deadline = performance.now() + 1000 * seconds;
  for (const target of targets) {
    const rest = (deadline - performance.now()) / 1000;
    const cells = rest > 0 ? cheapestMove(highs, sums, x, left, added, target, Math.min(rest, 10)) : [];
    if (cells === null) stuck.push(target);
    else
      cells.forEach((cell) => {
        left.delete(cell);
        added.add(cell);
      });
  }
  return { added: [...added], stuck };
}
