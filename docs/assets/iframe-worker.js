// The search of the site runs in a worker, and browsers start none for pages that are opened as files:
// there, the same script runs in a hidden frame of the page. Nothing is loaded from a network.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.appendChild(this.frame);
      const inside = this.frame.contentWindow;
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      inside.importScripts = (...urls) => Promise.all(urls.map((one) => this.load(one)));
      inside.__search = window.__search;
      this.ready = this.load(url);
    }
    load(url) {
      const script = this.frame.contentDocument.createElement("script");
      script.src = new URL(url, location.href).href;
      this.frame.contentDocument.body.appendChild(script);
      return new Promise((done) => script.addEventListener("load", done));
    }
    postMessage(data) {
      this.ready.then(() => this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data })));
    }
    terminate() {
      this.frame.remove();
    }
  };
}
