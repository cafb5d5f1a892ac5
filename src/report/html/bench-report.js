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
  // Sums are of launches with a time.
  const launches = K.timed_launches[k] || K.launches[k];
  const each = (sum) => sum / launches;
  const known = BENCH.devices.findIndex(([name]) => name === DATA.devices[K.device[k]]);
  if (known >= 0) takeDevice(known);
  const { s } = bench;
  if (K.bytes[k] > 0 && K.t_mem_s[k] > 0) s.bandwidth = K.bytes[k] / K.t_mem_s[k];
  // The device may clock higher, and have another L2, than the roofs that the kernel was judged by.
  const l2 = K.levels[k].find(([level]) => DATA.levels[level][0] === "l2");
  s.onChip = l2 && l2[1] > 0 && l2[2] > 0 ? l2[1] / l2[2] : null;
  if (DATA.is_at_measured_clock || known < 0) s.clock = K.sm_clock_hz[k];
  // The pipe that takes longest, in operations of its own: FLOPs of others overlap with it, and OP are no FLOP.
  const computing = K.work[k].filter(([, operations]) => operations > 0);
  const main = computing.reduce((most, one) => (most == null || one[2] > most[2] ? one : most), null);
  if (main) {
    bench.pipe = main[0];
    const types = BENCH.devices[bench.device][6];
    const runsOn = types.indexOf(main[0]);
    if (runsOn >= 0) bench.dtype = runsOn % BENCH.types.length;
    if (main[2] > 0) s.peak = main[1] / main[2];
  }
  Object.assign(s, {
    operations: each(main ? main[1] : 0), bytes: each(K.bytes[k]), fixed: DATA.fixed,
    blocks: K.blocks[k] || 4 * s.sms, resident: 1, reuse: l2 && K.bytes[k] > 0 ? Math.max(1, l2[1] / K.bytes[k]) : 1,
  });
  const isUncounted = main == null && K.flops[k] == null;
  const others = computing.filter((one) => one !== main).map(([pipe]) => DATA.pipes[pipe]?.[1] ?? "");
  Object.assign(bench, { form: null, case: null, misfit: "", isUncounted, name: `a launch of ${elide(nameOf(k), 40)}` });
  bench.note = `A launch of ${elide(nameOf(k), 60)}: mean of ${count(launches, "launch", "launches")}.${others.length > 0 ? ` What it computes on other pipes (${others.join(", ")}) is left out.` : ""}${isUncounted ? " What it computes was not counted." : ""}${known < 0 ? ` Its device is not in the catalog: SMs are those of the ${BENCH.devices[bench.device][0]}.` : ""}${!K.blocks[k] ? " Its grid is not known: four blocks per SM are assumed." : ""} Blocks per SM are not known: one is assumed.`;
  rebuildBench();
  replay();
  byId("bench-section").scrollIntoView();
}

/** The button among a kernel's details, where it has something to lay on the bench: links bound communication and host copies. */
function benchButton(k) {
  if (!(K.bytes[k] > 0) || stateOf(k)[0] === "not_roofline") return null;
  return make("button", { type: "button", class: "try", onclick: () => layOnBench(k) }, "try in the playground");
}

byId("bench-section").addEventListener("toggle", () => {
  if (byId("bench-section").open) openBench();
});
