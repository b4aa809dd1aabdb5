(() => {
  const one = (selector, root = document) => root.querySelector(selector);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];

  // Compressed parts: gzip in base64 inside script elements.
  function bytesOf(name) {
    const text = document.getElementById(`part-${name}`).textContent;
    return inflate(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)));
  }
  const textOf = (name) => new TextDecoder().decode(bytesOf(name));

  const pictures = new Map(); // an address for each part, which its thumbnail shares
  function showPicture(image) {
    if (image.dataset.shown) return;
    image.dataset.shown = "true";
    const { part, type } = image.dataset;
    if (!pictures.has(part)) {
      const bytes = bytesOf(part);
      const SOME = 1 << 14; // a call takes only so many arguments
      let letters = "";
      for (let k = 0; k < bytes.length; k += SOME) letters += String.fromCharCode(...bytes.subarray(k, k + SOME));
      // an address that holds the picture is loaded at once, even before a print
      pictures.set(part, `data:${type};base64,${btoa(letters)}`);
    }
    image.src = pictures.get(part);
  }

  function showTable(place) {
    if (place.dataset.shown) return;
    place.dataset.shown = "true";
    // set by our own template, with everything from files escaped
    place.innerHTML = textOf(place.dataset.part);
    all("table[data-sortable]", place).forEach(makeSortable);
  }

  async function showPlot(place) {
    if (place.dataset.shown) return;
    place.dataset.shown = "true";
    if (!window.Bokeh) {
      const script = document.createElement("script");
      script.textContent = textOf("bokeh");
      document.head.append(script);
    }
    place.id ||= `place-${place.dataset.plot}`;
    await window.Bokeh.embed.embed_item(JSON.parse(textOf(place.dataset.plot)), place.id);
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

  // One view at a time, and of a study one table or figure.
  function show(target) {
    const view = target.closest("[data-view]");
    const article = target.closest("[data-artefact]");
    all("[data-view].current, [data-artefact].current").forEach((other) => other.classList.remove("current"));
    view.classList.add("current");
    view.classList.toggle("single", Boolean(article));
    article?.classList.add("current");
    all("nav a").forEach((link) => {
      if (link.hash === `#${view.id}`) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    });
    for (let inside = target; inside; inside = inside.parentElement) {
      if (inside.tagName === "DETAILS") inside.open = true;
    }
  }

  // The address says what is seen: a view, a table or figure, a row of the checks, or what is searched for.
  const search = one("#search");
  function follow() {
    const name = decodeURIComponent(location.hash.slice(1));
    one("#row").close();
    if (name.startsWith("find/")) {
      search.value = name.slice(5);
      find();
      return;
    }
    search.value = "";
    find.last = "";
    document.body.classList.remove("finding");
    filterCards(null);
    const target = document.getElementById(name) ?? one("#overview");
    show(target);
    if (target.matches("[data-view], [data-artefact]")) window.scrollTo(0, 0);
    else target.scrollIntoView();
    const cell = target.closest("[data-checks]");
    if (cell) showRows(cell.dataset.checks.split(" ").map(Number));
  }
  window.addEventListener("hashchange", follow);
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.('a[href^="#"]');
    if (link && link.hash === location.hash) follow(); // the address stays, so nothing else would happen
  });

  // Every row of the checks, whole: number, address, verdict, basis, words, printed, ours, and how it is set.
  let numbers = null;
  const rows = () => numbers ??= JSON.parse(textOf("rows"));
  function showRows(which) {
    const dialog = one("#row");
    one("div", dialog).innerHTML = rows().filter((row) => which.includes(row[0])).map((row) => row[7]).join("<hr>");
    if (!dialog.open) dialog.showModal();
    dialog.scrollTop = 0;
  }
  one("#row").addEventListener("click", (event) => {
    if (event.target === event.currentTarget) event.target.close(); // beside it
  });

  // Search: words begin as what is searched for; "figure 12", "fig. 12", "table III", verdicts and bases are labels.
  const plain = (text) => ` ${text.toLowerCase().replace(/[^\p{L}\p{N}.+-]+/gu, " ")} `;
  const roman = { i: 1, ii: 2, iii: 3, iv: 4, v: 5, vi: 6, vii: 7, viii: 8, ix: 9, x: 10 };
  function asked(text) {
    const labels = { keys: [], verdicts: [] };
    const rest = text.toLowerCase().replace(/\b(fig|tab)(?:ure|le)?s?[.\s]*(a?)0*(\d+|[ivx]+)\b/g, (found, kind, appendix, digits) => {
      const number = /\d/.test(digits) ? Number(digits) : roman[digits];
      if (!number) return found;
      labels.keys.push(`-${kind}${appendix.toUpperCase()}${appendix ? number : String(number).padStart(2, "0")}`);
      return " ";
    }).replace(/not[\s_]comparable|print[\s_]consistent|\b(?:reproduced|fitted|differs|better|uninformative|input)\b/g, (found) => {
      labels.verdicts.push(found.replace(/\s/, "_"));
      return " ";
    });
    return { ...labels, words: plain(rest).split(" ").filter(Boolean) };
  }
  const has = (text, words) => words.every((word) => text.includes(` ${word}`));

  let heads = null;
  const headsOf = () => heads ??= new Map(all(".card").map((card) => {
    const article = document.getElementById(card.dataset.of);
    const told = [one("h3", article), ...all(".said, .about, .made", article), one(".source", article.parentElement)];
    const study = plain(`${article.parentElement.id} ${one("h2", article.parentElement).textContent}`);
    const title = study + plain(`${card.dataset.of} ${one("h3", article).textContent}`);
    return [card.dataset.of, { card, title, head: study + told.map((part) => plain(part.textContent)).join("") }];
  }));

  function filterCards(kept) {
    for (const [id, { card }] of headsOf()) card.hidden = kept !== null && !kept.has(id);
    for (const section of all(".index")) section.hidden = kept !== null && !one(".card:not([hidden])", section);
    if (kept === null) one("#hits").parentElement.hidden = true;
  }

  const MOST = 300;
  function find() {
    const text = search.value.trim();
    if (text === find.last) return;
    find.last = text;
    if (!text) return void follow();
    const { keys, verdicts, words } = asked(text);
    const found = [...headsOf()].filter(([id]) => !keys.length || keys.some((key) => id.endsWith(key)));
    const all_rows = rows();
    const inside = new Map(found);
    const hits = all_rows.filter(([, id, verdict, basis, told, printed]) => inside.has(id)
      && (!verdicts.length || verdicts.includes(verdict))
      && has(inside.get(id).title + plain(`${told} ${basis} ${printed}`), words));
    const named = found.filter(([, { head }]) => !verdicts.length && has(head, words)).map(([id]) => id);
    const kept = new Set([...named, ...hits.map(([, id]) => id)]);
    document.body.classList.add("finding");
    filterCards(kept);
    one("#found").textContent = `${kept.size} tables and figures, and ${hits.length} of ${all_rows.length} printed numbers and statements`
      + (hits.length > MOST ? `; the first ${MOST} are below.` : ".");
    one("#hits").parentElement.hidden = !hits.length;
    one("#hits tbody").replaceChildren(...hits.slice(0, MOST).map(([number, id, verdict, , told, printed, ours]) => {
      const row = document.createElement("tr");
      const label = one("b", inside.get(id).card).textContent;
      for (const [content, address, kind] of [[`${label}, ${id.split("-")[0]}`, id], [told, `check-${number}`], [printed, "", "num"], [ours, "", "num"]]) {
        const cell = row.insertCell();
        cell.className = kind ?? "";
        const place = address ? cell.appendChild(document.createElement("a")) : cell;
        if (address) place.href = `#${address}`;
        place.textContent = content;
      }
      const chip = row.insertCell().appendChild(document.createElement("span"));
      chip.className = `chip ${verdict}`;
      chip.textContent = verdict.replace("_", " ");
      return row;
    }));
    // a single table or figure is shown itself
    show(kept.size === 1 ? document.getElementById([...kept][0]) : one("#overview"));
    window.scrollTo(0, 0);
  }

  let pending = 0;
  search.addEventListener("input", () => {
    clearTimeout(pending);
    pending = setTimeout(find, 150);
  });
  follow();

  // On paper all that is printed is open, and every picture is there: a printer waits for nothing.
  let opened = [];
  function expand() {
    opened = [...opened, ...all("details:not([open], .computed, .unprinted)")];
    opened.forEach((details) => { details.open = true; });
    all(".picture img").forEach(showPicture);
  }
  function collapse() {
    opened.forEach((details) => { details.open = false; });
    opened = [];
  }
  window.addEventListener("beforeprint", expand);
  window.addEventListener("afterprint", collapse);
  window.matchMedia("print").addEventListener("change", (event) => (event.matches ? expand() : collapse()));
})();
