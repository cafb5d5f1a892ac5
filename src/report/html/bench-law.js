// The law of the bench: counts of kernels and the times that follow, as `roofline.rs` and the closed
// forms compute them. Pure: nothing here knows the page or its data.

/** Operations, bytes, threads or blocks of each closed form, for elements of `e` bytes. */
const COUNTS = {
  transpose: ({ n }, e) => ({ operations: 0, bytes: 2 * n * e, threads: n }),
  embedding: ({ n, d, unique }, e) => ({
    operations: 0, bytes: 8 * n + unique * d * e + n * d * e, threads: n * d,
    misfit: unique > n && "there are at most as many distinct rows as lookups",
  }),
  add: ({ n }, e) => ({ operations: n, bytes: 3 * n * e, threads: n }),
  axpy: ({ n }, e) => ({ operations: 2 * n, bytes: 3 * n * e, threads: n }),
  dot: ({ n }, e) => ({ operations: 2 * n, bytes: 2 * n * e, threads: n }),
  reduction: ({ n, m }, e) => ({
    operations: n - m, bytes: (n + m) * e, threads: n,
    misfit: m > n && "there are at most as many results as elements",
  }),
  "spmv-csr": ({ n, columns, beta }, e) => ({
    operations: 2 * beta * n, bytes: beta * n * (e + 4) + 4 * n + columns * e + n * e, threads: n,
    misfit: beta > columns && "there are at most as many non-zeros in a row as columns",
  }),
  gemv: ({ m, n }, e) => ({ operations: 2 * m * n, bytes: (m * n + n + m) * e, threads: m }),
  softmax: ({ rows, columns }, e) => ({ operations: 5 * rows * columns, bytes: 2 * rows * columns * e, threads: rows * columns }),
  layernorm: ({ rows, columns }, e) => ({ operations: 8 * rows * columns, bytes: (2 * rows * columns + 2 * columns) * e, threads: rows * columns }),
  conv2d({ n, c, h, k, r, stride, pad, groups }, e) {
    const p = Math.floor((h + 2 * pad - r) / stride) + 1;
    const depth = (c / groups) * r * r;
    const misfit = p < 1 ? "the filter does not fit into the image" : (c % groups !== 0 || k % groups !== 0) && "the groups must divide both numbers of channels";
    const met = rowsMet(h, p, r, stride, pad);
    return { operations: 2 * n * p * p * k * depth, bytes: (n * c * met * met + k * depth + n * k * p * p) * e, blocks: groups * tiles(n * p * p, k / groups), isProduct: true, misfit };
  },
  attention({ b, h, g, nq, nk, d }, e) {
    const misfit = h % g !== 0 && "the key and value heads must divide the query heads";
    // One block per 128 queries of a head, as FlashAttention-2 does.
    return { operations: 4 * b * h * nq * nk * d, bytes: (2 * b * h * nq * d + 2 * b * g * nk * d) * e + 4 * b * h * nq, blocks: b * h * Math.ceil(nq / 128), isProduct: true, misfit };
  },
  linear: (sizes, e) => ({
    operations: 2 * sizes.batch * sizes.in * sizes.out, bytes: (sizes.batch * sizes.in + sizes.in * sizes.out + sizes.batch * sizes.out) * e,
    blocks: tiles(sizes.batch, sizes.out), isProduct: true,
  }),
  gemm: ({ m, n, k, batch }, e) => ({ operations: 2 * m * n * k * batch, bytes: batch * (m * k + k * n + m * n) * e, blocks: batch * tiles(m, n), isProduct: true }),
};

/** How many of `h` rows a filter of `r` rows meets at `p` positions: where steps are wider than it, those of each tap. */
function rowsMet(h, p, r, stride, pad) {
  if (r > stride) return Math.min(h, (p - 1) * stride + r - pad);
  const first = (tap) => Math.max(0, Math.ceil((pad - tap) / stride));
  const last = (tap) => Math.min(p - 1, Math.floor((h - 1 + pad - tap) / stride));
  return Array.from({ length: r }, (_, tap) => Math.max(0, last(tap) - first(tap) + 1)).reduce((sum, rows) => sum + rows, 0);
}

/** Blocks of a matrix product, one per tile of its result. */
function tiles(m, n) {
  const side = (length) => Math.ceil(length / (length <= 64 ? 64 : 128));
  return side(m) * side(n);
}

/** Threads of a block, and blocks that fit on an SM at once, for kernels with one thread per element. */
const [THREADS, RESIDENT] = [256, 8];

/** Counts of a form, with the blocks of the customary kernel. */
function countOf(form, sizes, elementBytes) {
  const count = COUNTS[form](sizes, elementBytes);
  const blocks = count.blocks ?? Math.ceil(count.threads / THREADS);
  return { ...count, blocks, resident: count.isProduct ? 1 : RESIDENT, isProduct: count.isProduct === true };
}

/** Rows for which a square layer of numbers of `e` bytes has the operations per byte of the ridge point. */
function balancingRows(ridge, side, e) {
  const perElement = (ridge * e) / 2;
  return Math.max(1, Math.round((perElement * side) / (side - 2 * perElement)));
}

/** All that follows from a machine and a kernel; what is not known is null. */
function lawOf(s, port) {
  const memory = s.bytes / s.bandwidth;
  const math = s.operations / s.peak;
  const expected = Math.max(memory, math);
  const ridge = s.peak / s.bandwidth;
  const intensity = s.bytes > 0 ? s.operations / s.bytes : null;
  const slots = s.sms * s.resident;
  const waves = s.blocks / slots;
  const full = Math.floor(waves);
  const rest = s.blocks - full * slots;
  const waveEfficiency = waves / Math.ceil(waves);
  // An SM's speed does not depend on how many blocks it holds: the fullest one decides.
  const steps = full * s.resident + Math.ceil(rest / s.sms);
  const smEfficiency = s.blocks / s.sms / steps;
  const busy = Math.min(s.blocks, s.sms);
  const chipBytes = s.bytes * s.reuse;
  const ports = s.clock == null ? null : chipBytes / (busy * port * s.clock);
  const chip = s.onChip == null ? null : chipBytes / s.onChip;
  const paths = { memory: Math.max(memory, ports ?? 0), chip: (chip ?? 0) / smEfficiency, math: math / smEfficiency };
  const work = Math.max(paths.memory, paths.chip, paths.math);
  const total = s.fixed + work;
  return {
    memory, math, expected, ridge, intensity, slots, waves, full, rest, waveEfficiency, steps, smEfficiency, busy, chipBytes, ports, chip,
    paths, work, total, attainable: intensity == null ? null : Math.min(s.peak, intensity * s.bandwidth),
  };
}

const isBalanced = ({ memory, math }) => Math.max(memory, math) > 0 && Math.min(memory, math) / Math.max(memory, math) > 0.9;

/** What bounds the kernel: `few` and `busy` are the thresholds of parallelism. */
function boundOf(s, law, { few, busy }) {
  if (law.expected < s.fixed && law.total < 2.5 * s.fixed) return "launch";
  if (s.blocks < few * s.sms && law.expected / law.work < busy) return "parallelism";
  if (law.paths.chip > Math.max(law.paths.memory, law.paths.math)) return "chip";
  if (isBalanced(law)) return "balanced";
  return law.math > law.memory ? "math" : "memory";
}
