// The solver: HiGHS, begun from the bytes of its program; what it says is only used with a proof that is checked.
import { cheapestMove } from "./move.js";
import { allRanges } from "./parts.js";

let ready = null;

/** Begin the solver from the bytes of its program: the package itself would look for a file. */
export function begin(bytes, module = self.Module) {
  ready = bytes.then(
    (own) =>
      new Promise((resolve, reject) => {
        const instantiateWasm = (imports, done) => {
          WebAssembly.instantiate(own, imports).then(({ instance }) => done(instance), reject);
          return {};
        };
        module({ instantiateWasm }).then(resolve, reject);
      }),
  );
}

/** What the solver finds of some cells of a system; `say` is told how far it is. */
export async function solve(sums, wanted, seconds, say = () => {}) {
  let last = performance.now();
  return allRanges(await ready, sums, new Set(wanted), seconds, (done, of) => {
    if (performance.now() - last < 200) return;
    last = performance.now();
    say(done, of);
  });
}

/** Printed cells that would let some cells take other values; those chosen for one are suppressed for the next. */
export async function movesOf({ sums, x, fixed, open, targets, seconds }) {
  const left = new Set(fixed),
    added = new Set(open),
    stuck = [],
    deadline = performance.now() + 1000 * seconds,
    highs = await ready;
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
