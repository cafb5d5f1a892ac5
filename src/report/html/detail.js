// One kernel in full: measured, structural and expected time, the arithmetic behind them, and advice.
// Symbols and words are those of `--explain`.

/** A bar from zero to measured time: roofline time, what the shape costs, savings, and what no cause explains. */
function wayBar(k) {
  const [measured, expected, structural, win] = [K.judged_s[k], K.roofline_s[k], K.structural_s[k], K.savings_s[k]];
  if (!(measured > 0) || expected == null || structural == null || win == null) return null;
  // Of the time of busy multiprocessors nobody knows which part is the roofline's.
  if (mayNeedLess(k)) return null;
  const ideal = Math.min(expected, measured);
  const won = Math.min(win, measured);
  const shape = Math.max(0, Math.min(structural, measured - won) - ideal);
  const rest = measured - ideal - shape - won;
  /** @type {[string, number, string][]} */
  const parts = [["roofline", ideal, "roofline time"], ["gap", shape, K.roofline_is_lower_bound[k] ? "launches, grid, usual share of a roof, not counted" : "launches, grid, usual share of a roof"]];
  // Numbers of six digits add up to a little more or less than their sum.
  if (rest > measured * 1e-4) parts.push(["unproven", rest, `further gap, ${stateOf(k)[0] === "waived" ? "waived" : "savings unproven"}`]);
  if (won > 0 || parts.length < 3) parts.push(["savings", won, "savings"]);
  let from = 0;
  const bar = draw("svg", { viewBox: "0 0 100 8", preserveAspectRatio: "none", class: "stack way", role: "img", "aria-label": parts.map(([, time, what]) => `${percent(time / measured)} ${what}`).join(", ") });
  for (const [kind, time] of parts) {
    const width = (time / measured) * 100;
    if (width > 0) bar.append(draw("rect", { x: from, y: 0, width, height: 8, class: `part-${kind}` }));
    from += width;
  }
  const key = parts.map(([kind, time, what]) => make("li", {}, make("i", { class: `part-${kind}` }), `${si(time, "s")} (${percent(time / measured)}) ${what}`));
  return make("div", {}, bar, make("ul", { class: "key" }, ...key));
}

/** Rows of symbol, value and remark. */
class Lines {
  constructor() {
    this.rows = [];
  }

  add(symbol, value, remark = "") {
    this.rows.push(make("div", {}, make("dt", {}, symbol), make("dd", {}, value), remark && make("dd", { class: "remark" }, remark)));
  }

  list(title) {
    if (this.rows.length === 0) return [];
    return [make("h4", { class: "part" }, title), make("dl", { class: "sums" }, ...this.rows)];
  }
}

const seconds = (time) => si(time, "s");

function memoryLines(lines, k) {
  const [bytes, time] = [K.bytes[k], K.t_mem_s[k]];
  if (bytes != null && time != null) {
    lines.add("B", si(bytes, "B"), text(K.bytes_from[k]));
    if (time > 0) {
      const other = DATA.bandwidths?.[k];
      const bandwidth = si(other ?? bytes / time, "B/s");
      const rest = other ? ` = ${seconds(bytes / other)}; the rest by how busy DRAM was` : "";
      lines.add("BW", bandwidth, "the memory roof used");
      lines.add("t_mem", seconds(time), `B ÷ BW = ${si(bytes, "B")} ÷ ${bandwidth}${rest}`);
    } else {
      lines.add("t_mem", seconds(time), "nothing moved");
    }
  } else if (time != null) {
    lines.add("t_mem", seconds(time), text(DATA.busy?.[k]));
  } else if (bytes != null) {
    lines.add("B", si(bytes, "B"), K.measured_s[k] > 0 ? "no bandwidth to divide by" : "no T to compare it with");
  } else {
    lines.add("B", MISSING, "not in the export");
  }
}

