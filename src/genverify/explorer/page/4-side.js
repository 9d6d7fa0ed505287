"use strict";
// The side of the page: a map of states as tiles, and the blocks to choose from.
genverify.side = (function () {
  const { h, words } = genverify;
  const SHOWN = 100;
  const MANY = 20000;
  let chosen = { state: "", text: "", limit: SHOWN };

  function view(study, go) {
    const place = genverify.place();
    chosen = { state: place.state in study.states ? place.state : "", text: place.search, limit: SHOWN };
    const list = h("div", { id: "blocks" });
    const search = h("input", {
      id: "search", type: "search", placeholder: "Block or state", autocomplete: "off", "aria-label": "Search blocks by number or state",
      oninput: function () {
        chosen = { ...chosen, text: search.value.trim(), limit: SHOWN };
        genverify.remember({ search: chosen.text });
        refresh(study, list, go);
      },
      onkeydown: function (event) { if (event.key === "ArrowDown") { event.preventDefault(); focus(list, 0); } },
    });
    const tiles = map(study, function (state) {
      chosen = { ...chosen, state: chosen.state === state ? "" : state, limit: SHOWN };
      genverify.remember({ state: chosen.state });
      press(tiles);
      refresh(study, list, go);
    });
    search.value = chosen.text;
    press(tiles);
    refresh(study, list, go);
    return [h("h2", {}, "States"), tiles, legend(study), study.listed ? [h("h2", {}, "Blocks"), search, list] : null];
  }

  function map(study, choose) {
    const tiles = h("div", { class: "tiles", role: "group", "aria-label": "States, darker where more households are singled out" });
    genverify.sorted(study.states).forEach(function ([state, figures], order) {
      const place = study.places[state];
      const tile = h("button", {
        type: "button", class: "tile", "data-state": state, "data-level": level(figures), "aria-pressed": "false",
        title: title(study, state), "aria-label": title(study, state), onclick: function () { choose(state); },
      }, place ? place.short : state);
      const [row, column] = place ? place.at : [8 + Math.floor(order / 11), order % 11];
      tile.style.gridRow = row + 1;
      tile.style.gridColumn = column + 1;
      tiles.append(tile);
    });
    tiles.addEventListener("keydown", function (event) { arrows(event, tiles.querySelectorAll("button"), ["ArrowLeft", "ArrowRight"]); });
    return tiles;
  }

  function title(study, state) {
    const figures = study.states[state];
    return name(study, state) + ": " + words.plural(figures.blocks, "block") + ", "
      + words.percent(figures.single[0], figures.households) + " of households singled out";
  }

  function name(study, state) {
    return study.places[state] ? study.places[state].name : "State " + state;
  }

  const LEVELS = [0.1, 0.2, 0.3, 0.4];
  function level(figures) {
    const share = figures.single[0] / Math.max(1, figures.households);
    return LEVELS.filter(function (edge) { return share >= edge; }).length;
  }

  function legend(study) {
    const steps = ["under 10 %", "10", "20", "30", "40 % and over"];
    return h("p", { class: "legend" }, "Households singled out by " + study.least + " or more columns: ",
      steps.map(function (text, place) { return h("span", { class: "key", "data-level": place }, text); }));
  }

  function press(tiles) {
    tiles.querySelectorAll("button").forEach(function (tile) {
      tile.setAttribute("aria-pressed", String(tile.dataset.state === chosen.state));
    });
  }

  // Which states' lists are needed: the chosen one, those that the text can mean, or all of a small study.
  function wanted(study) {
    if (chosen.state) return [chosen.state];
    const states = Object.keys(study.states);
    if (study.all.blocks <= MANY) return states;
    const text = chosen.text.toLowerCase();
    return text.length < 2 ? [] : states.filter(function (state) {
      return text.startsWith(state) || name(study, state).toLowerCase().includes(text);
    });
  }

  function refresh(study, list, go) {
    if (!study.listed) return;
    const now = chosen;
    Promise.all(wanted(study).map(function (state) {
      return genverify.load("state-" + state).then(function (rows) { return rows.map(function (row) { return [state, row]; }); });
    })).then(function (found) { if (now === chosen) draw(study, list, found.flat(), go); })
      .catch(function (error) { list.replaceChildren(h("p", { role: "alert" }, error.message)); });
  }

  function draw(study, list, rows, go) {
    const text = chosen.text.toLowerCase();
    const found = rows.filter(function ([state, row]) {
      return !text || row[0].toLowerCase().includes(text) || name(study, state).toLowerCase().includes(text);
    });
    found.sort(function ([, one], [, two]) { return two[5][0] / two[1] - one[5][0] / one[1] || (one[0] < two[0] ? -1 : 1); });
    const items = found.slice(0, chosen.limit).map(function ([state, row]) { return item(study, state, row, go); });
    const more = found.length > items.length ? h("button", { type: "button", class: "quiet", onclick: function () {
      chosen = { ...chosen, limit: chosen.limit + SHOWN };
      draw(study, list, rows, go);
      focus(list, items.length);
    } }, "Show more") : null;
    const where = chosen.state ? " in " + name(study, chosen.state) : "";
    const hint = rows.length || study.all.blocks <= MANY ? words.plural(found.length, "block") + where + ", most exposed first" : "Choose a state, or type the first digits of a block.";
    const ul = h("ul", { class: "blocks" }, items);
    ul.addEventListener("keydown", function (event) { arrows(event, ul.querySelectorAll("a"), ["ArrowUp", "ArrowDown"]); });
    list.replaceChildren(h("p", { class: "muted", role: "status" }, hint), ul, ...(more ? [more] : []));
    current(list);
  }

  function item(study, state, row, go) {
    const [block, n, , , , single] = row;
    const bar = h("span", { class: "share", "aria-hidden": "true" }, h("span", {}));
    bar.firstChild.style.width = (100 * single[0] / Math.max(1, n)).toFixed(1) + "%";
    return h("li", {}, h("a", { href: "#block=" + encodeURIComponent(block), "data-block": block },
      h("span", { class: "id" }, block), h("span", { class: "where" }, name(study, state)), bar,
      h("span", { class: "of" }, single[0] + " of " + n)));
  }

  function current(list) {
    genverify.remember({ state: chosen.state, search: chosen.text });
    const block = genverify.place().block;
    list.querySelectorAll("a").forEach(function (link) {
      if (link.dataset.block === block) link.setAttribute("aria-current", "true"); else link.removeAttribute("aria-current");
    });
  }

  function focus(list, place) {
    const link = list.querySelectorAll("a")[place];
    if (link) link.focus();
  }

  function arrows(event, items, [back, forth]) {
    const at = Array.from(items).indexOf(document.activeElement);
    const to = event.key === forth ? at + 1 : event.key === back ? at - 1 : event.key === "Home" ? 0 : event.key === "End" ? items.length - 1 : null;
    if (at < 0 || to === null) return;
    event.preventDefault();
    if (items[to]) items[to].focus();
    else if (to < 0 && document.getElementById("search") && back === "ArrowUp") document.getElementById("search").focus();
  }

  return { view, name, current };
})();
