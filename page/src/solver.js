// The page's side of the solver: unpack it, start its thread, ask it, stop it.
import { Problem } from "./problem.js";

let thread = null,
  giveUp = () => {};

/** Bytes of a packed part of this page. */
async function unpacked(id) {
  const packed = Uint8Array.from(atob(document.getElementById(id).textContent.trim()), (char) => char.charCodeAt(0));
  return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

async function started() {
  const source = new Blob([document.getElementById("solver").textContent], { type: "text/javascript" });
  const address = URL.createObjectURL(source),
    own = new Worker(address);
  own.postMessage({ wasm: await unpacked("wasm") });
  URL.revokeObjectURL(address);
  return own;
}

/** What the solver finds of some cells of a system; `say` is told how far it is. */
export const solve = (sums, wanted, seconds, say) => asked({ sums, wanted, seconds }, say);

/** Printed cells that would let some cells take other values, by the solver: `{ added, stuck }`. */
export const movesOf = (move) => asked({ move });

async function asked(question, say = () => {}) {
  thread ??= started();
  const mine = thread;
  const own = await mine.catch((error) => {
    thread = null;
    throw new Problem(`the solver cannot be started in this browser: ${error.message}`);
  });
  if (thread !== mine) throw new Problem("stopped");
  return new Promise((resolve, reject) => {
    giveUp = () => reject(new Problem("stopped"));
    own.onerror = (event) => reject(new Problem(`the solver failed: ${event.message}`));
    own.onmessage = ({ data }) => {
      if (data.found) resolve(data.found);
      else if (data.error) reject(new Problem(data.error));
      else say(data.done, data.of);
    };
    own.postMessage(question);
  });
}

/** End the thread; the next question starts another. */
export async function stop() {
  const own = thread;
  thread = null;
  giveUp();
  (await own?.catch(() => null))?.terminate();
}
