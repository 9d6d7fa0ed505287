"use strict";
// Pieces of data: loaded as scripts when they are needed, so that the page works from a folder without a server.
const genverify = (function () {
  const taken = new Map();
  const waiting = new Map();

  function take(name, content) {
    taken.set(name, content);
  }

  function load(name) {
    if (taken.has(name)) return Promise.resolve(taken.get(name));
    if (!waiting.has(name)) {
      waiting.set(name, new Promise(function (resolve, reject) {
        const script = document.createElement("script");
        script.src = "pieces/" + encodeURIComponent(name) + ".js";
        script.onload = function () { resolve(taken.get(name)); };
        script.onerror = function () { waiting.delete(name); reject(new Error("pieces/" + name + ".js cannot be loaded")); };
        document.head.append(script);
      }));
    }
    return waiting.get(name);
  }

  // An element with attributes and children; text stays text, whatever it holds.
  function h(tag, attributes, ...children) {
    const element = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes || {})) {
      if (value === null || value === undefined || value === false) continue;
      if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
      else element.setAttribute(key, value === true ? "" : String(value));
    }
    element.append(...children.flat(Infinity).filter(function (child) { return child !== null && child !== undefined; }));
    return element;
  }

  // The forms of a group of claims: which columns each names, its effective k, its probability under every prior.
  function unpack(study, packed) {
    const { alphabet, widths, steps, never } = study.packing;
    const forms = [];
    let at = 0;
    while (at < packed.length) {
      const numbers = widths.map(function (width) {
        let number = 0;
        for (let end = at + width; at < end; at += 1) number = number * alphabet.length + alphabet.indexOf(packed[at]);
        return number;
      });
      const [mask, effective, ...levels] = numbers;
      const priors = levels.map(function (level) { return level === never ? 0 : Math.pow(10, -level / steps); });
      forms.push({ mask, effective, priors, k: bits(mask) });
    }
    return forms;
  }

  function bits(mask) {
    let count = 0;
    for (let rest = mask; rest; rest = Math.floor(rest / 2)) count += rest % 2;
    return count;
  }

  function names(mask, place) {
    return Math.floor(mask / Math.pow(2, place)) % 2 === 1;
  }

  // Entries by name: an object would give names that look like numbers first.
  function sorted(object) {
    return Object.entries(object).sort(function ([one], [two]) { return one < two ? -1 : 1; });
  }

  return { take, load, h, unpack, names, sorted };
})();
