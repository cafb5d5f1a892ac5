// The roofline: axes, roofs and the selection as a drawing, the kernels as dots on a canvas below
// it, as tens of thousands of elements would be slow.

const MARKS = ["circle", "square", "triangle", "cross"];
/** Radius of the whole run's time, area is time; less where the chart is narrow. */
const WHOLE = 30;
const SMALLEST = 3.2;
/** From how many marks on they are drawn smaller and fainter. */
const CROWD = 3000;
/** How many kernels are named in the chart, and in a narrow one. */
const NAMED = 12;
const NAMED_NARROW = 5;

/** About the pixels that axes take of the chart. */
const MARGINS = 80;

/** Pixels that the label of a tick needs. */
const [X_ROOM, Y_ROOM] = [56, 30];

const chart = { box: byId("chart"), canvas: byId("points"), frame: byId("frame"), x: null, y: null, dots: [], plot: null, view: null, places: null, elsewhere: 0, font: "", scale: 1 };

/** Pixels, on a screen whose letters are larger in proportion. */
const large = (pixels) => pixels * chart.scale;

const sceneNow = () => DATA.scenes[asked.scene];
const levelIndex = (key) => DATA.levels.findIndex((level) => level[0] === key);
const roofId = (kind, word) => `${kind}:${word}`;

/** The roofs of a scene as one list. */
function roofsOf(scene) {
  const memory = scene.memory.map(([at, theoretical, achievable, lowest]) => ({
    kind: "memory", word: DATA.levels[at][0], label: DATA.levels[at][1], unit: "B/s", theoretical, achievable, lowest,
  }));
  const compute = scene.compute.map(([at, theoretical, achievable, lowest]) => ({
    kind: "compute", word: DATA.pipes[at][0], label: DATA.pipes[at][1], unit: `${DATA.pipes[at][2]}/s`, theoretical, achievable, lowest,
  }));
  return [...memory, ...compute];
}

const shownRoofs = (scene) => roofsOf(scene).filter((roof) => !asked.hidden.has(roofId(roof.kind, roof.word)));

/** Operations per byte of a point at a level; missing where the level's traffic was not counted. */
function intensityAt([, , dram, , others], level) {
  if (level === "dram") return dram;
  const at = levelIndex(level);
  return others.find(([other]) => other === at)?.[1] ?? null;
}

/** Units of the axes; integer and floating-point work on one picture share them. */
function unitsOf(scene) {
  const units = new Set(scene.points.map((point) => DATA.pipes[point[1]][2]));
  if (units.size > 1) return ["FLOP/B, OP/B", "/s", "operations per second [FLOP/s, OP/s]"];
  const unit = units.has("OP") ? "OP" : "FLOP";
  return [`${unit}/B`, `${unit}/s`, `achieved rate [${unit}/s]`];
}

/** Everything in view: points, and a decade to both sides of the ridge points. */
function wholeView(scene) {
  const level = asked.level;
  const [xs, ys] = [[], []];
  for (const point of scene.points) {
    if (!isShown(point[0])) continue;
    xs.push(intensityAt(point, level));
    ys.push(point[3]);
  }
  const widest = radiusOf(scene.points.reduce((most, [k]) => (isShown(k) ? Math.max(most, K.share[k] ?? 0) : most), 0)) + 6;
  const memory = scene.memory.find(([at]) => DATA.levels[at][0] === level);
  for (const [, peak] of scene.compute) {
    ys.push(peak * 1.8);
    if (memory) xs.push(peak / memory[1] / 10, (peak / memory[1]) * 10);
  }
  const x = around(xs, airOf(xs, 0.15, widest, chart.box.clientWidth - MARGINS));
  if (!x) return null;
  // The foot of the slope belongs to the picture as long as it does not push the points together.
  if (memory) {
    const foot = memory[1] * 10 ** x[0];
    const lowest = ys.reduce((least, y) => Math.min(least, y), Infinity);
    if (foot > lowest / 30) ys.push(foot);
  }
  return { x, y: around(ys, airOf(ys, 0.1, widest, chart.box.clientHeight - MARGINS)) };
}

