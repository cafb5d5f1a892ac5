"""Growth of `rooflint fleet` with the number of ranks: makes a job, converts it in partitions, times the comparison.

    python3 benches/fleet.py PROGRAM FOLDER --ranks 100 --launches 100000
    python3 benches/fleet.py PROGRAM FOLDER --partials 100000 --kernels 2

Prints a line of JSON: rows, bytes of the parts, seconds and peak memory of `convert` (per batch of ranks) and of `fleet`. Exports are
removed as soon as they are converted. Rank 7 has a clock 10% lower, rank 11 has 20% more launches.

With --partials, summaries of so many ranks are merged: all at once, as a tree of merges of a thousand each, and compared. The
summaries are copies of one with other ranks and times, in folders of a thousand, and are left there.
"""

import argparse
import json
import os
import random
import subprocess
import time
from pathlib import Path

HEAD = (
    "source,source_format,process,id,kernel,device,device_ordinal,stream,start_ns,launches,grid_x,grid_y,grid_z,"
    "block_x,block_y,block_z,blocks,threads_per_block,duration_s,duration_s_origin,dram_bytes,dram_bytes_origin,"
    "sm_clock_hz,flops_bf16_matrix,flops_bf16_matrix_origin\n"
)
BATCH = 8
FOLDER = 1000


def kernels(count):
    """Names, blocks, bytes and operations of the kernels, and their least times on an H100."""
    chance = random.Random(1)
    for number in range(count):
        blocks = chance.choice([132, 264, 1056, 4096])
        size, work = 10 ** chance.uniform(5.5, 8.5), 10 ** chance.uniform(8, 11)
        if number % 10 == 0:
            yield f"ncclDevKernel_AllReduce_{number}(Arguments)", blocks, size, 0.0, size / 3.35e12
        else:
            name = f"void fused_kernel_{number}<{number % 7}, float>(float*, float const*, int)"
            yield name, blocks, size, work, max(size / 3.35e12, work / 989e12)


def export(path, rank, launches, count):
    chance = random.Random(rank)
    known = list(kernels(count))
    clock = 1.98e9 * (0.9 if rank == 7 else 1.0)
    launches = int(launches * (1.2 if rank == 11 else 1.0))
    start = 1_800_000_000_000_000_000 + rank
    with open(path, "w", encoding="ascii") as file:
        file.write(HEAD)
        for number in range(launches):
            name, blocks, size, work, least = known[number % count]
            seconds = (least * 1.6 + 3e-6) * (1.98e9 / clock) * chance.uniform(0.97, 1.03)
            file.write(
                f'rank{rank}.csv,ncu-wide,1,{number},"{name}",NVIDIA H100 80GB HBM3,0,7,{start},1,{blocks},1,1,'
                f"256,1,1,{blocks},256,{seconds:.9e},measured,{size:.0f},measured,{clock:.0f},{work:.0f},derived\n"
            )
            start += int(seconds * 1e9) + 1000


def timed(command):
    """Seconds, peak memory in MiB and seconds of all cores of a command."""
    begin = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if status != 0:
        raise SystemExit(f"{command[:3]} failed")
    return time.monotonic() - begin, used.ru_maxrss / 1024, used.ru_utime + used.ru_stime


def partials(asked):
    """Writes summaries, and measures how they are merged."""
    one = asked.folder / "rank0.csv"
    export(one, 0, 100 * asked.kernels, asked.kernels)
    first = asked.folder / "first.json"
    timed([asked.program, "summarize", str(one), "-o", str(first)])
    document = json.loads(first.read_text())
    document["ranks"][0]["rank"] = "@rank@"
    times = []
    for at, kernel in enumerate(document["kernels"]):
        times.append(kernel["figures"]["measured_s"][0])
        end = ["run", "@rank@", f"@{at}@"]
        kernel["ranks"].update(least=end, greatest=end, times_s=[f"@{at}@"])
    text = json.dumps(document, separators=(",", ":"))
    chance = random.Random(2)
    names = []
    for rank in range(asked.partials):
        own = text.replace('"@rank@"', str(rank))
        for at, time in enumerate(times):
            own = own.replace(f'"@{at}@"', repr(time * chance.uniform(0.97, 1.03)))
        name = asked.folder / f"{rank // FOLDER:04}" / f"rank{rank}.partial.json"
        if rank % FOLDER == 0:
            name.parent.mkdir(exist_ok=True)
        name.write_text(own)
        names.append(name)
    listed = asked.folder / "names"
    listed.write_text("".join(f"{name}\n" for name in names))
    flat, tree = asked.folder / "flat.json", asked.folder / "tree.json"
    seconds, memory, cores = timed([asked.program, "merge", "--files-from", str(listed), "-o", str(flat)])
    folders = sorted({name.parent for name in names})
    parts = [asked.folder / f"part-{folder.name}.json" for folder in folders]
    steps = [timed([asked.program, "merge", str(folder), "-o", str(part)]) for folder, part in zip(folders, parts)]
    steps.append(timed([asked.program, "merge", *map(str, parts), "-o", str(tree)]))
    if flat.read_bytes() != tree.read_bytes():
        raise SystemExit("the tree of merges differs")
    fleet = timed([asked.program, "fleet", str(flat)])
    return {
        "partials": len(names),
        "kernels": asked.kernels,
        "bytes": names[-1].stat().st_size * len(names),
        "merge_s": round(seconds, 2),
        "merge_cores_s": round(cores, 2),
        "merge_mb": round(memory),
        "tree_s": round(sum(step[0] for step in steps), 2),
        "tree_mb": round(max(step[1] for step in steps)),
        "merged_bytes": flat.stat().st_size,
        "fleet_s": round(fleet[0], 2),
        "fleet_cores_s": round(fleet[2], 2),
        "fleet_mb": round(fleet[1]),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--ranks", type=int, default=100)
    parser.add_argument("--launches", type=int, default=100_000)
    parser.add_argument("--partials", type=int)
    parser.add_argument("--kernels", type=int, default=200)
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    if asked.partials:
        print(json.dumps(partials(asked)))
        return
    table = asked.folder / "launches"
    convert = [0.0, 0.0]
    for first in range(0, asked.ranks, BATCH):
        ranks = range(first, min(first + BATCH, asked.ranks))
        files = [asked.folder / f"rank{rank}.csv" for rank in ranks]
        for rank, file in zip(ranks, files):
            export(file, rank, asked.launches, asked.kernels)
        seconds, memory, _ = timed([asked.program, "convert", *map(str, files), "-o", f"{table}/"])
        convert = [convert[0] + seconds, max(convert[1], memory)]
        for file in files:
            file.unlink()
    manifest = json.loads((table / "_rooflint.json").read_text())
    seconds, memory, _ = timed([asked.program, "fleet", str(table)])
    print(
        json.dumps(
            {
                "rows": sum(part["rows"] for part in manifest["parts"]),
                "bytes": sum(part["bytes"] for part in manifest["parts"]),
                "convert_s": round(convert[0], 2),
                "convert_mb": round(convert[1]),
                "fleet_s": round(seconds, 2),
                "fleet_mb": round(memory),
            }
        )
    )


if __name__ == "__main__":
    main()
