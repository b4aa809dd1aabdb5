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
    if (!event.target.open) return;
    all(":scope > [data-part]", event.target).forEach(showTable);
    if (event.target.dataset.behind) showBehind(event.target);
  }, true);

  // The rows behind a sentence.
  function showBehind(details) {
    const numbers = new Set(details.dataset.behind.split(" ").map(Number));
    delete details.dataset.behind;
    const place = document.createElement("div"), table = place.appendChild(document.createElement("table"));
    place.className = "scroll";
    place.setAttribute("role", "region");
    place.tabIndex = 0;
    place.setAttribute("aria-label", `Rows behind: ${one("q", details.closest(".claim")).textContent}`);
    const heads = table.createTHead().insertRow();
    for (const name of ["where", "statement or number", "printed", "ours", "verdict"]) {
      const head = heads.appendChild(document.createElement("th"));
      head.scope = "col";
      head.textContent = name;
    }
    table.createTBody().append(...indexOf().rows.filter(({ number }) => numbers.has(number)).map(lineOf));
    details.append(place);
  }

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
  const search = one("#search"), title = one("#overview-title").textContent;
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
    one("#overview-title").textContent = title;
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

  // Every row of the checks, whole: number, address, verdict, basis, words, printed, ours, where, and how it is set.
  let numbers = null;
  const rows = () => numbers ??= JSON.parse(textOf("rows"));
  function showRows(which) {
    const dialog = one("#row");
    one("div", dialog).innerHTML = rows().filter((row) => which.includes(row[0])).map((row) => row[8]).join("<hr>");
    if (!dialog.open) dialog.showModal();
    dialog.scrollTop = 0;
  }
  one("#row").addEventListener("click", (event) => {
    if (event.target === event.currentTarget) event.target.close(); // beside it
  });

  // Search: words begin as what is searched for. "figure 12", "fig. 12", "table III", verdicts and the studies' short
  // names are labels, all of which must fit; "eq. 5" and "equation 22" are words of their own; words that any question
  // has say nothing.
  const EMPTY = new Set(("a about an and any are as at be by can do does for from has have hold holds how i in is it its "
    + "me of on or paper papers reproduce say says sentence sentences show tell that the their there this to true was were "
    + "what when where which who why with").split(" "));
  const SAME = { agx: "algoryx", mu: "μ", "in-hand": "inhand" };
  const STUDIES = new Set(all(".study").map((view) => view.id));
  const equations = (text) => text.replace(/\b(?:eqs?\b\.?|equations?\b)((?:(?:\s|,|and|to|-)*\(?\d+\)?)+)/g,
    (found, numbers) => numbers.match(/\d+/g).map((number) => ` eq${number}- `).join(""));
  const indices = (text) => text.replace(/(?<![\p{L}\p{N}])(\p{L})_/gu, "$1"); // e_N as it is typeset
  const plain = (text) => ` ${indices(equations(text.toLowerCase())).replace(/[^\p{L}\p{N}.+-]+/gu, " ")} `;
  const roman = { i: 1, ii: 2, iii: 3, iv: 4, v: 5, vi: 6, vii: 7, viii: 8, ix: 9, x: 10 };
  function asked(text) {
    const labels = { keys: [], verdicts: [] };
    const rest = text.toLowerCase().replace(/\b(fig|tab)(?:ure|le)?s?[.\s]*(a?)0*(\d+|[ivx]+)\b/g, (found, kind, appendix, digits) => {
      const number = /\d/.test(digits) ? Number(digits) : roman[digits];
      if (!number) return found;
      labels.keys.push(`-${kind}${appendix.toUpperCase()}${appendix ? number : String(number).padStart(2, "0")}`);
      return " ";
    }).replace(/\b(?:print[\s_]consistent|print[\s_]inconsistent|needs[\s_]archive|never[\s_]published|not[\s_]done|no[\s_]result|reproduced|fitted|differs?|better|uninformative|undefined|input)\b/g, (found) => {
      labels.verdicts.push(found.replace(/\s/, "_").replace(/^differ$/, "differs"));
      return " ";
    });
    const every = plain(rest).split(" ").map((word) => word.replace(/\.+$/, "")).map((word) => SAME[word] ?? word);
    const words = every.filter((word) => word && !EMPTY.has(word));
    return { ...labels, studies: words.filter((word) => STUDIES.has(word)), words: words.filter((word) => !STUDIES.has(word)) };
  }
  // how many of the words a text has; one more where they follow one another
  const fit = (text, words) => words.filter((word) => text.includes(` ${word}`)).length
    + (words.length > 1 && text.includes(` ${words.join(" ")}`) ? 1 : 0);

  // What is searched: tables and figures, sentences, and rows, each once in plain letters.
  let index = null;
  const indexOf = () => index ??= {
    heads: new Map(all(".index [data-of]").map((card) => {
      const article = document.getElementById(card.dataset.of);
      // a study by its short name alone: its title's words are in none of its tables by that
      const title = plain(`${card.dataset.of} ${one("h2", article).textContent}`);
      const told = all(".said, .about, .made > .inline, .made code", article);
      const numbers = (article.dataset.equations ?? "").split(" ").map((number) => `eq. ${number}`).join(" ");
      return [card.dataset.of, { card, title, head: title + plain(numbers) + told.map((part) => plain(part.textContent)).join("") }];
    })),
    said: all(".claim").map((claim) => {
      const view = claim.closest("[data-view]");
      const section = claim.parentElement.previousElementSibling.textContent;
      // an abstract is found by its authors and title, too
      const source = section === "Abstract" ? one(".source", view).textContent : "";
      return { claim, study: view.id, verdict: one(".chip", claim).classList[1], text: plain(`${section} ${claim.textContent} ${source}`) };
    }),
    rows: rows().map(([number, id, verdict, basis, told, printed, ours, where]) => (
      { number, id, verdict, told, printed, ours, text: plain(`${told} ${basis} ${printed} ${where}`) })),
  };

  function filterCards(kept) {
    const wanted = (card) => kept === null || kept.has(card.dataset.of);
    for (const card of all(".index [data-of]")) (card.closest("li") ?? card).hidden = !wanted(card);
    for (const section of all(".index, .beyond")) section.hidden = !all("[data-of]", section).some(wanted);
    if (kept === null) one("#hits").parentElement.hidden = one("#said").hidden = true;
  }

  // A row of the checks as one of a table.
  function lineOf({ number, id, verdict, told, printed, ours }) {
    const line = document.createElement("tr");
    const label = one("b", indexOf().heads.get(id).card).textContent;
    for (const [content, address, kind] of [[`${label}, ${id.split("-")[0].replace("inhand", "in hand")}`, id], [told, `check-${number}`], [printed, "", "num"], [ours, "", "num"]]) {
      const cell = line.insertCell();
      cell.className = kind ?? "";
      const place = address ? cell.appendChild(document.createElement("a")) : cell;
      if (address) place.href = `#${address}`;
      place.textContent = content;
    }
    line.insertCell().append(chipOf(verdict));
    return line;
  }
  function chipOf(verdict) {
    const chip = document.createElement("span");
    chip.className = `chip ${verdict}`;
    chip.textContent = verdict.replace("_", " ");
    return chip;
  }
  function sentenceOf({ claim, verdict }) {
    const item = document.createElement("li"), told = document.createElement("div"), link = document.createElement("a");
    link.href = `#${claim.id}`;
    link.append(...one("q", claim).cloneNode(true).childNodes);
    const place = document.createElement("small");
    place.textContent = ` ${claim.parentElement.previousElementSibling.textContent}, ${one("h1", claim.closest("[data-view]")).textContent}`;
    told.append(link, place);
    item.append(chipOf(verdict), told);
    return item;
  }

  // A button in place of further sentences.
  function unfold(rest) {
    const item = document.createElement("li"), button = item.appendChild(document.createElement("button"));
    button.type = "button";
    button.textContent = `${rest.length} more`;
    button.addEventListener("click", () => {
      const more = rest.map(sentenceOf);
      item.replaceWith(...more);
      one("a", more[0]).focus();
    });
    return item;
  }

  const MOST = 300, FIRST_SAID = 12;
  function find() {
    const text = search.value.trim();
    if (text === find.last) return;
    find.last = text;
    if (!text) return void follow();
    const { keys, verdicts, studies, words } = asked(text);
    const { heads, said, rows: all_rows } = indexOf();
    const of = (study) => !studies.length || studies.includes(study);
    const labelled = (id) => of(id.split("-")[0]) && (!keys.length || keys.some((key) => id.endsWith(key)));
    const judged = (verdict) => !verdicts.length || verdicts.includes(verdict);
    // a sentence has no label: it is about a figure where a row of it is
    const about = ({ claim, study }) => of(study) && (!keys.length || all(".behind a", claim).some((link) => labelled(link.hash.slice(1))));
    const graded = (some) => some.filter(([, grade]) => !words.length || grade > 0);
    const found = {
      heads: graded([...heads].filter(([id]) => labelled(id) && !verdicts.length).map(([id, { head }]) => [id, fit(head, words)])),
      said: graded(said.filter((one) => about(one) && judged(one.verdict)).map((one) => [one, fit(one.text, words)])),
      rows: graded(all_rows.filter(({ id, verdict }) => labelled(id) && judged(verdict))
        .map((row) => [row, fit(heads.get(row.id).title + row.text, words)])),
    };
    // all words if anything has them, else as many as anything has
    const most = Object.values(found).flat().reduce((best, [, grade]) => Math.max(best, Math.min(grade, words.length)), 0);
    const best = (some) => some.filter(([, grade]) => grade >= most).sort((a, b) => b[1] - a[1]).map(([one]) => one);
    const hits = best(found.rows), sentences = best(found.said);
    const kept = new Set([...best(found.heads), ...hits.map(({ id }) => id)]);
    document.body.classList.add("finding");
    filterCards(kept);
    const counted = (number, name) => `${number} ${name}${number === 1 ? "" : "s"}`;
    one("#overview-title").textContent = "What was found";
    one("#found").textContent = `${counted(sentences.length, "sentence")}, ${kept.size === 1 ? "1 table or figure" : `${kept.size} tables and figures`}, and ${hits.length} of ${all_rows.length} printed numbers and statements`
      + (most < words.length && most ? `, with ${most} of these ${words.length} words` : "")
      + (hits.length > MOST ? `; the first ${MOST} are below.` : ".");
    one("#hits").parentElement.hidden = !hits.length;
    one("#hits tbody").replaceChildren(...hits.slice(0, MOST).map(lineOf));
    one("#said").hidden = !sentences.length;
    const rest = sentences.slice(FIRST_SAID);
    one("#said").replaceChildren(...sentences.slice(0, FIRST_SAID).map(sentenceOf), ...(rest.length ? [unfold(rest)] : []));
    // a single table or figure is shown itself
    const single = kept.size === 1 && (keys.length || !sentences.length);
    show(single ? document.getElementById([...kept][0]) : one("#overview"));
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
