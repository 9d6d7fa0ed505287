// Intervals as labels: 15-19, 65+, under 5; an interval adds up those inside that make it up.
const BAND = /^(\d{1,9})\s*(?:-|\u2013|to|bis|a)\s*(\d{1,9})(?:\s*(?:years?|yrs?))?$/i;
const FROM = /^(\d{1,9})\s*(?:\+|and over|and above|or more|and older|plus|years and over)(?:\s*years?)?$/i;
const UNDER = /^(?:under|less than|below|<)\s*(\d{1,9})(?:\s*years?)?$/i;
const FAR = 10 ** 9; // above every number that a band may hold

/** A label as an interval of whole numbers; null where it is none. */
export function interval(label) {
  const text = label.trim();
  let found = BAND.exec(text);
  if (found) return Number(found[1]) <= Number(found[2]) ? [Number(found[1]), Number(found[2])] : null;
  found = FROM.exec(text);
  if (found) return [Number(found[1]), FAR];
  found = UNDER.exec(text);
  return found ? [0, Number(found[1]) - 1] : null;
}

/** A label whose interval is made up of others: 0-9 is 0-4 and 5-9. */
export function* byInterval(labels) {
  const bands = labels.map((label) => [label, interval(label)]).filter(([, band]) => band);
  for (const [label, [low, high]] of bands) {
    const chain = [];
    let at = low;
    while (at <= high) {
      const inside = bands.filter(
        ([other, band]) => other !== label && band[0] === at && band[1] <= high && !(band[0] === low && band[1] === high),
      );
      if (!inside.length) break;
      const [other, band] = inside.reduce((best, one) =>
        one[1][1] > best[1][1] || (one[1][1] === best[1][1] && one[0] > best[0]) ? one : best,
      );
      chain.push(other);
      at = band[1] + 1;
    }
    if (at > high && chain.length > 1) yield [label, chain];
  }
}
