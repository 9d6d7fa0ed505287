"use strict";
// What is not certain here, but likely: it depends on what one knows beforehand, the prior.
genverify.likely = (function () {
  const { h, words } = genverify;
  const LEAST = 0.5;
  let chosen = "tract";

  function view(study, block) {
    if (!block.likely) return null;
    const list = h("div", { id: "likely" });
    const asked = genverify.place().prior;
    if (study.weighed.includes(asked)) chosen = asked;
    const select = h("select", { name: "prior", onchange: function () {
      chosen = select.value;
      genverify.remember({ prior: chosen });
      draw(study, block, list);
    } },
      study.weighed.map(function (name) { return h("option", { value: name }, words.prior(name)); }));
    select.value = chosen;
    draw(study, block, list);
    return h("section", { id: "panel-likely", "aria-labelledby": "likely-title" }, h("h2", { id: "likely-title" }, "What is not certain, but likely"),
      h("p", { class: "muted" }, "Given the published tables, if the households of the block are like those of a wider area. "
        + "Nothing here is proved: another assumption gives other numbers. Only claims about one household with 50 % and more are listed."),
      h("form", { class: "filters", "aria-label": "What is assumed beforehand", onsubmit: function (event) { event.preventDefault(); } },
        h("label", {}, h("span", {}, "Households are like those of (prior)"), select)), list);
  }

  function draw(study, block, list) {
    const place = study.weighed.indexOf(chosen);
    const found = block.likely.filter(function (one) { return one.chance[place] && one.chance[place][0] >= LEAST; });
    found.sort(function (one, two) { return two.chance[place][0] - one.chance[place][0] || named(two) - named(one); });
    const statements = found.map(function (one) { return { m: 1, codes: one.codes }; });
    list.replaceChildren(h("p", { class: "muted", role: "status" }, found.length ? words.plural(found.length, "likely claim") + ", the likeliest first"
      : "No other claim about " + study.least + (study.least === 1 ? " column" : " columns") + " or more has 50 %."),
      h("ol", { class: "claims" }, found.map(function (one, at) {
        return card(study, one, place, words.comparison(study, statements, at));
      })));
  }

  function named(one) {
    return one.codes.filter(function (code) { return code >= 0; }).length;
  }

  function card(study, one, place, compared) {
    const mask = one.codes.reduce(function (sum, code, column) { return sum + (code >= 0 ? Math.pow(2, column) : 0); }, 0);
    const [p, low, high] = one.chance[place];
    return h("li", { class: "claim likely" }, h("p", { class: "who" }, words.exactly(1) + " is:"),
      h("p", { class: "text" }, words.describe(study, one, { mask })), compared ? h("p", { class: "muted compared" }, compared) : "",
      h("p", { class: "tags" }, h("b", { class: "tag probability" }, words.likely(p)), h("span", { class: "tag" }, how(one, low, high)),
        h("span", { class: "tag" }, words.plural(named(one), "column"))),
      h("details", {}, h("summary", {}, "Under every prior"), chances(study, one)));
  }

  function how(one, low, high) {
    return one.exact ? "exact" : "estimated, " + words.likely(low) + " to " + words.likely(high);
  }

  function chances(study, one) {
    return h("table", { class: "chances" }, h("caption", {}, "Probability given the published tables, if households are like those of"),
      h("tbody", {}, study.weighed.map(function (name, place) {
        const chance = one.chance[place];
        const bar = h("span", { class: "share", "aria-hidden": "true" }, h("span", {}));
        bar.firstChild.style.width = (chance ? 100 * chance[0] : 0).toFixed(1) + "%";
        return h("tr", {}, h("th", { scope: "row" }, words.prior(name)), h("td", {}, bar),
          h("td", { class: "number" }, chance ? words.likely(chance[0]) : "not asked"));
      })));
  }

  return { view };
})();