function mathLines(lines, k) {
  for (const [at, operations, time, counted] of K.work[k]) {
    const [, label, unit] = DATA.pipes[at];
    lines.add(`F ${label}`, si(operations, unit), text(counted));
    if (!(time > 0)) continue;
    const peak = si(operations / time, `${unit}/s`);
    lines.add(`P ${label}`, peak, "the compute roof used");
    lines.add(`t ${label}`, seconds(time), `F ÷ P = ${si(operations, unit)} ÷ ${peak}`);
  }
  const math = K.t_math_s[k];
  if (math == null && K.work[k].some(([, operations]) => operations > 0)) lines.add("t_math", MISSING, K.measured_s[k] > 0 ? "no peak to divide by" : "no T to compare it with");
  else if (math == null) lines.add("F", MISSING, "not in the export");
  else if (K.work[k].length > 0) lines.add("t_math", seconds(math), "pipes that share hardware add up, others overlap");
  else if (math === 0) lines.add("t_math", "0 s", "all counted work is zero");
  else lines.add("t_math", seconds(math), "share of cycles with an active tensor pipe × T");
  if (K.uncounted[k] != null) {
    let remark = "taken as unused: what else is known leaves no room for it";
    if (K.roofline_s[k] == null) remark = "may need time too: without E, nothing rules it out";
    else if (K.roofline_is_lower_bound[k]) remark = "may need time too: E is a lower bound";
    lines.add("not counted", text(K.uncounted[k]), remark);
  }
  intensityLine(lines, k);
}

/** Arithmetic intensity beside the ridge point, both of the busiest pipe. */
function intensityLine(lines, k) {
  const [flops, whole, intensity] = [K.flops[k], K.arithmetic_intensity_flop_per_byte[k], K.busiest_intensity[k]];
  if (intensity == null) return;
  const bytes = si(K.bytes[k], "B");
  if (!K.busiest[k]) {
    lines.add("I", `${digits(intensity)} FLOP/B`, `F ÷ B = ${si(flops, "FLOP")} ÷ ${bytes}`);
    return;
  }
  const [at, operations] = K.busiest[k];
  const [, label, unit] = DATA.pipes[at];
  const ridge = K.ridge_point_flop_per_byte[k] == null ? "" : `; ridge point P ÷ BW = ${digits(K.ridge_point_flop_per_byte[k])} ${unit}/B`;
  const all = whole != null && flops > operations * 1.01 ? `; ${digits(whole)} FLOP/B over all pipes` : "";
  const of = K.work[k].length === 1 && unit === "FLOP" ? "F" : `F of ${label}`;
  lines.add("I", `${digits(intensity)} ${unit}/B`, `${of} ÷ B = ${si(operations, unit)} ÷ ${bytes}${ridge}${all}`);
}

function neededLines(lines, k) {
  const needed = DATA.needed[k];
  if (!needed) return;
  const beside = (times, what) => {
    if (times == null) return "one launch; not counted beside it";
    return times >= 1 ? `one launch; ${digits(times)} times as much was ${what}` : `one launch; ${percent(times)} of it was ${what}`;
  };
  lines.add("algorithm", text(needed.call), `from ${text(needed.from)}`);
  lines.add("B needed", si(needed.bytes, "B"), beside(needed.traffic, "moved to and from memory"));
  lines.add("F needed", si(needed.operations, "FLOP"), beside(needed.work, "counted"));
  if (needed.memory != null && needed.math != null) {
    lines.add("E needed", seconds(Math.max(needed.memory, needed.math)), `max(${seconds(needed.memory)}, ${seconds(needed.math)}) of all launches, no byte moved twice and no operation done twice`);
  }
}

