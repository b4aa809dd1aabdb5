"use strict";
(() => {
  const one = (selector, root = document) => root.querySelector(selector);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];

  // Compressed parts: gzip in base64 inside script elements.
  async function inflate(name) {
    const text = document.getElementById(`part-${name}`).textContent;
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")));
  }

  async function showPicture(image) {
    if (image.dataset.shown) return;
    image.dataset.shown = "true";
    const content = await (await inflate(image.dataset.part)).arrayBuffer();
    image.src = URL.createObjectURL(new Blob([content], { type: image.dataset.type }));
    await image.decode().catch(() => {});
  }

  async function showTable(place) {
    if (place.dataset.shown) return;
    place.dataset.shown = "true";
    // set by our own template, with everything from files escaped
    place.innerHTML = await (await inflate(place.dataset.part)).text();
    all("table[data-sortable]", place).forEach(makeSortable);
  }

  let plotting = null;
  async function showPlot(place) {
    if (place.dataset.shown) return;
    place.dataset.shown = "true";
    plotting ??= inflate("bokeh").then((response) => response.text()).then((text) => {
      const script = document.createElement("script");
      script.textContent = text;
      document.head.append(script);
    });
    const item = JSON.parse(await (await inflate(place.dataset.plot)).text());
    await plotting;
    place.id ||= `place-${place.dataset.plot}`;
    await window.Bokeh.embed.embed_item(item, place.id);
  }

  const watcher = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      watcher.unobserve(target);
      if (target.dataset.plot) showPlot(target);
      else showPicture(target);
    }
  }, { rootMargin: "600px 0px" });
  all("img[data-part], [data-plot]").forEach((element) => watcher.observe(element));
  document.addEventListener("toggle", (event) => {
    if (event.target.open) all(":scope > [data-part]", event.target).forEach(showTable);
  }, true);

  // Printing can't wait for pictures, so they are all made ready in idle time.
  const idle = window.requestIdleCallback ?? ((action) => setTimeout(action, 50));
  const waiting = all("img[data-part]");
  const readyNext = () => {
    const image = waiting.shift();
    if (image) showPicture(image).then(() => idle(readyNext));
  };
  window.addEventListener("load", () => setTimeout(() => idle(readyNext), 1500));

  // Tables that are sorted by their headings.
  function makeSortable(table) {
    all("thead th", table).forEach((heading, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...heading.childNodes);
      heading.append(button);
      button.addEventListener("click", () => sort(table, heading, column));
    });
  }

  function sort(table, heading, column) {
    const descending = heading.getAttribute("aria-sort") === "ascending";
    all("th[aria-sort]", table).forEach((other) => other.removeAttribute("aria-sort"));
    heading.setAttribute("aria-sort", descending ? "descending" : "ascending");
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row) => {
      const text = row.cells[column].textContent.trim();
      return { row, text, value: Number.parseFloat(text.replace("−", "-")), empty: text === "" || text === "-" };
    });
    const numeric = rows.every(({ value, empty }) => empty || !Number.isNaN(value));
    const sign = descending ? -1 : 1;
    rows.sort((a, b) => a.empty - b.empty
      || sign * (numeric && !a.empty ? a.value - b.value : a.text.localeCompare(b.text, "en", { numeric: true })));
    body.append(...rows.map(({ row }) => row));
  }
  all("table[data-sortable]").forEach(makeSortable);

  // Search and filters.
  const search = one("#search");
  const count = one("#checks-count");
  const lower = (element) => element?.textContent.toLowerCase().replace(/\s+/g, " ") ?? "";
  const rowsOf = (article) => all("[data-check-row]", article).map((row) => (
    { row, verdict: row.dataset.verdict, basis: row.dataset.basis, text: lower(row) }
  ));
  let articles = null;
  const listed = () => articles ??= all("[data-artefact]").map((article) => {
    const title = `${article.id} ${lower(one("h3", article))}`.toLowerCase();
    const about = all(":scope > .about, :scope > .data, :scope > .making", article).map(lower).join(" ");
    return { article, study: article.dataset.study, title, head: `${title} ${about}`, rows: rowsOf(article) };
  });
  const pressed = (kind) => all(`[data-filter-${kind}][aria-pressed="true"]`).map(
    (button) => button.getAttribute(`data-filter-${kind}`),
  );
  const total = all("[data-check-row]").length;

  function filter() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const verdicts = pressed("verdict");
    const bases = pressed("basis");
    const studies = pressed("study");
    const ofRows = verdicts.length + bases.length > 0;
    const active = ofRows || words.length + studies.length > 0;
    const before = document.body.classList.contains("filtered");
    let shown = 0;
    for (const { article, study, title, head, rows } of listed()) {
      const ofStudy = !studies.length || studies.includes(study);
      const missing = words.filter((word) => !title.includes(word));
      let here = 0;
      for (const { row, verdict, basis, text } of rows) {
        const matches = ofStudy && (!verdicts.length || verdicts.includes(verdict))
          && (!bases.length || bases.includes(basis))
          && missing.every((word) => text.includes(word));
        row.hidden = !matches;
        here += matches;
      }
      shown += here;
      article.hidden = !(here || (ofStudy && !ofRows && words.every((word) => head.includes(word))));
      const details = one(":scope > .checks", article);
      if (details) details.hidden = !here;
      if (details && active && here) details.open = true;
    }
    for (const section of all(".study")) {
      section.hidden = active && !one("[data-artefact]:not([hidden])", section);
    }
    document.body.classList.toggle("filtered", active);
    count.textContent = `${shown} of ${total}`;
    if (active && !before && one("#numbers").getBoundingClientRect().top < 0) one("#numbers").scrollIntoView();
  }

  function press(button) {
    button.setAttribute("aria-pressed", String(button.getAttribute("aria-pressed") !== "true"));
    filter();
  }

  function reset() {
    search.value = "";
    all("#filter [aria-pressed]").forEach((button) => button.setAttribute("aria-pressed", "false"));
    filter();
  }

  let pending = 0;
  search.addEventListener("input", () => {
    clearTimeout(pending);
    pending = setTimeout(filter, 80);
  });
  all("[data-filter-verdict], [data-filter-basis], [data-filter-study]").forEach((button) => {
    button.addEventListener("click", () => press(button));
  });
  one("#reset").addEventListener("click", reset);
  one("#filter").addEventListener("submit", (event) => event.preventDefault());

  // Links into the page open what they point at.
  function follow() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    if (target.closest("[hidden]") || getComputedStyle(target).display === "none"
      || (document.body.classList.contains("filtered") && !target.offsetParent && !target.matches("tr"))) reset();
    for (let inside = target; inside; inside = inside.parentElement) {
      if (inside.tagName === "DETAILS") inside.open = true;
    }
    all(":scope > .checks, :scope > .making", target).forEach((details) => { details.open = true; });
    target.scrollIntoView();
  }
  window.addEventListener("hashchange", follow);
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.('a[href^="#"]');
    if (link && link.hash === location.hash) follow(); // the address stays, so nothing else would happen
  });
  if (location.hash) follow();

  // On paper everything is open.
  let opened = [];
  function expand() {
    opened = [...opened, ...all("details:not([open]):not(.computed)")];
    opened.forEach((details) => { details.open = true; });
  }
  function collapse() {
    opened.forEach((details) => { details.open = false; });
    opened = [];
  }
  window.addEventListener("beforeprint", expand);
  window.addEventListener("afterprint", collapse);
  window.matchMedia("print").addEventListener("change", (event) => (event.matches ? expand() : collapse()));
})();
