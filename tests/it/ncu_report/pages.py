"""Prints a report of Nsight Compute as NVIDIA's own package `ncu-report` reads it: `pages.py REPORT FOLDER [PROCESS]`.

Writes FOLDER/raw.csv, every launch with every metric that has a value and NVIDIA's unit of it, as `ncu --page raw`
prints them, and FOLDER/rules.csv, the results of rules as `ncu --page details` prints them. The package gives no
process: it is an argument.
"""

import csv
import math
import re
import sys
from pathlib import Path

import ncu_report

RAW = ["ID", "Process ID", "Process Name", "Host Name"]
NVTX = [
    "thread Domain:Push/Pop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg",
    "Id:Domain:Start/Stop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg",
]
LAUNCH = ["Kernel Name", "Context", "Stream", "Block Size", "Grid Size", "Device", "CC"]
RULES = ["Section Name", "Metric Name", "Metric Unit", "Metric Value"]
RULES += ["Rule Name", "Rule Type", "Rule Description", "Estimated Speedup Type", "Estimated Speedup"]


def text(metric):
    """The value as the raw page has it, in full precision; empty where there is none."""
    if metric is None or not metric.has_value():
        return ""
    value = metric.value()
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else ""
    return str(value)


def base(name):
    """The base unit of a metric of the fixture, whose chip NVIDIA's reader does not know: it has no units then."""
    if ".pct" in name:
        return "%"
    if "time_duration" in name:
        return "ns"
    if name.endswith("cycles_elapsed.avg.per_second"):
        return "hz"
    return "byte" if "bytes" in name else ""


def ranges(names):
    """A cell of nested ranges: domain, name and six fields that are not used."""
    return "".join(f'"{domain}:{name}:none:none:none:none:none:none"  ' for domain, name in names)


def launch(action):
    """What identifies a launch, and the ranges it lies in."""

    def of(name):
        return text(action.metric_by_name(name)).removesuffix(".0")

    def extent(name):
        sides = [of(f"launch__{name}_dim_{side}") for side in "xyz"]
        return f"({', '.join(sides)})" if all(sides) else ""

    # A symbol that is not C++ has no other name.
    bases = [action.NameBase_DEMANGLED, action.NameBase_FUNCTION, action.NameBase_MANGLED]
    kernel = next(filter(None, map(action.name, bases)))
    capability = [of(f"device__attribute_compute_capability_{part}") for part in ("major", "minor")]
    pushed, started = [], []
    state = action.nvtx_state()
    for number in state.domains() if state else []:
        domain = state.domain_by_id(number)
        pushed += [(domain.name(), name) for name in domain.push_pop_ranges()]
        started += [(domain.name(), name) for name in domain.start_end_ranges()]
    head = [kernel, of("launch__context_id"), of("launch__stream_id"), extent("block"), extent("grid")]
    head += [of("device__attribute_device_index"), ".".join(filter(None, capability))]
    return ["1  " + ranges(pushed) if pushed else "", ranges(started)], head


def rules(action):
    """Name, type, text, and kind and amount of the estimate of what each rule says."""
    words = {
        ncu_report.MsgType.OK: "INF",
        ncu_report.MsgType.WARNING: "WRN",
        ncu_report.MsgType.ERROR: "ERR",
        ncu_report.MsgType.OPTIMIZATION: "OPT",
    }
    scopes = {ncu_report.SpeedupType.LOCAL: "local", ncu_report.SpeedupType.GLOBAL: "global"}
    for rule in action.rule_results():
        if not rule.has_rule_message():
            continue
        message = rule.rule_message()
        estimate = ["", ""]
        if rule.has_speedup_estimation():
            speedup = rule.speedup_estimation()
            estimate = [scopes.get(speedup["type"], ""), repr(speedup["speedup"])]
        # Of a reference the last part is printed.
        plain = re.sub(r"@(?:section|source|url):[^:@]*:([^@]*)@", r"\1", message["message"])
        yield [rule.rule_identifier(), words.get(message["type"], ""), plain, *estimate]


def main(report, folder, process="0"):
    actions = [action for result in ncu_report.load_report(report) for action in result]
    own = [process, "app", "127.0.0.1"]
    units = {}
    for action in actions:
        for name in action.metric_names():
            metric = action.metric_by_name(name)
            if metric.has_value():
                units.setdefault(name, metric.unit())
    if units.get("sm__cycles_elapsed.avg.per_second") == "":
        units = {name: unit or base(name) for name, unit in units.items()}
    names = sorted(units)
    with open(Path(folder) / "raw.csv", "w", newline="", encoding="utf-8") as file:
        page = csv.writer(file, quoting=csv.QUOTE_ALL)
        blank = len(RAW) + len(NVTX) + len(LAUNCH)
        page.writerow(RAW + NVTX + LAUNCH + names)
        page.writerow([""] * blank + [units[name] for name in names])
        for number, action in enumerate(actions):
            nvtx, head = launch(action)
            values = [text(action.metric_by_name(name)) for name in names]
            page.writerow([number, *own, *nvtx, *head, *values])
    with open(Path(folder) / "rules.csv", "w", newline="", encoding="utf-8") as file:
        page = csv.writer(file, quoting=csv.QUOTE_ALL)
        page.writerow(RAW + LAUNCH + RULES)
        for number, action in enumerate(actions):
            _, head = launch(action)
            blocks = ["", "launch__grid_size", "", text(action.metric_by_name("launch__grid_size"))]
            page.writerow([number, *own, *head, *blocks, "", "", "", "", ""])
            for rule in rules(action):
                page.writerow([number, *own, *head, "", "", "", "", *rule])


if __name__ == "__main__":
    main(*sys.argv[1:])
