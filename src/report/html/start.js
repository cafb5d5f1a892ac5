// The controls of the chart, and the start.

/** A mark as in the chart, for the legend. */
function markSample(limiter, filled) {
  const mark = MARKS[limiter];
  const shape = {
    circle: () => draw("circle", { cx: 8, cy: 8, r: 5 }),
    square: () => draw("rect", { x: 3.5, y: 3.5, width: 9, height: 9 }),
    triangle: () => draw("path", { d: "M8 2 14 12.5H2Z" }),
    cross: () => draw("path", { d: "M4 4l8 8M12 4l-8 8" }),
  }[mark]();
  shape.setAttribute("class", `mark-${DATA.words.limiter[limiter]}${filled ? " filled" : ""}`);
  return draw("svg", { viewBox: "0 0 16 16", class: "sample", "aria-hidden": "true" }, shape);
}

function lineSample(roof) {
  const kind = roof.kind === "memory" ? `level-${roof.word}` : "pipe";
  const line = draw("line", { x1: 1, x2: 23, y1: roof.kind === "memory" ? 13 : 8, y2: roof.kind === "memory" ? 3 : 8, class: `roof theoretical main ${kind}` });
  return draw("svg", { viewBox: "0 0 24 16", class: "sample line", "aria-hidden": "true" }, line);
}

/** Marks, and the roofs with what they are worth: each can be left out of the chart. */
function drawLegend() {
  const scene = sceneNow();
  if (!scene) return;
  const limiters = new Set(scene.points.map(([k]) => K.limiter[k] ?? 3));
  const marks = DATA.words.limiter.map((label, at) => limiters.has(at) && make("li", {}, markSample(at, true), `${label}${at < 3 ? "-limited" : ""}`));
  const roofs = roofsOf(scene).map((roof) => {
    const id = roofId(roof.kind, roof.word);
    const reach = roof.achievable == null ? "" : `, achievable ${si(roof.achievable, roof.unit)}`;
    const lowest = roof.lowest < roof.theoretical * 0.98 ? ` (at the lowest clock ${si(roof.lowest, roof.unit)})` : "";
    const change = (on) => {
      const hidden = new Set(asked.hidden);
      if (on) hidden.delete(id);
      else hidden.add(id);
      ask({ hidden });
    };
    return make("li", {}, tick(`${roof.label} ${si(roof.theoretical, roof.unit)}${lowest}${reach}`, !asked.hidden.has(id), change, lineSample(roof)));
  });
  byId("legend").replaceChildren(
    make("ul", { class: "marks", "aria-label": "Marks" }, ...marks.filter(Boolean),
      make("li", {}, markSample(0, true), "filled: flagged"), make("li", {}, markSample(0, false), "hollow: others"),
      make("li", { class: "note" }, "area: share of the time")),
    make("details", {}, make("summary", {}, "Roofs"),
      make("fieldset", {}, make("legend", { class: "unseen" }, "Roofs"), make("ul", {},
        ...roofs,
        make("li", {}, tick("theoretical (solid)", asked.theoretical, (on) => ask({ theoretical: on }))),
        scene.memory.concat(scene.compute).some((roof) => roof[2] != null) && make("li", {}, tick("achievable (dashed)", asked.achievable, (on) => ask({ achievable: on })))))),
  );
}

/** Kernels of the chart that are left out as long as only those are asked for that matter. */
function smallOnes(scene) {
  return scene.points.filter(([k]) => !LARGE.has(k)).length;
}

