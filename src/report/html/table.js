// The table of kernels: columns, sorting, filters; only the first rows of what fits are drawn.

/** How many more rows a press on the button shows. */
const ROWS = 100;

const T_UNIT = timeUnit(K.measured_s);

/** Whether the expected time is that of busy multiprocessors, whose work may not be needed. */
function isByBusyTime(k) {
  return K.t_math_s[k] == null && K.roofline_s[k] > (K.t_mem_s[k] ?? 0) * 1.001;
}

/** Whether the true roofline time may be shorter: counts that may be too high, or busy multiprocessors, lie behind it. */
function mayNeedLess(k) {
  return K.roofline_low_s[k] != null;
}

/** The expected time; a bound says so. */
function rooflineText(k, show) {
  if (K.roofline_s[k] == null) return MISSING;
  const shown = show(K.roofline_s[k]);
  if (shown.startsWith("<") || mayNeedLess(k) === !!K.roofline_is_lower_bound[k]) return shown;
  return `${mayNeedLess(k) ? "≤" : "≥"}${shown}`;
}

function headroomText(k) {
  const headroom = K.headroom[k];
  if (headroom == null) return MISSING;
  // Whatever was not counted, the true roofline time is not longer than the measured one.
  const low = Math.max(K.headroom_low[k] ?? 0, headroom < 1 ? 0 : 1);
  const least = K.roofline_is_lower_bound[k] ? low : headroom;
  if (!mayNeedLess(k)) return interval(headroom, least);
  const most = K.judged_s[k] / K.roofline_low_s[k];
  return interval(most <= DATA.farthest ? most : Infinity, least);
}

/** The limiter; null where it is not known. */
function limiterOf(k) {
  const limiter = K.limiter[k] == null ? null : DATA.words.limiter[K.limiter[k]];
  return limiter === "unknown" ? null : limiter;
}

const limiterText = (k) => limiterOf(k) ?? MISSING;

/** Savings, from the pessimistic to the optimistic end. */
function rangeText(k) {
  if (K.savings_low_s[k] == null) return MISSING;
  const [low, high] = [inUnit(K.savings_low_s[k], T_UNIT), inUnit(K.savings_high_s[k], T_UNIT)];
  return low === high ? low : `${low}–${high}`;
}

const maybe = (value, show) => (value == null ? MISSING : show(value));

const most = (column) => column.reduce((greatest, value) => (value > greatest ? value : greatest), 0);

/** Largest values of the columns with bars; of ratios a bar ends at ten. */
const [MOST_SAVINGS, MOST_SHARE, MOST_RATIO] = [most(K.savings_s), most(K.share), Math.min(10, most(K.headroom))];

/** What each column is called, sorted by, and shows; `bar` is the share of a cell's width, `kind` its color. */
const COLUMNS = [
  { key: "rank", title: "#", number: true, value: (k) => K.rank[k], show: (k) => `${K.rank[k]}` },
  { key: "name", title: "kernel", value: (k) => nameOf(k).toLowerCase(), show: nameOf },
  { key: "savings", title: `savings [${T_UNIT.symbol}]`, number: true, value: (k) => K.proven_savings_s[k], show: (k) => inUnit(K.proven_savings_s[k], T_UNIT), bar: (k) => over(K.savings_s[k], MOST_SAVINGS), kind: "savings" },
  { key: "share", title: "share", number: true, value: (k) => K.share[k], show: (k) => percent(K.share[k]), bar: (k) => over(K.share[k], MOST_SHARE), kind: "roofline" },
  { key: "measured", title: `measured [${T_UNIT.symbol}]`, number: true, value: (k) => K.measured_s[k], show: (k) => inUnit(K.measured_s[k], T_UNIT) },
  { key: "roofline", title: `roofline [${T_UNIT.symbol}]`, number: true, value: (k) => K.roofline_s[k], show: (k) => rooflineText(k, (time) => inUnit(time, T_UNIT)) },
  { key: "headroom", title: "ratio", number: true, value: (k) => K.headroom[k], show: headroomText, bar: (k) => over(K.headroom[k], MOST_RATIO), kind: "neutral" },
  { key: "state", title: "state", value: (k) => K.state[k], show: (k) => stateOf(k)[1] },
  { key: "limiter", title: "limiter", value: limiterOf, show: limiterText },
  { key: "range", title: `range [${T_UNIT.symbol}]`, number: true, value: (k) => K.savings_high_s[k], show: rangeText },
  { key: "covers", title: "cumulative", number: true, value: (k) => K.coverage[k], show: (k) => percent(K.coverage[k]) },
  { key: "launches", title: "launches", number: true, value: (k) => K.launches[k], show: (k) => `${K.launches[k]}` },
  { key: "intensity", title: "FLOP/B", number: true, value: (k) => K.busiest_intensity[k], show: (k) => maybe(K.busiest_intensity[k], digits) },
  { key: "ridge", title: "ridge", number: true, value: (k) => K.ridge_point_flop_per_byte[k], show: (k) => maybe(K.ridge_point_flop_per_byte[k], digits) },
  { key: "shape", title: "grid / block", number: true, value: (k) => K.blocks[k], show: (k) => text(K.shape[k]) },
];

