"use strict";
// What is shown follows from the address, filters and search too: #block=...&claim=...&k=6&state=01
genverify.KEYS = ["block", "claim", "tab", "k", "m", "effective", "columns", "prior", "state", "search"];
genverify.place = function () {
  const found = new URLSearchParams(location.hash.slice(1));
  return Object.fromEntries(genverify.KEYS.map(function (key) { return [key, found.get(key) || ""]; }));
};

genverify.remember = function (changes) {
  const all = { ...genverify.place(), ...changes };
  const parts = genverify.KEYS.filter(function (key) { return all[key]; }).map(function (key) { return key + "=" + encodeURIComponent(all[key]); });
  const hash = "#" + parts.join("&");
  if ((location.hash || "#") === hash) return;
  try { history.replaceState(null, "", hash); } catch { /* a page inside a report has no address of its own */ }
};

(function () {
  const { h, words } = genverify;
  const main = document.getElementById("main");
  const side = document.getElementById("side");

  function overview(study) {
    const all = study.all;
    return [h("h1", { tabindex: "-1" }, "How exposed are these blocks?"),
      h("p", { class: "verdict" }, h("b", {}, words.percent(all.single[0], all.households) + " of the households"),
        " in " + words.plural(all.blocks, "block") + " are singled out by the published tables alone."),
      h("p", {}, "A verified claim holds in every dataset that fits the tables of its block. "
        + (study.listed ? "Choose a state or a block to see its claims, the published cells that force each of them, and how likely each would be by chance."
          : "")),
      study.listed ? h("p", {}, h("button", { type: "button", id: "guided", class: "why", onclick: function () {
        const first = document.querySelector("#blocks a");
        if (first) location.hash = first.hash + "&claim=first";
      } }, "Show one proof, cell by cell")) : null,
      study.listed ? null : h("p", { class: "warn" }, "These data are not synthetic: aggregates only. To list blocks and single households, "
        + "set explorer.show_households to true in config.yaml and build the page again."),
      h("dl", { class: "facts" }, fact("Blocks", all.blocks), fact("Households", all.households), fact("Verified claims", all.claims),
        fact("Blocks known in full", all.unique)),
      h("div", { class: "scroll" }, steps(study, all)), states(study)];
  }

  function fact(name, value) {
    return h("div", {}, h("dt", {}, name), h("dd", {}, value.toLocaleString("en")));
  }

  function steps(study, all) {
    return h("table", { class: "wide" }, h("caption", {}, "By how many columns a singleton claim names at least"),
      h("thead", {}, h("tr", {}, ["Columns", "Blocks with such a claim", "Households singled out"].map(function (text) { return h("th", { scope: "col" }, text); }))),
      h("tbody", {}, all.single.map(function (count, place) {
        return h("tr", {}, h("th", { scope: "row" }, String(study.least + place)),
          h("td", { class: "number" }, words.percent(all.exposed[place], all.blocks)), h("td", { class: "number" }, words.percent(count, all.households)));
      })));
  }

  function states(study) {
    const head = ["State", "Blocks", "Households", "Verified claims", "Singled out"];
    return h("details", {}, h("summary", {}, "Figures by state"), h("div", { class: "scroll" }, h("table", { class: "wide" },
      h("thead", {}, h("tr", {}, head.map(function (text) { return h("th", { scope: "col" }, text); }))),
      h("tbody", {}, genverify.sorted(study.states).map(function ([state, figures]) {
        return h("tr", {}, h("th", { scope: "row" }, genverify.side.name(study, state)),
          [figures.blocks, figures.households, figures.claims].map(function (value) { return h("td", { class: "number" }, value.toLocaleString("en")); }),
          h("td", { class: "number" }, words.percent(figures.single[0], figures.households)));
      })))));
  }

  let shown = null;
  function show(study) {
    const { block, claim } = genverify.place();
    if (block === shown) return;
    const first = shown === null;
    shown = block;
    document.body.classList.toggle("with-block", Boolean(block) && study.listed);
    genverify.side.current(side);
    if (!block || !study.listed) return put(overview(study), first);
    const state = Object.keys(study.states).find(function (code) { return block.startsWith(code); });
    return (state ? genverify.load("state-" + state) : Promise.resolve([])).then(function (rows) {
      const row = rows.find(function (one) { return one[0] === block; });
      if (!row) return put([h("h1", { tabindex: "-1" }, "No such block"), h("p", {}, "The study holds no block " + block + "."), h("p", {}, h("a", { href: "#" }, "All blocks"))], first);
      return genverify.load("blocks-" + row[6]).then(function (piece) {
        if (shown === block) put(genverify.block.view(study, state, row, piece[block], claim), first);
      });
    }).catch(function (error) { put([h("p", { role: "alert" }, error.message)], first); });
  }

  function put(content, first) {
    main.replaceChildren(...content.flat(Infinity).filter(Boolean));
    if (!first) { window.scrollTo(0, 0); main.querySelector("h1").focus({ preventScroll: true }); }
  }

  // A cell named in a proof leads to its line in the published tables.
  main.addEventListener("click", function (event) {
    const cell = event.target.closest("[data-cell]");
    if (!cell) return;
    event.preventDefault();
    main.querySelectorAll("[data-table]").forEach(function (table) { table.fill(); });
    const line = document.getElementById("cell-" + cell.dataset.cell);
    for (let at = line; at && at !== main; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    main.querySelectorAll(".found").forEach(function (other) { other.classList.remove("found"); });
    line.classList.add("found");
    line.scrollIntoView({ block: "center" });
    line.focus({ preventScroll: true });
    line.addEventListener("keydown", function (key) { if (key.key === "Escape") cell.focus(); }, { once: true });
  });

  function theme() {
    const button = document.getElementById("theme");
    const root = document.documentElement;
    const dark = function () { return (root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark"; };
    const label = function () { button.textContent = dark() ? "Light" : "Dark"; button.setAttribute("aria-label", dark() ? "Switch to light" : "Switch to dark"); };
    try { root.dataset.theme = localStorage.getItem("theme") || ""; } catch { root.dataset.theme = ""; }
    if (!root.dataset.theme) delete root.dataset.theme;
    button.addEventListener("click", function () {
      root.dataset.theme = dark() ? "light" : "dark";
      try { localStorage.setItem("theme", root.dataset.theme); } catch { /* not remembered */ }
      label();
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", label);
    label();
  }

  theme();
  genverify.load("study").then(function (study) {
    const said = study.data + (study.synthetic ? ": no real household" : "");
    document.getElementById("data").textContent = said;
    document.getElementById("foot").textContent = "Data: " + study.data + ". Variant: " + study.variant
      + ". Claims that are not called likely are verified: they hold in every dataset that fits the published tables.";
    side.replaceChildren(...genverify.side.view(study).flat(Infinity).filter(Boolean));
    window.addEventListener("hashchange", function () { show(study); });
    show(study);
  }).catch(function (error) { main.replaceChildren(h("p", { role: "alert" }, error.message)); });
})();
