// Kernels that have no place on a roofline, a row each: copies and kernels without operations by their
// bandwidth against the memory roof, kernels without a roof by their time against the roofline time.

/** Rows below a chart, and where there is no chart. */
const OFF_ROWS = 3;
const ALONE_ROWS = 12;

/**
 * Kernels of a scene that fit and are not in the chart, by what can be shown of them, the longest first.
 * @param {Scene} scene
 */
function offOf(scene) {
  const drawn = new Set(scene.points.map(([k]) => k));
  const memory = scene.memory.find(([at]) => DATA.levels[at][0] === "dram");
  const fits = fitting().filter((k) => K.device[k] === scene.device && !drawn.has(k) && K.measured_s[k] > 0);
  const longest = fits.sort((one, two) => K.measured_s[two] - K.measured_s[one] || one - two);
  const moves = (k) => memory != null && K.bytes[k] > 0 && K.judged_s[k] > 0;
  return { memory, moving: longest.filter(moves), timed: longest.filter((k) => !moves(k)) };
}

/** A bar from zero, with a line at what can be reached. */
function offBar(share, kind, reach) {
  const bar = draw("svg", { viewBox: "0 0 100 12", preserveAspectRatio: "none", "aria-hidden": "true" },
    draw("rect", { width: 100, height: 12, rx: 1, class: "track" }),
    draw("rect", { width: Math.min(100, share * 100), height: 12, class: kind }));
  if (reach != null) bar.append(draw("line", { x1: reach * 100, x2: reach * 100, y1: -1, y2: 13, class: "reach" }));
  return bar;
}

function offRow(k, bar, number, remark) {
  const name = make("button", { type: "button", class: "kernel", title: fullNameOf(k) }, `${K.rank[k]} ${nameOf(k)}`);
  return make("li", { "data-k": k, "aria-current": k === asked.selected ? "true" : null }, name, bar,
    make("span", { class: "value" }, make("b", {}, number), ` ${remark}`));
}

/** @param {RoofData} memory */
function movingRow(k, memory) {
  const [, roof, achievable] = memory;
  const rate = K.bytes[k] / K.judged_s[k];
  return offRow(k, offBar(rate / roof, "bar-memory", achievable == null ? null : achievable / roof),
    si(rate, "B/s"), `${percent(rate / roof)} · ${si(K.measured_s[k], "s")}`);
}

function timedRow(k, longest) {
  const [time, roofline] = [K.measured_s[k], K.roofline_s[k]];
  const remark = roofline == null ? percent(K.share[k]) : `roofline ${rooflineText(k, (value) => si(value, "s"))}, ${headroomText(k)}`;
  return offRow(k, offBar(time / longest, "part-roofline", roofline == null ? null : Math.min(1, roofline / longest)), si(time, "s"), remark);
}

/** The rows below the chart, or in its place where nothing can be drawn on a roofline. */
function drawOff() {
  const scene = sceneNow();
  if (!scene) return;
  const alone = !chart.plot;
  const { memory, moving, timed } = offOf(scene);
  const room = alone ? ALONE_ROWS : moving.length > 0 && timed.length > 0 ? OFF_ROWS - 1 : OFF_ROWS;
  const most = asked.small ? ROWS : room;
  const parts = [];
  const list = (title, all, row) => {
    if (all.length === 0) return;
    const shown = all.slice(0, most);
    const rest = all.length - shown.length;
    const time = all.slice(most).reduce((sum, k) => sum + K.measured_s[k], 0);
    const more = rest > 0 ? `; ${count(rest, "more kernel", "more kernels")}, ${si(time, "s")}` : "";
    parts.push(make("h3", {}, `${title}${more}`), make("ol", {}, ...shown.map(row)));
  };
  if (memory) {
    list(`No FLOPs counted: share of DRAM ${si(memory[1], "B/s")}`, moving, (k) => movingRow(k, memory));
  }
  const longest = timed.reduce((most, k) => Math.max(most, K.measured_s[k]), 0);
  const isKnown = timed.some((k) => K.roofline_s[k] != null);
  list(isKnown ? "No position in the chart: time (dashed: roofline time)" : "No roofline: time", timed, (k) => timedRow(k, longest));
  byId("off").replaceChildren(...parts);
}

/** A press on a row selects its kernel. */
function listenOff() {
  byId("off").addEventListener("click", (event) => {
    const row = event.target instanceof Element ? event.target.closest("li[data-k]") : null;
    if (row) select(Number(row.getAttribute("data-k")));
  });
}