/** Radius of a mark by its share of the time: its area is the time. */
function radiusOf(share) {
  const smallest = large(sceneNow().points.length > CROWD ? SMALLEST * 0.7 : SMALLEST);
  return Math.max(smallest, Math.min(large(WHOLE), (chart.box.clientWidth - MARGINS) / 25) * Math.sqrt(share));
}

/** Decades of air beside the outermost values, which the widest mark needs as pixels. */
function airOf(values, least, widest, pixels) {
  const ends = around(values, 0);
  return ends ? Math.max(least, ((ends[1] - ends[0]) * widest) / Math.max(1, pixels - 2 * widest)) : least;
}

function color(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

/** Draws all of it. */
function drawChart() {
  const scene = sceneNow();
  if (!scene || !chart.box.clientWidth) return;
  const width = chart.box.clientWidth;
  chart.scale = parseFloat(getComputedStyle(chart.box).fontSize) / 12;
  const whole = wholeView(scene);
  document.documentElement.classList.toggle("alone", !whole);
  // The style sets the height: it is there before anything is drawn.
  const height = chart.box.clientHeight;
  const narrow = width < 560;
  chart.font = getComputedStyle(chart.box).fontFamily;
  const margin = { left: large(narrow ? 58 : 66), right: large(narrow ? 8 : 16), top: 12, bottom: large(44) };
  chart.frame.replaceChildren();
  chart.frame.setAttribute("viewBox", `0 0 ${width} ${height}`);
  chart.dots = [];
  if (!whole) {
    chart.plot = null;
    return;
  }
  const view = asked.view ?? whole;
  chart.view = view;
  chart.plot = { left: margin.left, top: margin.top, right: width - margin.right, bottom: height - margin.bottom };
  const { left, top, right, bottom } = chart.plot;
  chart.x = new Axis(view.x[0], view.x[1], left, right);
  chart.y = new Axis(view.y[0], view.y[1], bottom, top);
  const places = new Places(left + 2, top + 2, right - 2, bottom - 2);
  chart.places = places;
  const inner = draw("g", { "clip-path": "url(#clip)" });
  // Above the line of the selection, which may run through a name.
  const above = draw("g", { "clip-path": "url(#clip)" });
  chart.frame.append(
    draw("clipPath", { id: "clip" }, draw("rect", { x: left, y: top, width: right - left, height: bottom - top })),
    axes(scene, narrow),
    inner,
    draw("g", { id: "chosen" }),
    above,
  );
  placeDots(scene);
  for (const { u, v, radius } of chart.dots) places.mark(u, v, radius + 2);
  const labels = drawRoofs(scene, inner, places);
  paintDots();
  nameDots(above, places, narrow);
  above.append(...labels);
  drawChosen();
}

function axes(scene, narrow) {
  const { left, top, right, bottom } = chart.plot;
  const [xUnit, yUnit, yTitle] = unitsOf(scene);
  const group = draw("g", { class: "axes" });
  for (const value of chart.x.ticks(large(X_ROOM))) {
    const x = chart.x.at(value);
    group.append(draw("text", { x, y: bottom + large(16), "text-anchor": "middle" }, tickLabel(value, "")));
  }
  for (const value of chart.y.ticks(large(Y_ROOM))) {
    const y = chart.y.at(value);
    group.append(draw("text", { x: left - 6, y: y + large(4), "text-anchor": "end" }, tickLabel(value, yUnit)));
  }
  const level = DATA.levels[levelIndex(asked.level)][1];
  const title = narrow ? `intensity, ${level} [${xUnit}]` : `arithmetic intensity: operations per byte of ${level} traffic [${xUnit}]`;
  group.append(
    draw("rect", { x: left, y: top, width: right - left, height: bottom - top, class: "edge" }),
    draw("text", { x: (left + right) / 2, y: bottom + large(36), "text-anchor": "middle", class: "title" }, title),
    draw("text", { transform: `translate(${large(12)} ${(top + bottom) / 2}) rotate(-90)`, "text-anchor": "middle", class: "title" }, yTitle),
  );
  return group;
}

/** Draws roofs and ridge points into `inner`; returns their labels, which belong above the names. */
function drawRoofs(scene, inner, places) {
  const labels = [];
  const roofs = shownRoofs(scene);
  /** @type {[string, (roof: any) => number][]} */
  const sides = [];
  if (asked.theoretical) sides.push(["theoretical", (roof) => roof.theoretical]);
  if (asked.achievable) sides.push(["achievable", (roof) => roof.achievable]);
  for (const [side, rate] of sides) {
    const of = (kind) => roofs.filter((roof) => roof.kind === kind && rate(roof) != null);
    const [memory, compute] = [of("memory"), of("compute")];
    const peak = compute.reduce((most, roof) => Math.max(most, rate(roof)), 0);
    const bandwidth = memory.reduce((most, roof) => Math.max(most, rate(roof)), 0);
    memory.forEach((roof, order) => {
      const end = peak > 0 ? peak / rate(roof) : 10 ** chart.view.x[1] * 10;
      const start = 10 ** Math.min(chart.view.x[0], Math.log10(end) - 1);
      slope(inner, places, roof, side, rate(roof), [start, end]);
      if (side === "theoretical" || !asked.theoretical) slopeLabel(labels, places, roof, rate(roof), end, order);
    });
    for (const roof of compute) {
      const start = bandwidth > 0 ? rate(roof) / bandwidth : 10 ** chart.view.x[0] / 10;
      flat(inner, places, roof, side, rate(roof), start);
      if (side === "theoretical" || !asked.theoretical) flatLabel(labels, places, roof, rate(roof), start);
    }
    if (side === sides[0][0]) ridges(inner, labels, places, memory, compute, rate);
  }
  return labels;
}

function slope(inner, places, roof, side, rate, [start, end]) {
  const { x, y } = chart;
  const kind = `roof ${side} level-${roof.word}${roof.word === asked.level ? " main" : ""}`;
  if (side === "theoretical" && roof.lowest < roof.theoretical * 0.98) {
    const corner = (at, value) => `${x.at(at)},${y.at(at * value)}`;
    const band = [corner(start, rate), corner(end, rate), corner((end * rate) / roof.lowest, roof.lowest), corner(start, roof.lowest)];
    inner.append(draw("polygon", { points: band.join(" "), class: `band level-${roof.word}` }));
  }
  const [x1, y1, x2, y2] = [x.at(start), y.at(start * rate), x.at(end), y.at(end * rate)];
  inner.append(draw("line", { x1, y1, x2, y2, class: kind }));
  places.line(x1, y1, x2, y2);
}

function flat(inner, places, roof, side, rate, start) {
  const { x, y, plot } = chart;
  if (side === "theoretical" && roof.lowest < roof.theoretical * 0.98) {
    const [top, bottom] = [y.at(rate), y.at(roof.lowest)];
    const corners = `${x.at(start)},${top} ${plot.right},${top} ${plot.right},${bottom} ${x.at(start)},${bottom}`;
    inner.append(draw("polygon", { points: corners, class: "band pipe" }));
  }
  inner.append(draw("line", { x1: x.at(start), x2: plot.right, y1: y.at(rate), y2: y.at(rate), class: `roof ${side} pipe` }));
  places.line(Math.max(plot.left, x.at(start)), y.at(rate), plot.right, y.at(rate));
}

/** Along the line, above it; the lines of several levels carry their labels at different places. */
function slopeLabel(labels, places, roof, rate, end, order) {
  const { x, y, plot } = chart;
  const words = `${roof.label} ${si(rate, roof.unit)}`;
  const [dx, dy] = [x.at(10) - x.at(1), y.at(10) - y.at(1)];
  const angle = Math.atan2(dy, dx);
  const length = textWidth(words) + 8;
  const from = Math.max(x.low, Math.log10(10 ** y.low / rate));
  const to = Math.min(x.high, Math.log10(end), Math.log10(10 ** y.high / rate));
  const room = ((to - from) * dx) / Math.cos(angle);
  if (room < length) return;
  for (const share of [0.1 + order * 0.12, 0.3, 0.45, 0.6, 0.05, 0.75, 0.9]) {
    const power = from + (to - from) * Math.min(share, 1 - length / room);
    const [u, v] = [x.at(10 ** power), y.at(10 ** power * rate)];
    // The corners of a turned label span this rectangle.
    const [w, h] = [length * Math.cos(angle) + 10, Math.abs(length * Math.sin(angle)) + 12];
    // Only a strip along the line is taken: other lines are parallel.
    const steps = Math.ceil(length / 14);
    const strip = Array.from({ length: steps }, (_, step) => [u + (w * step) / steps, v - (h * (step + 1)) / steps - 4, w / steps, h / steps + 4]);
    if (u < plot.left || !strip.every(([x, y, wide, high]) => places.isFree(x, y, wide, high))) continue;
    for (const [x, y, wide, high] of strip) places.take(x, y, wide, high);
    const turn = (angle * 180) / Math.PI;
    labels.push(draw("text", { transform: `translate(${u} ${v}) rotate(${turn}) translate(4 -5)`, class: `label level-${roof.word}` }, words));
    return;
  }
}

function flatLabel(labels, places, roof, rate, start) {
  const { x, y, plot } = chart;
  const words = `${roof.label} ${si(rate, roof.unit)}`;
  const width = textWidth(words);
  const at = y.at(rate);
  const left = Math.max(plot.left, x.at(start)) + 6;
  const right = plot.right - width - 6;
  const columns = [1, 0.75, 0.5, 0.25, 0].map((share) => left + (right - left) * share).filter((u) => u >= plot.left);
  // Before the ridge point there is room, too.
  const before = [x.at(start) - width - 10, at - large(12)];
  const corner = places.first([...columns.map((u) => [u, at - large(18)]), before, ...columns.map((u) => [u, at + large(4)])], width, large(14));
  if (corner) labels.push(draw("text", { x: corner[0], y: corner[1] + large(11), class: "label pipe" }, words));
}

/** Where the roof of the shown level meets each compute roof. */
function ridges(inner, labels, places, memory, compute, rate) {
  const { x, y, plot } = chart;
  const main = memory.find((roof) => roof.word === asked.level);
  if (!main) return;
  const seen = new Set();
  for (const roof of compute) {
    const ridge = rate(roof) / rate(main);
    // Pipes of one rate share a ridge point.
    if (seen.has(digits(ridge))) continue;
    seen.add(digits(ridge));
    const [u, v] = [x.at(ridge), y.at(rate(roof))];
    if (u < plot.left || u > plot.right) continue;
    inner.append(draw("line", { x1: u, x2: u, y1: v, y2: plot.bottom, class: "ridge" }));
    inner.append(draw("circle", { cx: u, cy: v, r: 3, class: "ridge-point" }));
    const words = `ridge ${digits(ridge)}`;
    const width = textWidth(words);
    const corners = [18, 34, 50].flatMap((up) => [[u + 4, plot.bottom - large(up)], [u - width - 4, plot.bottom - large(up)]]);
    const corner = places.first(corners, width, large(14));
    if (corner) labels.push(draw("text", { x: corner[0], y: corner[1] + large(11), class: "label quiet" }, words));
  }
}

/** Where the dots of the kernels that fit lie, the longest first. */
function placeDots(scene) {
  const fits = new Uint8Array(SIZE);
  for (const k of fitting()) fits[k] = 1;
  const { x, y } = chart;
  chart.dots = [];
  let elsewhere = 0;
  for (const point of scene.points) {
    const k = point[0];
    if (!fits[k] || !isShown(k)) continue;
    const intensity = intensityAt(point, asked.level);
    if (intensity == null) {
      elsewhere += 1;
      continue;
    }
    chart.dots.push({ k, u: x.at(intensity), v: y.at(point[3]), radius: radiusOf(K.share[k] ?? 0), point });
  }
  chart.dots.sort((one, two) => Number(isOpportunity(one.k)) - Number(isOpportunity(two.k)) || two.radius - one.radius);
  chart.elsewhere = elsewhere;
}

function paintDots() {
  const { left, top, right, bottom } = chart.plot;
  const [width, height] = [right - left, bottom - top];
  const density = window.devicePixelRatio || 1;
  const { canvas } = chart;
  Object.assign(canvas, { width: Math.round(width * density), height: Math.round(height * density) });
  Object.assign(canvas.style, { left: `${left}px`, top: `${top}px`, width: `${width}px`, height: `${height}px` });
  const pen = canvas.getContext("2d");
  pen.scale(density, density);
  pen.translate(-left, -top);
  paintGrid(pen);
  const colors = DATA.words.limiter.map((limiter) => color(`mark-${limiter}`));
  const ground = color("ground");
  const crowded = chart.dots.length > CROWD;
  pen.lineWidth = 1.6;
  for (const { k, u, v, radius } of chart.dots) {
    if (u < left - radius || u > right + radius || v < top - radius || v > bottom + radius) continue;
    const limiter = K.limiter[k] ?? 3;
    pen.beginPath();
    outline(pen, MARKS[limiter], u, v, radius);
    if (isOpportunity(k)) {
      pen.globalAlpha = 0.85;
      pen.fillStyle = colors[limiter];
      pen.fill();
      pen.globalAlpha = 1;
      pen.strokeStyle = ground;
      pen.lineWidth = 1;
      pen.stroke();
      pen.lineWidth = 1.6;
    } else {
      pen.globalAlpha = crowded ? 0.3 : 0.9;
      pen.strokeStyle = colors[limiter];
      pen.stroke();
      pen.globalAlpha = 1;
    }
  }
}

/** The grid lies below the marks, so it belongs to the canvas. */
function paintGrid(pen) {
  const { left, top, right, bottom } = chart.plot;
  pen.beginPath();
  for (const x of chart.x.ticks(large(X_ROOM)).map((value) => chart.x.at(value))) {
    pen.moveTo(x, top);
    pen.lineTo(x, bottom);
  }
  for (const y of chart.y.ticks(large(Y_ROOM)).map((value) => chart.y.at(value))) {
    pen.moveTo(left, y);
    pen.lineTo(right, y);
  }
  pen.strokeStyle = color("grid");
  pen.lineWidth = 1;
  pen.stroke();
}

/** The outline of a mark; shapes of one radius cover about the same area. */
function outline(pen, mark, u, v, radius) {
  if (mark === "circle") {
    pen.arc(u, v, radius, 0, 2 * Math.PI);
  } else if (mark === "square") {
    const r = radius * 0.89;
    pen.rect(u - r, v - r, 2 * r, 2 * r);
  } else if (mark === "triangle") {
    const r = radius * 1.35;
    pen.moveTo(u, v - r);
    pen.lineTo(u + r * 0.93, v + r * 0.6);
    pen.lineTo(u - r * 0.93, v + r * 0.6);
    pen.closePath();
  } else {
    const r = radius * 0.9;
    pen.moveTo(u - r, v - r);
    pen.lineTo(u + r, v + r);
    pen.moveTo(u + r, v - r);
    pen.lineTo(u - r, v + r);
  }
}

const ruler = document.createElement("canvas").getContext("2d");

function textWidth(words, weight = 400) {
  ruler.font = `${weight} ${large(12)}px ${chart.font}`;
  return ruler.measureText(words).width;
}

/** Where a label may lie around a mark, nearest first; farther ones get a line to the mark. */
function around8(u, v, r, width) {
  const h = large(14);
  return [r, r + 16, r + 34].flatMap((away) => [
    [u + away, v - h / 2], [u - away - width, v - h / 2],
    [u - width / 2, v - away - h], [u - width / 2, v + away],
    [u + away * 0.7, v - away * 0.7 - h], [u + away * 0.7, v + away * 0.7],
    [u - away * 0.7 - width, v - away * 0.7 - h], [u - away * 0.7 - width, v + away * 0.7],
  ]);
}

/** Names kernels where there is room, those with the largest share of the time first. */
function nameDots(above, places, narrow) {
  const { left, right, top, bottom } = chart.plot;
  const dots = chart.dots.filter(({ u, v }) => u >= left && u <= right && v >= top && v <= bottom);
  dots.sort((one, two) => K.share[two.k] - K.share[one.k] || one.k - two.k);
  for (const { k, u, v, radius } of dots.slice(0, narrow ? NAMED_NARROW : NAMED)) {
    const words = `${K.rank[k]} ${elide(text(K.name[k]), narrow ? 18 : 26)}`;
    // Beside the ring that a selection draws.
    const [width, height, r] = [textWidth(words, 600), large(14), radius + 8];
    const corner = places.first(around8(u, v, r, width), width, height);
    if (!corner) continue;
    const [x, y] = [Math.min(Math.max(u, corner[0]), corner[0] + width), Math.min(Math.max(v, corner[1]), corner[1] + height)];
    const far = Math.hypot(x - u, y - v);
    if (far > r + 8) {
      const start = (radius + 2) / far;
      above.append(draw("line", { x1: u + (x - u) * start, y1: v + (y - v) * start, x2: x, y2: y, class: "leader" }));
    }
    above.append(draw("text", { x: corner[0], y: corner[1] + large(11), class: isOpportunity(k) ? "label name" : "label", "data-k": k }, words));
  }
}

/** The ring around the selected kernel, its levels joined by a line, and the ring of the pointer. */
function drawChosen() {
  const group = byId("chosen");
  if (!group) return;
  group.replaceChildren();
  const dotOf = (k) => (k == null ? undefined : chart.dots.find((dot) => dot.k === k));
  const { left, right, top, bottom } = chart.plot;
  const inside = (u, v) => u >= left - 1 && u <= right + 1 && v >= top - 1 && v <= bottom + 1;
  const selected = dotOf(asked.selected);
  if (selected) {
    const levels = [["dram", selected.point[2]], ...selected.point[4].map(([at, intensity]) => [DATA.levels[at][0], intensity])];
    const spots = levels.map(([level, intensity]) => [level, chart.x.at(intensity)]).filter(([, u]) => inside(u, selected.v));
    if (spots.length > 1) {
      const all = spots.map(([, u]) => u);
      group.append(draw("line", { x1: Math.min(...all), x2: Math.max(...all), y1: selected.v, y2: selected.v, class: "levels" }));
      // Labels of levels go where neither a mark nor another label lies, as long as the kernel is selected.
      const taken = chart.places.taken.length;
      const [height, r] = [large(14), selected.radius + 9];
      for (const [level, u] of spots) {
        const words = DATA.levels[levelIndex(level)][1];
        const width = textWidth(words);
        const corners = [r, r + 16, r + 32].flatMap((away) => [[u - width / 2, selected.v + away], [u - width / 2, selected.v - away - height]]);
        const corner = chart.places.first(corners, width, height);
        group.append(draw("circle", { cx: u, cy: selected.v, r: 3.5, class: `spot level-${level}` }));
        if (corner) group.append(draw("text", { x: corner[0], y: corner[1] + large(11), class: "label" }, words));
      }
      chart.places.taken.length = taken;
    }
    if (inside(selected.u, selected.v)) group.append(draw("circle", { cx: selected.u, cy: selected.v, r: selected.radius + 5, class: "ring" }));
  }
  const hovered = asked.hovered === asked.selected ? null : dotOf(asked.hovered);
  if (hovered && inside(hovered.u, hovered.v)) {
    group.append(draw("circle", { cx: hovered.u, cy: hovered.v, r: hovered.radius + 4, class: "ring light" }));
  }
}