/** A bar in a cell, a card or a row; missing values have none. */
function cellBar(share, kind) {
  if (!(share > 0)) return null;
  return draw("svg", { class: "bar", viewBox: "0 0 100 1", preserveAspectRatio: "none", "aria-hidden": "true" },
    draw("rect", { width: Math.min(1, share) * 100, height: 1, class: `part-${kind}` }));
}

/** Words read best from the front; of numbers the largest are looked for. */
function sortOn(key) {
  const column = COLUMNS.find((one) => one.key === key);
  const first = column.number && key !== "rank" ? `-${key}` : key;
  const other = first.startsWith("-") ? key : `-${key}`;
  ask({ sort: asked.sort === first ? other : first });
}

const classOf = (column) => [column.number && "number", column.bar && "barred"].filter(Boolean).join(" ") || null;

function tableHead() {
  const cells = COLUMNS.map((column) => {
    const button = make("button", { type: "button", "data-sort": column.key, onclick: () => sortOn(column.key) }, column.title);
    return make("th", { scope: "col", class: classOf(column), "data-column": column.key }, button);
  });
  return make("thead", {}, make("tr", {}, ...cells));
}

function markSorted() {
  const key = asked.sort.replace(/^-/, "");
  for (const cell of document.querySelectorAll("#table th[data-column]")) {
    const isSorted = cell.getAttribute("data-column") === key;
    if (isSorted) cell.setAttribute("aria-sort", asked.sort.startsWith("-") ? "descending" : "ascending");
    else cell.removeAttribute("aria-sort");
  }
}

function row(k) {
  const cells = COLUMNS.map((column) => {
    const shown = column.show(k);
    if (column.key === "state") return make("td", {}, make("span", { class: `badge${isOpportunity(k) ? " is-savings" : ""}` }, shown));
    if (column.key !== "name") return make("td", { class: classOf(column) }, shown, column.bar && cellBar(column.bar(k), column.kind));
    const button = make("button", { type: "button", class: "kernel", title: elide(fullNameOf(k), 400) }, elide(shown, 160));
    return make("th", { scope: "row", class: "kernel" }, button);
  });
  const kind = isOpportunity(k) ? "flagged" : null;
  return make("tr", { "data-k": k, class: kind, "aria-current": k === asked.selected ? "true" : null }, ...cells);
}

/** Draws the rows of what fits. */
function drawRows() {
  const all = fitting();
  byId("rows").replaceChildren(...all.slice(0, asked.rows).map(row));
  markSorted();
  const time = all.reduce((sum, k) => sum + (K.measured_s[k] ?? 0), 0);
  const of = all.length === SIZE ? count(SIZE, "kernel", "kernels") : `${all.length} of ${count(SIZE, "kernel", "kernels")}`;
  const share = DATA.total > 0 && time > 0 ? `, ${si(time, "s")}, ${percent(time / DATA.total)} of the time` : "";
  byId("count").textContent = all.length === 0 ? "no kernel fits" : `${of}${share}`;
  requestAnimationFrame(markFollowing);
  drawRest();
}

/** Below the first rows: the selected one, where it is far beyond them, and how many are shown of how many. */
function drawRest() {
  document.querySelector("#rows .beyond")?.remove();
  const all = fitting();
  const rest = all.length - asked.rows;
  const more = byId("more");
  more.replaceChildren();
  if (rest <= 0) return;
  const at = all.indexOf(asked.selected);
  if (at >= asked.rows) {
    const beyond = row(asked.selected);
    beyond.classList.add("beyond");
    byId("rows").append(beyond);
  }
  more.append(
    `${asked.rows} of ${all.length} rows are shown${at >= asked.rows ? `, and row ${at + 1}, which is selected` : ""} `,
    make("button", { type: "button", onclick: () => ask({ rows: asked.rows + ROWS }) }, `${Math.min(ROWS, rest)} more`),
  );
}

/** Marks what belongs to the selection: its row, which is shown if it is beyond the last one, its card, its bar. */
function markSelected() {
  for (const one of document.querySelectorAll(".board [aria-current]")) one.removeAttribute("aria-current");
  const at = asked.selected == null ? -1 : fitting().indexOf(asked.selected);
  // Thousands of rows take seconds: a row far beyond them is shown alone.
  if (at >= asked.rows && at < asked.rows + 20 * ROWS) ask({ rows: Math.ceil((at + 1) / ROWS) * ROWS });
  drawRest();
  if (asked.selected == null) return;
  const selected = document.querySelector(`#rows [data-k="${asked.selected}"]`);
  selected?.setAttribute("aria-current", "true");
  const others = `.card[data-rank="${K.rank[asked.selected]}"], #off [data-k="${asked.selected}"]`;
  for (const one of document.querySelectorAll(others)) one.setAttribute("aria-current", "true");
}

