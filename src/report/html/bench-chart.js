// The roofline of the bench: its two roofs, the ridge point, and the kernel below them.

/** Whole decades around what is drawn, so that a slider moves the point and not the picture. */
function benchView(s, law) {
  const decades = (values) => {
    const [low, high] = around(values.filter((value) => value > 0), 0.3);
    return [Math.floor(low), Math.ceil(high)];
  };
  const x = decades([law.intensity, law.ridge / 10, law.ridge * 10]);
  const rates = s.operations > 0 ? [s.operations / law.total, law.attainable] : [];
  return { x, y: decades([...rates, s.peak * 1.3, s.peak / 100]) };
}

/** Draws it into a box. */
function drawBenchChart(box, s, law, unit) {
  const width = box.clientWidth;
  if (!width) return;
  const scale = parseFloat(getComputedStyle(box).fontSize) / 12;
  const height = Math.round(clamp(width * 0.62, 230, 460));
  const plot = { left: 62 * scale, top: 8, right: width - 10, bottom: height - 40 * scale };
  const view = benchView(s, law);
  const [x, y] = [new Axis(view.x[0], view.x[1], plot.left, plot.right), new Axis(view.y[0], view.y[1], plot.bottom, plot.top)];
  // One unit for the whole axis: that of the roof.
  const [per, letter] = prefix(s.peak, unit);
  const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": "Roofline of this machine and kernel; the arithmetic has the numbers" });
  const inner = draw("g", { "clip-path": "url(#bench-clip)" });
  svg.append(draw("clipPath", { id: "bench-clip" }, draw("rect", { x: plot.left, y: plot.top, width: plot.right - plot.left, height: plot.bottom - plot.top })));
  for (const value of x.ticks(48 * scale)) {
    svg.append(draw("line", { x1: x.at(value), x2: x.at(value), y1: plot.top, y2: plot.bottom, class: "bench-tick" }), draw("text", { x: x.at(value), y: plot.bottom + 15 * scale, "text-anchor": "middle" }, tickLabel(value, "")));
  }
  for (const value of y.ticks(28 * scale)) {
    svg.append(draw("line", { x1: plot.left, x2: plot.right, y1: y.at(value), y2: y.at(value), class: "bench-tick" }), draw("text", { x: plot.left - 5, y: y.at(value) + 4, "text-anchor": "end" }, tickLabel(value / per, "")));
  }
  const title = width < 420 ? `intensity [${unit}/B]` : `arithmetic intensity [${unit}/B]`;
  svg.append(
    inner,
    draw("rect", { x: plot.left, y: plot.top, width: plot.right - plot.left, height: plot.bottom - plot.top, class: "edge" }),
    draw("text", { x: (plot.left + plot.right) / 2, y: height - 6, "text-anchor": "middle" }, title),
    draw("text", { transform: `translate(${11 * scale} ${(plot.top + plot.bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }, `performance [${letter}${unit}/s]`),
  );
  benchRoofs(inner, x, y, plot, s, law, unit);
  benchPoint(inner, x, y, plot, s, law, unit);
  box.replaceChildren(svg);
}

function benchRoofs(inner, x, y, plot, s, law, unit) {
  const start = 10 ** x.low;
  const slope = (rate, kind) => draw("line", { x1: x.at(start), y1: y.at(start * rate), x2: x.at(s.peak / rate), y2: y.at(s.peak), class: `roof main ${kind}` });
  if (s.onChip != null) inner.append(slope(s.onChip, "level-l2 faint"));
  inner.append(
    slope(s.bandwidth, "level-dram"),
    draw("line", { x1: x.at(law.ridge), y1: y.at(s.peak), x2: plot.right, y2: y.at(s.peak), class: "roof pipe" }),
    draw("line", { x1: x.at(law.ridge), x2: x.at(law.ridge), y1: y.at(s.peak), y2: plot.bottom, class: "ridge" }),
    draw("circle", { cx: x.at(law.ridge), cy: y.at(s.peak), r: 3.5, class: "ridge-point" }),
  );
  // Names keep clear of the frame, and of the kernel's mark.
  const letter = 6.8 * (parseFloat(getComputedStyle(byId("bench-chart")).fontSize) / 12);
  const mark = s.operations > 0 && law.intensity != null ? x.at(law.intensity) : -Infinity;
  const peak = si(s.peak, `${unit}/s`);
  const isCovered = law.intensity >= law.ridge && mark > plot.right - peak.length * letter - 16;
  const ridge = `ridge point ${digits(law.ridge)}`;
  const isLast = x.at(law.ridge) + ridge.length * letter > plot.right;
  inner.append(
    draw("text", { x: isCovered ? mark - 14 : plot.right - 6, y: y.at(s.peak) - 6, "text-anchor": "end", class: "label pipe" }, peak),
    draw("text", { x: x.at(law.ridge) + (isLast ? -5 : 5), y: plot.bottom - 6, "text-anchor": isLast ? "end" : "start", class: "label quiet" }, ridge),
  );
  // Along the slope, where it enters the picture, or beyond the mark.
  const low = Math.max(start, 10 ** y.low / s.bandwidth) * 1.15;
  const reach = si(s.bandwidth, "B/s").length * letter * 0.8 + 14;
  const isFree = law.intensity >= law.ridge || Math.abs(mark - x.at(low) - reach / 2) > reach / 2 + 8;
  const foot = isFree ? low : x.value(mark + 14);
  const turn = (Math.atan2(y.at(s.bandwidth * 10) - y.at(s.bandwidth), x.at(10) - x.at(1)) * 180) / Math.PI;
  const words = si(s.bandwidth, "B/s");
  inner.append(draw("text", { transform: `translate(${x.at(foot)} ${y.at(foot * s.bandwidth)}) rotate(${turn}) translate(4 -5)`, class: "label level-dram" }, words));
}

/** The kernel twice: what the roofs allow, and what launch, tail and idle SMs leave of it. */
function benchPoint(inner, x, y, plot, s, law, unit) {
  if (!(s.operations > 0) || law.intensity == null) {
    inner.append(draw("text", { x: plot.left + 10, y: plot.top + 20, class: "label" }, "no operations, so no point: only t_mem"));
    return;
  }
  const rate = s.operations / law.total;
  const [u, roof, point] = [x.at(law.intensity), y.at(law.attainable), y.at(rate)];
  inner.append(
    draw("line", { x1: u, x2: u, y1: roof, y2: plot.bottom, class: "bench-drop" }),
    draw("circle", { cx: u, cy: roof, r: 7, class: "bench-allowed" }),
    draw("circle", { cx: u, cy: point, r: 5.5, class: "bench-point" }),
  );
  const isRight = u > (plot.left + plot.right) / 2;
  // Clear of the roof above it and of the axis below.
  const v = Math.min(plot.bottom - 22, Math.max(point + 20, roof + 22));
  inner.append(draw("text", { x: u + (isRight ? -10 : 10), y: v, "text-anchor": isRight ? "end" : "start", class: "label name" }, si(rate, `${unit}/s`)));
}
