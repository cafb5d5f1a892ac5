// The bench in a report: any kernel of the profile can be laid on it.

let isBenchBuilt = false;

/** Builds the bench when it is first looked at: until then it costs nothing. */
function openBench() {
  if (!isBenchBuilt) startBench();
  isBenchBuilt = true;
}

/** One launch of a kernel, on the roofs that it was judged by. */
function layOnBench(k) {
  byId("bench-section").open = true;
  openBench();
  setPlaying(false);
  const each = (sum) => sum / K.launches[k];
  const known = BENCH.devices.findIndex(([name]) => name === DATA.devices[K.device[k]]);
  if (known >= 0) takeDevice(known);
  const { s } = bench;
  if (K.bytes[k] > 0 && K.t_mem_s[k] > 0) s.bandwidth = K.bytes[k] / K.t_mem_s[k];
  if (K.flops[k] > 0 && K.t_math_s[k] > 0) s.peak = K.flops[k] / K.t_math_s[k];
  const main = K.work[k].reduce((most, one) => (most == null || one[2] > most[2] ? one : most), null);
  if (main && K.t_math_s[k] > 0) bench.pipe = main[0];
  const l2 = K.levels[k].find(([level]) => DATA.levels[level][0] === "l2");
  Object.assign(s, {
    operations: each(K.flops[k] ?? 0), bytes: each(K.bytes[k]), fixed: DATA.fixed,
    blocks: K.blocks[k] || 4 * s.sms, resident: 1, reuse: l2 && K.bytes[k] > 0 ? Math.max(1, l2[1] / K.bytes[k]) : 1,
  });
  Object.assign(bench, { form: null, case: null, misfit: "", name: `a launch of ${elide(nameOf(k), 40)}` });
  bench.note = `A launch of ${elide(nameOf(k), 60)}: mean of ${count(K.launches[k], "launch", "launches")}.${known < 0 ? ` Its device is not in the catalog: SMs, clock and L2 bandwidth are those of the ${BENCH.devices[bench.device][0]}.` : ""}${!K.blocks[k] ? " Its grid is not known: four blocks per SM are assumed." : ""} Blocks per SM are not known: one is assumed.`;
  rebuildBench();
  replay();
  byId("bench-section").scrollIntoView();
}

/** The button among a kernel's details, where it has something to lay on the bench. */
function benchButton(k) {
  if (!(K.bytes[k] > 0)) return null;
  return make("button", { type: "button", class: "try", onclick: () => layOnBench(k) }, "try in the playground");
}

byId("bench-section").addEventListener("toggle", () => {
  if (byId("bench-section").open) openBench();
});
