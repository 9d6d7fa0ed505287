// The threads of this page: one reads, with Python, and one links, solves and checks. Here, nothing is computed.
import { unpacked } from "./packed.js";
import { Problem } from "./problem.js";
import { WORDS } from "./words.js";

const textOf = (id) => document.getElementById(id).textContent;

/** A thread: begun when it is first asked, asked one thing after the other, ended, and begun again. */
class Thread {
  constructor(name, code, given) {
    Object.assign(this, { name, code, given, worker: null, waiting: new Map(), last: 0 });
  }

  /** Begin: the thread's code, and the parts of the page that it unpacks itself. */
  async begin() {
    this.worker ??= this.begun();
    return this.worker;
  }

  async begun() {
    const address = URL.createObjectURL(new Blob(await this.code(), { type: "text/javascript" })),
      own = new Worker(address);
    own.onmessage = ({ data }) => this.hear(data);
    own.onerror = (event) => this.fail(new Problem(WORDS.threadFailed(this.name, event.message)));
    own.postMessage(Object.fromEntries(this.given.map((id) => [id, textOf(id)])));
    return own;
  }

  hear({ number, found, problem, refused, places, fatal, done, of }) {
    const asked = this.waiting.get(number);
    if (!asked) return;
    if (done !== undefined) return asked.say(done, of);
    this.waiting.delete(number);
    if (problem !== undefined) asked.reject(Object.assign(new Problem(problem), { refused, places }));
    else asked.resolve(found);
    if (fatal) this.stop();
  }

  /** What the thread answers; `say` hears how far it is. */
  async ask(question, say = () => {}) {
    const number = ++this.last,
      answer = new Promise((resolve, reject) => this.waiting.set(number, { resolve, reject, say }));
    const mine = this.begin();
    const own = await mine.catch((error) => this.fail(new Problem(WORDS.threadNotStarted(this.name, error.message))));
    own?.postMessage({ ...question, number });
    return answer;
  }

  fail(error) {
    for (const { reject } of this.waiting.values()) reject(error);
    this.waiting.clear();
  }

  /** End the thread; the next question begins another. */
  async stop() {
    const own = this.worker;
    this.worker = null;
    this.fail(new Problem(WORDS.stopped));
    (await own?.catch(() => null))?.terminate();
  }
}

export const reader = new Thread("reader", async () => [await unpacked(textOf("loader")), "\n", textOf("reader")], [
  "python",
  "library",
  "sources",
]);
export const solver = new Thread("solver", async () => [textOf("solver")], ["wasm"]);
