// Which more cells to suppress, so that none of the suppressed ones can be worked out; intervals are then proved again.
import { attainedEnds, endsShown } from "./answer.js";
import { checkSums } from "./check.js";
import { movesOf, solve } from "./solve/highs.js";

const TRIES = 6,
  MOST_PRUNED = 12;

/**
 * Cells to suppress as well, and those still known exactly then; null where nothing is, where no counts were found, and
 * where something was left out: it would stay in print, and could give the same cells away.
 */
export async function suppressMore(answer, seconds) {
  const targets = answer.cells.filter((cell) => cell.unclear && cell.exact).map((cell) => cell.at);
  if (!targets.length || answer.point === null || answer.left.length) return null;
  const search = new Suppression(answer, targets, performance.now() + 1000 * seconds);
  await search.grow();
  await search.prune();
  return {
    cells: [...search.added].sort((a, b) => a - b).map((cell) => answer.sums.cells[cell]),
    left: search.narrow.map((cell) => answer.sums.cells[cell]),
    inTime: !search.late(),
  };
}

class Suppression {
  constructor(answer, targets, deadline) {
    Object.assign(this, { answer, targets, deadline, added: new Set(), stuck: new Set(), narrow: targets });
    this.printed = answer.cells.map((cell) => cell.at);
  }

  left() {
    return Math.max((this.deadline - performance.now()) / 1000, 0);
  }

  late() {
    return this.left() <= 0;
  }

  /** Suppress more until nothing is known exactly, or nothing helps. */
  async grow() {
    const { sums, point } = this.answer;
    for (let round = 0; round < TRIES && !this.late(); round++) {
      const targets = this.narrow.filter((cell) => !this.stuck.has(cell));
      if (!targets.length) return;
      const fixed = this.printed.filter((cell) => sums.lo[cell] === sums.hi[cell] && !this.added.has(cell));
      const { added, stuck } = await movesOf({
        sums,
        x: point,
        fixed,
        open: [...this.added],
        targets,
        seconds: this.left(),
      });
      added.forEach((cell) => this.added.add(cell));
      stuck.forEach((cell) => this.stuck.add(cell));
      this.narrow = await this.exactWithout(this.added);
    }
  }

  /** Print again what is not needed, one cell after the other, while there is time. */
  async prune() {
    for (const cell of [...this.added].slice(0, MOST_PRUNED)) {
      if (this.late() || this.added.size < 2) return;
      const fewer = new Set(this.added);
      fewer.delete(cell);
      const narrow = await this.exactWithout(fewer);
      if (narrow.length <= this.narrow.length) [this.added, this.narrow] = [fewer, narrow];
    }
  }

  /**
   * The targets and suppressed cells that are known exactly once some cells are suppressed: all that the checked proofs leave
   * one value, and all that were not shown to have two.
   */
  async exactWithout(added) {
    const { sums } = this.answer;
    const opened = {
      ...sums,
      lo: sums.lo.map((own, cell) => (added.has(cell) ? 0 : own)),
      hi: sums.hi.map((own, cell) => (added.has(cell) ? Infinity : own)),
    };
    const wanted = [...this.targets, ...added],
      found = await solve(opened, wanted, Math.max(this.left(), 1));
    const shown = checkSums(opened, found.statements),
      [lo, hi] = endsShown(shown);
    const { down, up } = attainedEnds(opened, lo, hi, found.parts);
    return wanted.filter((cell) => lo[cell] === hi[cell] || !(down.has(cell) && up.has(cell)));
  }
}