function drawControls() {
  const scene = sceneNow();
  const parts = [];
  if (DATA.scenes.length > 1) {
    const devices = DATA.scenes.map((one, at) => [`${at}`, DATA.devices[one.device]]);
    parts.push(choice("device", devices, `${asked.scene}`, (at) => ask({ scene: Number(at), view: null })));
  }
  if (scene) {
    const counted = new Set(scene.points.flatMap((point) => point[4].map(([at]) => at)));
    const levels = [["dram", "DRAM"], ...[...counted].sort((a, b) => b - a).map((at) => [DATA.levels[at][0], DATA.levels[at][1]])];
    if (levels.length > 1) parts.push(choice("bytes of", levels, asked.level, (level) => ask({ level, view: null })));
    const small = smallOnes(scene);
    if (small > 0) parts.push(tick(`${small} below 1% of the time`, asked.small, (on) => ask({ small: on, view: null })));
    const button = (label, words, act) => make("button", { type: "button", "aria-label": words, title: words, onclick: act }, label);
    parts.push(make("span", { class: "buttons" },
      button("+", "Zoom in", () => zoom(0.7)), button("−", "Zoom out", () => zoom(1 / 0.7)), button("all", "Show all", () => ask({ view: null }))));
  }
  byId("chart-controls").replaceChildren(...parts);
}

/** What has no place in the chart at this level, or by the filters. */
function drawAbsent() {
  const scene = sceneNow();
  if (!scene) return;
  const says = [];
  if (chart.plot && chart.elsewhere > 0) says.push(`${count(chart.elsewhere, "kernel has", "kernels have")} no counted traffic at this level.`);
  if (!fitting().some((k) => K.device[k] === scene.device)) says.push(`No kernel on ${DATA.devices[scene.device]} fits the filters of the table.`);
  byId("absent").textContent = says.join(" ");
}

/** Draws at most once per frame, whatever happens in between. */
function perFrame(act) {
  let waiting = false;
  return () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      act();
    });
  };
}

/** Groups that were set apart lead to their kernels. */
function linkGroups() {
  for (const title of document.querySelectorAll("h3[data-state]")) {
    const state = title.getAttribute("data-state");
    title.append(" ", make("a", { href: `#state=${state}`, class: "live" }, "show them"));
  }
}

/** A press on a card selects its kernel, and stays where it is. */
function linkCards() {
  for (const card of document.querySelectorAll(".card[data-rank]")) {
    card.addEventListener("click", (event) => {
      const k = OF_RANK.get(Number(card.getAttribute("data-rank")));
      if (k == null) return;
      event.preventDefault();
      select(k);
      markSelected();
    });
  }
}

function start() {
  buildTable();
  const chartSoon = perFrame(() => {
    drawChart();
    drawOff();
    drawAbsent();
  });
  onChange([...FILTERS, "sort", "rows"], drawRows);
  onChange([...FILTERS, "sort"], markFiltered);
  onChange([...FILTERS, "scene", "level", "view", "hidden", "theoretical", "achievable", "small"], chartSoon);
  // A kernel too small for the chart is in it as long as it is selected.
  onChange(["selected"], () => { if (SIZE > LARGE.size && !asked.small) chartSoon(); });
  onChange(["scene"], () => { drawControls(); drawLegend(); });
  onChange(["level", "small"], drawControls);
  onChange(["selected", "isFirstChoice"], drawDetail);
  onChange(["selected"], markSelected);
  onChange(["selected", "hovered"], perFrame(drawChosen));
  onChange([...Object.keys(KEYS), "selected", "isFirstChoice"], remember);
  recall();
  drawFilters();
  drawControls();
  drawLegend();
  drawRows();
  drawDetail();
  markSelected();
  linkGroups();
  linkCards();
  listenOff();
  touch();
  byId("detail").addEventListener("keydown", (event) => {
    if (event.key === "Escape") closeDetail();
  });
  drawChart();
  drawOff();
  drawAbsent();
  if (DATA.scenes.length === 0) {
    document.documentElement.classList.add("alone");
    byId("absent").textContent = "No kernel has a measured time.";
  }
  document.documentElement.classList.add("ready");
  new ResizeObserver(chartSoon).observe(chart.box);
  for (const query of ["(prefers-color-scheme: dark)", "print"]) {
    matchMedia(query).addEventListener("change", drawChart);
  }
  addEventListener("hashchange", () => {
    // A link to a part of the page keeps what was asked for.
    if (location.hash.length > 1 && !location.hash.includes("=")) {
      remember();
      return;
    }
    recall();
    drawFilters();
    drawControls();
    if (location.hash.includes("=")) byId("kernels").scrollIntoView();
  });
}

start();
