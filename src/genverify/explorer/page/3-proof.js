"use strict";
// A proof, cell by cell: what is added up, what follows, and which zeros and totals rule out everybody else.
genverify.proof = (function () {
  const h = genverify.h;

  function view(study, block, group) {
    return h("div", { class: "proof" },
      half(study, block, "At least " + group.m, group.proof[0], "lower"),
      half(study, block, "At most " + group.m, group.proof[1], "upper"),
      h("p", { class: "done" }, "At least " + group.m + " and at most " + group.m + ": exactly " + group.m + "."));
  }

  function half(study, block, title, layout, kind) {
    return h("section", { class: "half " + kind }, h("h4", {}, title), node(study, block, layout));
  }

  function node(study, block, layout) {
    return typeof layout[0] === "string" ? cases(study, block, layout) : sum(study, block, layout);
  }

  function cases(study, block, [part, at, below, above]) {
    return h("ol", { class: "cases" },
      h("li", {}, h("p", {}, "Either at most " + at + " households are " + part + ":"), node(study, block, below)),
      h("li", {}, h("p", {}, "or at least " + (at + 1) + " households are " + part + ":"), node(study, block, above)));
  }

  function sum(study, block, [conclusion, over, cells, sides, because]) {
    const rows = [];
    let total = 0;
    let exact = sides.length === 0;
    for (let place = 0; place < cells.length; place += 2) {
      const count = block.count(cells[place + 1]);
      exact = exact && typeof count === "number";
      total += cells[place] * (exact ? count : 0);
      rows.push(row(study, cells[place], cells[place + 1], count));
    }
    sides.forEach(function ([weight, below]) {
      rows.push(h("tr", {}, h("td", { class: "sign" }, sign(weight)), h("td", {}, "the “" + (below ? "at most" : "at least") + "” above"), h("td", {})));
    });
    if (rows.length && exact) {
      rows.push(h("tr", { class: "total" }, h("td", {}), h("td", {}, over === 1 ? "adds up to" : "adds up, divided by " + over + ", to"),
        h("td", { class: "number" }, String(over === 1 ? total : total / over))));
    }
    return h("div", {},
      rows.length ? h("table", { class: "sum" }, h("caption", {}, "Published cells, added up"), h("tbody", {}, rows)) : null,
      h("p", { class: "so" }, genverify.words.capital(study.conclusions[conclusion]) + "."),
      because.length ? h("p", { class: "muted" }, "This rests on what the tables rule out:") : null,
      because.length ? h("ul", { class: "because" }, because.map(function (reason) { return h("li", {}, why(study, block, reason)); })) : null);
  }

  function row(study, weight, cell, count) {
    return h("tr", {}, h("td", { class: "sign" }, sign(weight)), h("td", {}, label(study, cell)), h("td", { class: "number" }, shown(count)));
  }

  function why(study, block, reason) {
    if (typeof reason === "number") return [label(study, reason), h("b", {}, " = 0")];
    const [whole, ...parts] = reason;
    return [parts.map(function (part, place) {
      return [place ? " + " : null, label(study, part), h("b", {}, " (" + shown(block.count(part)) + ")")];
    }), parts.length === 1 ? " makes up " : " make up ", label(study, whole), h("b", {}, " (" + shown(block.count(whole)) + ")"), ": nobody else is there."];
  }

  function label(study, cell) {
    if (cell < 0) return h("span", {}, "all households");
    const [id, table, words] = study.cells[cell];
    const link = { href: location.hash || "#", class: "cell", "data-cell": cell, title: id + " – " + study.tables[table][1] };
    return h("a", link, words, h("small", {}, " " + study.tables[table][0]));
  }

  function shown(count) {
    return typeof count === "number" ? String(count) : count ? count.join("–") : "not published";
  }

  function sign(weight) {
    const size = Math.abs(weight);
    return (weight < 0 ? "−" : "+") + (size === 1 ? "" : " " + size + " ×");
  }

  // The files of a proof for other people's checkers; they are loaded and unpacked only when somebody asks.
  function files(block, group) {
    if (block.vipr === undefined || group.id === undefined) return null;
    const said = h("span", { class: "muted", role: "status" });
    const button = h("button", { type: "button", class: "quiet save", onclick: function () {
      save(block.vipr, "_proof_" + group.id + "_").then(function (names) { said.textContent = " Saved: " + names.join(", "); })
        .catch(function (error) { said.textContent = " Cannot be saved here (" + error.message + "); genverify check checks it."; });
    } }, "Save the proof for other checkers (VIPR)");
    return h("p", { class: "files" }, button, said);
  }

  async function save(number, part) {
    const piece = await genverify.load("vipr-" + number);
    const bytes = Uint8Array.from(atob(piece.data), function (letter) { return letter.charCodeAt(0); });
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    const whole = await new Response(stream).arrayBuffer();
    const wanted = piece.names.map(function (name, place) { return [name, place ? piece.ends[place - 1] : 0, piece.ends[place]]; })
      .filter(function ([name]) { return name.includes(part); });
    if (wanted.length < 2) throw new Error("its cells tell too many kinds of records apart for a readable file");
    wanted.forEach(function ([name, from, to]) {
      const address = URL.createObjectURL(new Blob([whole.slice(from, to)], { type: "text/plain" }));
      h("a", { href: address, download: name }).click();
      setTimeout(function () { URL.revokeObjectURL(address); }, 10000);
    });
    return wanted.map(function ([name]) { return name; });
  }

  return { view, shown, files };
})();
