"use strict";
// Claims, counts and probabilities in words.
genverify.words = (function () {
  function fits(when, known) {
    return Object.entries(when).every(function ([name, codes]) { return codes.includes(known[name]); });
  }

  function listed(words) {
    if (words.length < 3) return words.join(" and ");
    return words.slice(0, -1).join(", ") + ", and " + words[words.length - 1];
  }

  function say(sentence, known) {
    const fit = function (when) { return fits(when, known); };
    if ((sentence.only.length && !sentence.only.some(fit)) || sentence.unless.some(fit)) return "";
    const said = sentence.slots.map(function (slot) {
      const found = slot.find(function ([when]) { return fits(when, known); });
      return found ? found[1] : "";
    }).filter(Boolean);
    if (!said.length) return "";
    return (sentence.start + " " + (sentence.as_list ? listed(said) : said.join(" "))).trim() + ".";
  }

  // What a form of a claim says: {column name: code}.
  function known(study, group, form) {
    const found = {};
    study.columns.forEach(function (column, place) {
      if (genverify.names(form.mask, place)) found[column.name] = group.codes[place];
    });
    return found;
  }

  function describe(study, group, form) {
    const codes = known(study, group, form);
    const text = study.sentences.map(function (sentence) { return say(sentence, codes); }).filter(Boolean).join(" ");
    return text || study.columns.filter(function (column) { return column.name in codes; })
      .map(function (column) { return column.label + ": " + column.codes[codes[column.name]]; }).join("; ") + ".";
  }

  // What a statement (m, and a code per column, -1 where it names none) says beyond the earlier one that is most like it:
  // no two statements then have the same words. One that shares nothing is compared too: its words can be the same.
  function comparison(study, statements, at) {
    const { m, codes: own } = statements[at];
    let like = -1;
    let best = -1;
    for (let other = 0; other < at; other += 1) {
      if (statements[other].m !== m) continue;
      const same = own.filter(function (code, column) { return code >= 0 && code === statements[other].codes[column]; }).length;
      if (same > best) [like, best] = [other, same];
    }
    if (like < 0) return "";
    const theirs = statements[like].codes;
    const parts = study.columns.map(function (column, place) {
      if (own[place] === theirs[place]) return "";
      if (own[place] < 0) return "does not say " + column.label;
      const value = column.label + ": " + column.codes[own[place]];
      return theirs[place] < 0 ? "adds " + value : value + " instead of " + column.codes[theirs[place]];
    }).filter(Boolean);
    return "Compared with statement " + (like + 1) + ": " + parts.join("; ") + ".";
  }

  const NUMBERS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
  function number(count) {
    return count < NUMBERS.length ? NUMBERS[count] : count.toLocaleString("en");
  }

  function exactly(m) {
    return "Exactly " + number(m) + (m === 1 ? " household here" : " households here");
  }

  function percent(part, whole) {
    if (!whole) return "0 %";
    const share = 100 * part / whole;
    return (share === 0 || share >= 10 ? share.toFixed(0) : share.toFixed(1)) + " %";
  }

  function chance(p) {
    if (p === 0) return "never seen";
    if (p >= 0.095) return (100 * p).toFixed(0) + " %";
    if (p >= 0.001) return (100 * p).toPrecision(2) + " %";
    return "1 in " + round(1 / p);
  }

  // What is not certain is never said to be: no rounding up to 100 %.
  function likely(p) {
    if (p > 0.999) return "over 99.9 %";
    return (100 * p).toFixed(p > 0.99 ? 1 : 0) + " %";
  }

  function round(value) {
    if (value >= 1e9) return "10^" + Math.round(Math.log10(value));
    const digits = Math.pow(10, Math.max(0, Math.floor(Math.log10(value)) - 1));
    return (Math.round(value / digits) * digits).toLocaleString("en");
  }

  function plural(count, one, many) {
    return count.toLocaleString("en") + " " + (count === 1 ? one : many || one + "s");
  }

  const PRIORS = {
    tract: "its tract", tract_leave_out: "its tract without this block", county: "its county", state: "its state",
    nation: "the nation", uniform: "all combinations alike",
  };
  function prior(name) {
    return PRIORS[name] || name;
  }

  function capital(text) {
    return text.charAt(0).toUpperCase() + text.slice(1);
  }

  return { capital, comparison, describe, exactly, percent, chance, likely, plural, prior, number };
})();