function levelLines(lines, k) {
  for (const [at, bytes, time] of K.levels[k]) {
    const [, label, symbol] = DATA.levels[at];
    if (bytes === 0) continue;
    if (time > 0) lines.add(`t_${symbol}`, seconds(time), `${label}: B ÷ BW = ${si(bytes, "B")} ÷ ${si(bytes / time, "B/s")}; beside the headline`);
    else lines.add(`B_${symbol}`, si(bytes, "B"), `${label}: traffic whose bandwidth is not known`);
  }
  const [expected, all] = [K.roofline_s[k], K.hierarchical_s[k]];
  if (expected == null || all == null) return;
  const word = wordOf("binding", k);
  const binding = DATA.levels.find(([key]) => key === word)?.[1] ?? (word || "nothing");
  let remark = `E with all levels, launch by launch; ${binding} binds: the same as E`;
  if (all > K.judged_s[k] * 1.03) remark = `E with all levels, ${binding} the longest: above T, so a counter or a roof does not fit`;
  else if (all > expected * 1.001) remark = `E with all levels, launch by launch; ${binding} binds, and explains ${percent(all / K.judged_s[k])} of T`;
  lines.add("E hier.", seconds(all), remark);
}

function verdictLines(lines, k) {
  const expected = K.roofline_s[k];
  if (expected != null) {
    let bound = "";
    if (mayNeedLess(k) && !isByBusyTime(k)) bound = `; what was counted may be more than was done${K.roofline_is_lower_bound[k] ? ", or not all of it" : ""}`;
    else if (K.roofline_is_lower_bound[k]) bound = K.roofline_high_s[k] == null ? "; a lower bound: nothing limits what was not counted" : `; a lower bound: what was not counted allows up to ${seconds(K.roofline_high_s[k])}`;
    const why = K.work[k].some(([, operations]) => operations > 0) ? "the peaks of the device are not known" : "operations were not counted";
    const formula = isByBusyTime(k) ? `the SMs were busy for so long, which stands in for t_math: ${why}` : "max(t_mem, t_math)";
    lines.add("E", seconds(expected), `${formula}${bound}`);
    if (K.headroom[k] != null) {
      const part = K.judged_s[k] < K.measured_s[k] * 0.999 ? "; the launches that can be judged" : "";
      const certain = K.roofline_is_lower_bound[k] ? `; with what was not counted ${headroomText(k)}` : "";
      lines.add("headroom", factor(K.headroom[k]), `${mayNeedLess(k) && !K.roofline_is_lower_bound[k] ? "at least " : ""}T ÷ E = ${seconds(K.judged_s[k])} ÷ ${seconds(expected)}${part}${certain}`);
    }
  }
  if (K.structural_s[k] != null) {
    lines.add("structural", seconds(K.structural_s[k]), `${seconds(DATA.fixed)} a launch + the longest of t_mem, t_math and t_L2 at their achievable share, with idle multiprocessors and what was not counted included; at least ${seconds(DATA.shortest)} a launch`);
  }
  if (K.savings_s[k] != null && K.structural_s[k] != null) {
    const isWaived = stateOf(k)[0] === "waived";
    const isLeft = K.savings_s[k] === 0 && K.judged_s[k] > K.structural_s[k] * 1.0001;
    const why = isWaived ? "; 0, because it is waived" : isLeft ? "; 0, because no certain cause was found" : "";
    lines.add("savings", seconds(K.savings_s[k]), `T above structural, launch by launch; between ${seconds(K.savings_low_s[k])} (T above ${DATA.near}× the most that any roof or unit asks for) and ${seconds(K.savings_high_s[k])} (T above ${mayNeedLess(k) ? "what is certainly needed" : "E"})${why}`);
    lines.add("run speedup", factor(K.run_speedup[k]), "total ÷ (total − savings)");
    if (K.coverage[k] != null) lines.add("cumulative", percent(K.coverage[k]), "of all savings, with the kernels ranked before it");
  }
  lines.add("limiter", limiterText(k), "");
  lines.add("state", stateOf(k)[1], text(K.reason[k]));
}