/** Words of a filter, each with the number of kernels it fits; those that fit none are left out. */
function options(all, words, column) {
  const counts = new Map();
  for (const position of column) if (position != null) counts.set(position, (counts.get(position) ?? 0) + 1);
  const present = words.map((word, at) => [word[0], `${word[1]} (${counts.get(at)})`, counts.has(at)]);
  return [["", all], ...present.filter(([, , is]) => is)];
}

function drawFilters() {
  const search = make("input", { type: "search", id: "search", placeholder: "name, operator", autocomplete: "off", spellcheck: "false", oninput: (event) => ask({ query: event.target.value, rows: ROWS }) });
  search.value = asked.query;
  const filter = (key) => (value) => ask({ [key]: value, rows: ROWS });
  const parts = [
    make("label", { class: "wide" }, make("span", {}, "search"), search),
    choice("state", options("all", DATA.states, K.state), asked.state, filter("state")),
    choice("category", options("all", DATA.categories, K.category), asked.category, filter("category")),
    choice("limiter", options("all", LIMITERS, K.limiter), asked.limiter, filter("limiter")),
  ];
  if (GROUPS.length > 0) parts.push(choice("group", options("all", GROUPS, K.group), asked.group, filter("group")));
  if (DATA.devices.length > 1) {
    const devices = DATA.devices.map((name, at) => [`${at}`, name]);
    parts.push(choice("device", options("all", devices, K.device), asked.device, (device) => ask({ device, rows: ROWS, ...sceneOf(Number(device || NaN)) })));
  }
  const reset = make("button", { type: "button", id: "reset", onclick: () => { ask({ ...DEFAULTS, level: asked.level, rows: ROWS }); drawFilters(); } }, "show all");
  byId("filters").replaceChildren(...parts, reset);
  markFiltered();
}

/** The button that clears the filters is there when there is something to clear. */
function markFiltered() {
  const reset = byId("reset");
  if (reset) reset.hidden = ![...FILTERS, "sort"].some((key) => asked[key] !== DEFAULTS[key]);
}

/** Says where the table goes on beyond its frame. */
function markFollowing() {
  const [frame, box] = [byId("table"), document.querySelector("#table .scroll")];
  const right = box.scrollWidth - box.clientWidth - box.scrollLeft > 4;
  const below = box.scrollHeight - box.clientHeight - box.scrollTop > 4;
  frame.classList.toggle("more-right", right);
  frame.classList.toggle("more-below", below);
  if (right) {
    const edge = box.getBoundingClientRect().right;
    const hidden = [...box.querySelectorAll("thead th")].filter((cell) => cell.getBoundingClientRect().right > edge + 8).length;
    document.querySelector("#table .follow.right").textContent = `${count(hidden, "more column", "more columns")} →`;
  }
  if (below) {
    const edge = box.getBoundingClientRect().bottom;
    const hidden = [...box.querySelectorAll("tbody tr")].filter((line) => line.getBoundingClientRect().bottom > edge + 8).length;
    document.querySelector("#table .follow.below").textContent = `${count(hidden, "more row", "more rows")} ↓`;
  }
}

/** Builds the table and listens to it. */
function buildTable() {
  const body = make("tbody", { id: "rows" });
  const caption = make("caption", { class: "unseen" }, "Kernels by savings, then by time. Press a column title to sort.");
  const box = make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Table of kernels" }, make("table", {}, caption, tableHead(), body));
  const follow = (side) => make("span", { class: `follow ${side}`, "aria-hidden": "true" });
  byId("table").replaceChildren(box, follow("right"), follow("below"));
  box.addEventListener("scroll", perFrame(markFollowing), { passive: true });
  new ResizeObserver(perFrame(markFollowing)).observe(box);
  const kernelOf = (event) => {
    const row = event.target.closest("tr[data-k]");
    return row ? Number(row.dataset.k) : null;
  };
  body.addEventListener("click", (event) => {
    if (String(getSelection()) === "") select(kernelOf(event));
  });
  body.addEventListener("pointerover", (event) => ask({ hovered: kernelOf(event) }));
  body.addEventListener("pointerleave", () => ask({ hovered: null }));
  body.addEventListener("keydown", (event) => {
    const way = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling" }[event.key];
    const next = way && event.target.closest("tr")?.[way]?.querySelector("button");
    if (!next) return;
    event.preventDefault();
    next.focus();
  });
}
