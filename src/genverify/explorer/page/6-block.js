"use strict";
// One block: how exposed it is, by which claims, why, and how likely that would be by chance.
genverify.block = (function () {
  const { h, words } = genverify;
  const FORMS = 20;
  const filters = { k: 0, m: "", effective: 0, columns: [] };
  const TERMS = [
    ["k", "the number of columns that a claim names: the more, the more it says about a household."],
    ["m", "the number of households that match the claim. With m = 1 the household is singled out."],
    ["effective k", "the fewest of the k columns that force the others. An attacker who knows these learns the rest."],
    ["by chance", "the probability that a block of this size, drawn at random from a wider area, makes the claim true. Small: "
      + "the tables of this block tell it, not what is usual in the area."],
  ];

  // Filters from the address, where it has any; then the address has those that are in use.
  function restore() {
    const place = genverify.place();
    if (place.k || place.m || place.effective || place.columns) {
      Object.assign(filters, { k: Number(place.k) || 0, m: place.m, effective: Number(place.effective) || 0,
        columns: place.columns ? place.columns.split(".").map(Number) : [] });
    }
    store();
  }

  function store() {
    genverify.remember({ k: filters.k || "", m: filters.m, effective: filters.effective || "", columns: filters.columns.join(".") });
  }

  function view(study, state, row, entry, claim) {
    const block = prepare(study, entry);
    restore();
    const list = h("div", { id: "claims" });
    const redraw = function () { store(); draw(study, block, list, claim); };
    redraw();
    const certain = h("section", { id: "panel-certain", "aria-labelledby": "claims-title" },
      h("h2", { id: "claims-title" }, "What must be true here"),
      h("p", { class: "muted" }, "True of every set of households that fits the published tables of this block, whatever the private data were."),
      h("details", { class: "terms" }, h("summary", {}, "What k, m, effective k and “by chance” mean"),
        h("dl", {}, TERMS.map(function ([term, meaning]) { return [h("dt", {}, term), h("dd", {}, meaning)]; }))),
      block.groups.length ? controls(study, block, redraw) : null, list);
    const other = genverify.likely.view(study, block);
    return [heading(study, state, row, block), other ? tabs([["certain", "Certain", certain], ["likely", "Likely", other]]) : null,
      certain, other, tables(study, block)];
  }

  // Two panels, one of them in view; the arrow keys go from one to the other.
  function tabs(panels) {
    const buttons = panels.map(function ([name, text, panel]) {
      panel.setAttribute("role", "tabpanel");
      return h("button", { type: "button", role: "tab", "data-tab": name, "aria-controls": panel.id, onclick: function () { choose(name); } }, text);
    });
    function choose(chosen) {
      panels.forEach(function ([name, , panel], place) {
        panel.hidden = name !== chosen;
        buttons[place].setAttribute("aria-selected", String(name === chosen));
        buttons[place].tabIndex = name === chosen ? 0 : -1;
      });
      genverify.remember({ tab: chosen === "certain" ? "" : chosen });
    }
    const list = h("div", { class: "tabs", role: "tablist", "aria-label": "Certain or likely" }, buttons);
    list.addEventListener("keydown", function (event) {
      if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
      const next = buttons.find(function (button) { return button.getAttribute("aria-selected") === "false"; });
      choose(next.dataset.tab);
      next.focus();
    });
    choose(genverify.place().tab === "likely" ? "likely" : "certain");
    return list;
  }

  function prepare(study, entry) {
    const counts = new Map();
    for (let at = 0; at < entry.counts.length; at += 2) counts.set(entry.counts[at], entry.counts[at + 1]);
    const suppressed = new Set(entry.withheld);
    const groups = entry.groups.map(function (group, place) {
      return { ...group, key: group.id === undefined ? "g" + place : String(group.id), forms: genverify.unpack(study, group.forms) };
    });
    return { n: entry.n, vipr: entry.vipr, likely: entry.likely, counts, groups, count: function (cell) {
      return cell < 0 ? entry.n : suppressed.has(cell) ? null : counts.get(cell) || 0;
    } };
  }

  function heading(study, state, row, block) {
    const [id, n, designs, claims, unique, single] = row;
    const singles = block.groups.filter(function (group) { return group.m === 1; });
    const least = Math.max(0, ...singles.map(function (group) { return likely(study, group.forms[0]); }));
    return h("header", { class: "head" },
      h("p", { class: "crumb" }, h("a", { href: "#" }, "All blocks"), " / ", genverify.side.name(study, state)),
      h("h1", { tabindex: "-1" }, "Block ", h("span", { class: "id" }, id)),
      h("p", { class: "verdict" }, single[0] ? [h("b", {}, single[0].toLocaleString("en") + " of " + words.plural(n, "household")),
        " " + (single[0] === 1 ? "is" : "are") + " singled out: the tables alone prove that exactly one household answers the description."]
        : "No household is singled out by " + study.least + " or more columns."),
      unique ? h("p", { class: "warn" }, "Only one dataset fits the tables: every record of this block is known.") : null,
      h("dl", { class: "facts" },
        fact("Households", n), fact("Verified claims", claims.toLocaleString("en")), fact("Distinct statements", block.groups.length),
        fact("Likeliest singleton, by chance", singles.length ? words.chance(least) : "none"),
        fact("Sampled for", designs.map(function (place) { return study.designs[place].replaceAll("_", " "); }).join(", "))),
      ladder(study, n, single));
  }

  function fact(name, value) {
    return h("div", {}, h("dt", {}, name), h("dd", {}, String(value)));
  }

  function ladder(study, n, single) {
    return h("figure", { class: "ladder" }, h("figcaption", {}, "Households singled out, by how many columns the claim names at least"),
      h("ul", {}, single.map(function (count, place) {
        const bar = h("span", { class: "share", "aria-hidden": "true" }, h("span", {}));
        bar.firstChild.style.width = (100 * count / Math.max(1, n)).toFixed(1) + "%";
        return h("li", {}, h("span", {}, (study.least + place) + " columns"), bar, h("span", { class: "of" }, count + " of " + n));
      })));
  }

  function likely(study, form) {
    return Math.max(...form.priors.filter(function (_, place) { return !study.priors[place].endsWith("leave_out"); }));
  }

  function controls(study, block, redraw) {
    const distinct = function (values) { return Array.from(new Set(values)).sort(function (a, b) { return a - b; }); };
    const forms = block.groups.flatMap(function (group) { return group.forms; });
    const set = function (key, as) { return function (event) { filters[key] = as(event.target.value); redraw(); }; };
    const ks = distinct(forms.map(function (form) { return form.k; }));
    const columns = study.columns.map(function (column, place) {
      const box = h("input", { type: "checkbox", value: place, onchange: function () {
        filters.columns = filters.columns.filter(function (other) { return other !== place; }).concat(box.checked ? [place] : []);
        redraw();
      } });
      box.checked = filters.columns.includes(place);
      return h("label", { class: "chip" }, box, column.label);
    });
    return h("form", { class: "filters", "aria-label": "Filter claims", onsubmit: function (event) { event.preventDefault(); } },
      choice("Columns named (k)", "k", filters.k, [[0, "any"], ...ks.map(function (k) { return [k, k + " or more"]; })], set("k", Number)),
      choice("Effective k", "effective", filters.effective, [[0, "any"], ...distinct(forms.map(function (form) { return form.effective; })).filter(Boolean)
        .map(function (k) { return [k, k + " or more"]; })], set("effective", Number)),
      choice("Households (m)", "m", filters.m, [["", "any"], ...distinct(block.groups.map(function (group) { return group.m; }))
        .map(function (m) { return [m, "exactly " + m]; })], set("m", String)),
      h("details", { open: filters.columns.length > 0 }, h("summary", {}, "Columns that a claim must name"), h("div", { class: "chips" }, columns)));
  }

  function choice(label, name, value, options, onchange) {
    const select = h("select", { name, onchange }, options.map(function ([key, text]) { return h("option", { value: key }, text); }));
    select.value = options.some(function ([key]) { return String(key) === String(value); }) ? String(value) : String(options[0][0]);
    return h("label", {}, h("span", {}, label), select);
  }

  function passes(form) {
    return form.k >= filters.k && form.effective >= filters.effective
      && filters.columns.every(function (place) { return genverify.names(form.mask, place); });
  }

  function draw(study, block, list, claim) {
    const found = block.groups.filter(function (group) { return filters.m === "" || String(group.m) === filters.m; })
      .map(function (group) { return { group, forms: group.forms.filter(passes) }; })
      .filter(function (one) { return one.forms.length > 0; });
    const claims = found.reduce(function (sum, one) { return sum + one.forms.length; }, 0);
    const statements = found.map(function (one) { return said(study, one); });
    list.replaceChildren(h("p", { class: "muted", role: "status" }, block.groups.length
      ? words.plural(found.length, "statement") + " (" + words.plural(claims, "claim") + "; shorter forms are folded)"
      : "No claim about " + study.least + " or more columns is certain in this block."),
      h("ol", { class: "claims" }, found.map(function (one, at) {
        return card(study, block, one.group, one.forms, one.group.key === claim || (claim === "first" && at === 0), words.comparison(study, statements, at));
      })));
  }

  function said(study, { group, forms }) {
    return { m: group.m, codes: study.columns.map(function (_, place) { return genverify.names(forms[0].mask, place) ? group.codes[place] : -1; }) };
  }

  function card(study, block, group, forms, open, compared) {
    const form = forms[0];
    const body = h("div", { class: "body", hidden: true });
    const why = h("button", { type: "button", class: "why", "aria-expanded": "false", onclick: function () { toggle(body.hidden); } }, group.proof ? "Why is this certain?" : "Without proof");
    const item = h("li", { class: "claim", "data-claim": group.key });
    function toggle(show) {
      if (show && !body.firstChild) body.append(...details(study, block, group, forms));
      body.hidden = !show;
      why.setAttribute("aria-expanded", String(show));
      genverify.remember({ claim: show ? group.key : "" });
    }
    item.addEventListener("keydown", function (event) {
      if (event.key === "Escape" && !body.hidden) { event.stopPropagation(); toggle(false); why.focus(); }
    });
    item.append(h("p", { class: "who" }, words.exactly(group.m) + (group.m === 1 ? " is:" : " are each:")),
      h("p", { class: "text" }, words.describe(study, group, form)), compared ? h("p", { class: "muted compared" }, compared) : "",
      h("p", { class: "tags" }, h("span", { class: "tag", title: TERMS[0][1] }, words.plural(form.k, "column")),
        h("span", { class: "tag", title: TERMS[2][1] }, "effective k " + form.effective),
        h("span", { class: "tag", title: TERMS[3][1] }, "by chance at most " + words.chance(likely(study, form))), why), body);
    if (open) { toggle(true); requestAnimationFrame(function () { item.scrollIntoView({ block: "start" }); }); }
    return item;
  }

  function details(study, block, group, forms) {
    const proof = group.proof ? [h("h3", {}, "The published cells that force it"), genverify.proof.view(study, block, group), genverify.proof.files(block, group)]
      : [h("h3", {}, "Verified by the solver, without proof"), h("p", {}, "The one-hot program gives no proofs: this claim rests on the solver alone.")];
    return [...proof, h("h3", {}, "How likely by chance"), chances(study, forms[0]),
      forms.length > 1 ? shorter(study, group, forms.slice(1)) : null].filter(Boolean);
  }

  function chances(study, form) {
    return h("table", { class: "chances" }, h("caption", {}, "Probability that a block of this size, drawn from these households, makes the claim true"),
      h("tbody", {}, study.priors.map(function (name, place) {
        const p = form.priors[place];
        const bar = h("span", { class: "share", "aria-hidden": "true" }, h("span", {}));
        bar.firstChild.style.width = (100 * p).toFixed(1) + "%";
        return h("tr", {}, h("th", { scope: "row" }, words.prior(name)), h("td", {}, bar), h("td", { class: "number" }, words.chance(p)));
      })));
  }

  function shorter(study, group, forms) {
    const list = h("ul", { class: "forms" });
    const more = h("button", { type: "button", class: "quiet", onclick: add }, "Show more");
    function add() {
      const from = list.children.length;
      forms.slice(from, from + FORMS).forEach(function (form) {
        list.append(h("li", {}, words.describe(study, group, form), h("small", { class: "muted" },
          " " + form.k + " columns, effective k " + form.effective + ", by chance at most " + words.chance(likely(study, form)))));
      });
      more.hidden = list.children.length >= forms.length;
    }
    return h("details", { ontoggle: function (event) { if (event.target.open && !list.firstChild) add(); } },
      h("summary", {}, words.plural(forms.length, "shorter form") + " of the same statement, by the same proof"), list, more);
  }

  function tables(study, block) {
    const rows = study.tables.map(function () { return []; });
    study.cells.forEach(function ([, table], cell) { rows[table].push(cell); });
    const empty = function (cells) { return cells.every(function (cell) { return block.count(cell) === 0; }); };
    const places = rows.map(function (_, place) { return place; });
    const some = places.filter(function (place) { return !empty(rows[place]); });
    const zeros = places.filter(function (place) { return empty(rows[place]); });
    const table = function (place) { return one(study, block, place, rows[place]); };
    return h("section", { "aria-labelledby": "tables-title" }, h("h2", { id: "tables-title" }, "Published tables"),
      h("p", { class: "muted" }, "All that the attack sees. Lines with 0 are folded."),
      some.map(table), zeros.length ? h("details", { class: "table" }, h("summary", {}, words.plural(zeros.length, "table") + " with 0 in every line"),
        zeros.map(table)) : null);
  }

  function one(study, block, table, cells) {
    const line = function (cell) {
      return h("tr", { id: "cell-" + cell, tabindex: "-1" }, h("th", { scope: "row" }, study.cells[cell][2]),
        h("td", { class: "number" }, genverify.proof.shown(block.count(cell))));
    };
    const some = cells.filter(function (cell) { return block.count(cell) !== 0; });
    const zeros = cells.filter(function (cell) { return block.count(cell) === 0; });
    const body = h("div", {});
    const fill = function () {
      if (body.firstChild) return;
      body.append(some.length ? h("table", { class: "counts" }, h("tbody", {}, some.map(line))) : h("p", { class: "muted" }, "All lines are 0."));
      if (zeros.length) body.append(h("details", { class: "zeros" }, h("summary", {}, words.plural(zeros.length, "line") + " with 0"),
        h("table", { class: "counts" }, h("tbody", {}, zeros.map(line)))));
    };
    const [name, title] = study.tables[table];
    const details = h("details", { class: "table", "data-table": table, ontoggle: function () { if (details.open) fill(); } },
      h("summary", {}, h("b", {}, name), " " + title, h("span", { class: "muted" }, " " + words.plural(some.length, "line") + " above 0")), body);
    details.fill = fill;
    return details;
  }

  return { view };
})();
