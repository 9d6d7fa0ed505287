"""The browser of the tests, where there is one, and what is asked of every page in it."""

import shutil
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome") or shutil.which("chromium-browser")
NO_BROWSER = "no browser is installed (chromium or google-chrome)"
ARGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
ARGS += ["--disable-sync", "--no-first-run"]
# every text that stands out too little from what is behind it
CONTRAST = """() => {
  const line = v => v / 255 <= .03928 ? v / 255 / 12.92 : ((v / 255 + .055) / 1.055) ** 2.4;
  const lum = c => { const [r, g, b] = c.map(line);
    return .2126 * r + .7152 * g + .0722 * b };
  const rgb = t => t.match(/[\\d.]+/g).map(Number);
  const back = e => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor);
    if (c.length < 4 || c[3] > 0) return c.slice(0, 3) } return [255, 255, 255] };
  const low = [];
  for (const e of document.querySelectorAll('body *')) {
    if (!e.checkVisibility() || ![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim())) continue;
    const [a, b] = [lum(rgb(getComputedStyle(e).color).slice(0, 3)), lum(back(e))].sort((x, y) => y - x);
    const ratio = (a + .05) / (b + .05);
    if (ratio < 4.5) low.push([e.tagName, e.className, ratio.toFixed(2)]);
  }
  return low;
}"""


class Visit:
    """A page, opened offline from files; it remembers what the console said and what was asked of a network."""

    def __init__(self, browser: Any, **context: Any) -> None:
        self.page = browser.new_context(offline=True, **context).new_page()
        self.page.set_default_timeout(60_000)
        self.said: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.said.append("a dialog"), dialog.dismiss()))
        own = ("file:", "blob:")
        self.page.on("request", lambda asked: None if asked.url.startswith(own) else self.said.append(asked.url))

    def end(self) -> None:
        """Leave, and fail where the page said something or asked for more than its files."""
        self.page.context.close()
        assert self.said == []
