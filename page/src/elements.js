// Elements of the page. All texts are set as texts, never as HTML.

/** An element with properties and what stands in it. */
export function make(tag, properties = {}, ...inside) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...inside.filter((own) => own !== null));
  return element;
}

/** A table that can be wider than the screen: it scrolls, with the keys too. */
export function wide(table, label) {
  const box = make("div", { className: "wide", tabIndex: 0 }, table);
  box.setAttribute("role", "region");
  box.setAttribute("aria-label", label);
  return box;
}