/** What a rule says: the sentence, the next experiment, the facts, and how sure it is. */
function findingBlock(finding) {
  let stake = finding.estimator == null ? "savings are not estimated" : "no savings by it";
  if (finding.stake > 0) {
    const low = finding.stake_low < finding.stake ? `${seconds(finding.stake_low)}–` : "";
    stake = `at stake ${low}${seconds(finding.stake)} by ${finding.estimator}`;
  }
  const facts = finding.evidence.map(([name, value]) => make("li", {}, `${text(name)} = ${text(value)}`));
  return make("article", { class: `finding severity-${finding.severity}` },
    make("h4", {}, make("span", { class: `badge ${{ high: "is-bad", medium: "is-doubt" }[finding.severity] ?? ""}` }, finding.severity), ` ${text(finding.rule)}`),
    make("p", {}, text(finding.message)),
    finding.next != null && make("p", { class: "next" }, make("strong", {}, "try: "), text(finding.next)),
    make("p", { class: "hint" }, `severity ${finding.severity}, confidence ${finding.confidence}; ${stake}`),
    facts.length > 0 && make("ul", { class: "evidence" }, ...facts));
}

function headBlock(k) {
  const library = text(K.library[k]);
  const kind = [wordOf("kind", k), library && `library ${library}`].filter(Boolean).join("; ");
  const told = [DATA.categories[K.category[k]][1], kind].filter(Boolean).join(", ");
  const line = (label, value) => value && make("div", {}, make("dt", {}, label), make("dd", {}, value));
  return [
    make("h3", {}, `${K.rank[k]}. ${elide(nameOf(k), 120)}`),
    make("p", { class: "meaning" }, text(K.meaning[k])),
    make("dl", { class: "about" },
      line("kernel", fullNameOf(k)),
      line("operator", text(K.operator[k])),
      line("device", DATA.devices[K.device[k]]),
      line("kind", told),
      line("launches", `${K.launches[k]}, grid / block ${text(K.shape[k])}`),
      line("counted", wordOf("provenance", k))),
  ];
}

/** Selects no kernel, and leads back to the chart. */
function closeDetail() {
  select(null);
  chart.box.focus({ preventScroll: true });
}

/** Shows the selected kernel. */
function drawDetail() {
  const panel = byId("detail");
  const k = asked.selected;
  document.documentElement.classList.toggle("chosen", k != null && !asked.isFirstChoice);
  if (k == null) {
    panel.replaceChildren(make("p", { class: "hint" }, "Select a kernel in the chart or in the table to see its arithmetic and what is advised."));
    return;
  }
  const findings = (DATA.findings[k] ?? []).map(findingBlock);
  const lines = new Lines();
  if (K.measured_s[k] > 0) lines.add("T", seconds(K.measured_s[k]), text(K.time_from[k]));
  else lines.add("T", MISSING, text(K.reason[k]));
  memoryLines(lines, k);
  mathLines(lines, k);
  neededLines(lines, k);
  verdictLines(lines, k);
  const levels = new Lines();
  levelLines(levels, k);
  const told = new Lines();
  for (const [rule, mark, remark] of DATA.told[k] ?? []) told.add(text(rule), text(mark), text(remark));
  const close = make("button", { type: "button", class: "close", "aria-label": "Close the details", onclick: closeDetail }, "×");
  const parts = [
    close,
    ...headBlock(k),
    wayBar(k),
    benchButton(k),
    findings.length > 0 && make("h4", { class: "part" }, "Findings"),
    ...findings,
    ...lines.list("Arithmetic, sums over all launches"),
    ...levels.list("Other memory levels"),
    ...told.list("Nsight Compute says"),
  ];
  panel.replaceChildren(...parts.filter(Boolean));
  panel.scrollTop = 0;
  // What scrolls is reached by the keyboard: a long name.
  for (const one of panel.querySelectorAll(".about dd")) if (one.scrollHeight > one.clientHeight) one.tabIndex = 0;
}
