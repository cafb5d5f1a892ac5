"""The functions of the package. Their options are those of the command line, which checks them and words the errors."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, Literal, Optional, Union

from . import _rooflint
from ._answers import Comparison, Decision, Prediction, Report, Table
from ._inputs import Inputs, Profile

Path = Union[str, "os.PathLike[str]"]
Paths = Union[Path, Iterable[Path]]
Names = Union[str, Iterable[str]]
Profiles = Union[Profile, Iterable[Profile]]
Config = Union[Path, Literal[False], None]


def analyze(
    paths: Profiles,
    device: Optional[str] = None,
    *,
    devices: Optional[Paths] = None,
    ceilings: Optional[Literal["auto", "spec", "measured-clock", "achievable"]] = None,
    threshold: Optional[float] = None,
    min_savings: Optional[str] = None,
    min_share: Optional[float] = None,
    config: Config = None,
    select: Optional[Names] = None,
    ignore: Optional[Names] = None,
    kernel: Optional[Names] = None,
    what_if: Optional[Names] = None,
    top: Optional[int] = None,
    format: Optional[str] = None,
    map: Optional[Path] = None,
    with_ncu: bool = False,
    decimal_sign: Optional[Literal["point", "comma"]] = None,
    strict: bool = False,
    threads: Optional[int] = None,
) -> Report:
    """Compares the kernels of profiles with their roofline and ranks them by potential savings.

    ``paths`` is one profile or several, which become one report: paths of exports, folders or patterns; bytes or open
    files; a profile of ``torch.profiler``; a data frame of metrics (nsight-python); the tree of a Triton Proton
    session.

    :param device: the GPU, such as ``"H100 SXM5 80GB"``, if the export does not name it or names it wrong.
    :param devices: TOML files with further devices.
    :param ceilings: the roofs to compare with.
    :param threshold: minimum measured over roofline time of a flagged kernel.
    :param min_savings: minimum savings of a flagged kernel, with its unit: ``"50us"``.
    :param min_share: share of the run, from 0 to 1, below which savings are ignored.
    :param config: a configuration file; ``False`` ignores ``rooflint.toml``, ``None`` takes the nearest.
    :param select: only these rules.
    :param ignore: all but these rules.
    :param kernel: only these kernels, as :meth:`Report.find` finds them.
    :param what_if: devices or changes to estimate times for.
    :param top: rows in the tables of texts.
    :param format: the input format, instead of recognizing it.
    :param map: a mapping for any other table, or the name of a built-in one.
    :param with_ncu: read ``.ncu-rep`` reports through the ``ncu`` on the path.
    :param decimal_sign: the decimal sign of numbers, if the file leaves it open.
    :param strict: fail on the first unreadable record instead of skipping it.
    :param threads: number of threads that read; one per core by default.
    :raises UsageError: an option, the configuration or the device is wrong.
    :raises InputError: a profile cannot be read, or holds no kernel.
    """
    inputs = Inputs()
    names = inputs.add(paths)
    if inputs.runs:
        raise TypeError("a report is judged already: give analyze() what it was made from, or the report to compare()")
    words = _words(
        device=device,
        devices=devices,
        ceilings=ceilings,
        threshold=threshold,
        min_savings=min_savings,
        min_share=min_share,
        select=select,
        ignore=ignore,
        kernel=kernel,
        what_if=what_if,
        top=top,
        map=map,
        with_ncu=with_ncu,
        decimal_sign=decimal_sign,
        strict=strict,
        threads=threads,
        **{"from": format},
        **_config(config),
    )
    return Report(_run("analyze", words, names, inputs))


def demo() -> Report:
    """Analyzes the built-in sample: one training step of a small transformer on an H100."""
    return Report(_run("demo", [], [], Inputs()))


def compare(
    current: Profiles,
    baseline: Profiles,
    *,
    device: Optional[str] = None,
    baseline_device: Optional[str] = None,
    devices: Optional[Paths] = None,
    config: Config = None,
    order: Optional[str] = None,
    warmup: Optional[int] = None,
    across_devices: bool = False,
) -> Comparison:
    """Compares two sides and says which kernels changed; decides nothing.

    Each side is one run or several repeated ones: reports, exports, saved runs, or anything that :func:`analyze`
    takes. Repeated runs measure the noise.

    :param device: the GPU of exports that do not name it.
    :param baseline_device: the GPU of the baseline, if it differs.
    :param devices: TOML files with further devices.
    :param config: a configuration file; ``False`` ignores ``rooflint.toml``.
    :param order: the order in which runs were taken, such as ``"ABBA"``: A baseline, B current.
    :param warmup: first launches of each kernel to leave out.
    :param across_devices: compare runs on different GPUs, by their ratio to the roofline.
    """
    inputs = Inputs()
    earlier = inputs.add(baseline)
    later = inputs.add(current)
    words = _words(
        device=device,
        baseline_device=baseline_device,
        devices=devices,
        order=order,
        warmup=warmup,
        across_devices=across_devices,
        **_config(config),
    )
    return Comparison(_run("diff", words, earlier + later, inputs, len(earlier)))


def gate(
    current: Profiles,
    baseline: Optional[Profiles] = None,
    *,
    policy: Optional[Path] = None,
    device: Optional[str] = None,
    baseline_device: Optional[str] = None,
    devices: Optional[Paths] = None,
    config: Config = None,
    name: Optional[str] = None,
    anchor: Optional[str] = None,
    coverage: Optional[float] = None,
    allow_missing_baseline: bool = False,
    order: Optional[str] = None,
    warmup: Optional[int] = None,
    across_devices: bool = False,
    exit_zero: bool = False,
) -> Decision:
    """Decides whether runs are slower than their baseline or break a policy, as ``rooflint gate`` does.

    :param baseline: reports, exports, saved runs, or the folder of a store of baselines; none for limits that need
        no baseline.
    :param policy: a file with the policy, instead of ``[gate]`` in ``rooflint.toml``.
    :param name: the name of the baseline in a store.
    :param anchor: a second baseline of the store: a commit, a tag, an entry, or ``"oldest"``.
    :param coverage: share of the baseline's time, from 0 to 1, that must be compared.
    :param allow_missing_baseline: pass the first run, for which there is no baseline yet.
    :param exit_zero: warn only: the decision passes.

    Other parameters are those of :func:`compare`. The decision raises nothing; :meth:`Decision.check` does.
    """
    inputs = Inputs()
    names = inputs.add(current)
    against = None if baseline is None else inputs.add(baseline)
    words = _words(
        baseline=against,
        policy=policy,
        device=device,
        baseline_device=baseline_device,
        devices=devices,
        baseline_name=name,
        anchor=anchor,
        coverage=coverage,
        allow_missing_baseline=allow_missing_baseline,
        order=order,
        warmup=warmup,
        across_devices=across_devices,
        exit_zero=exit_zero,
        **_config(config),
    )
    return Decision(_run("gate", words, names, inputs))


def predict(
    kernel: Optional[str] = None,
    *,
    device: Names,
    model: Optional[Path] = None,
    devices: Optional[Paths] = None,
    pipe: Optional[str] = None,
    engine: Optional[Literal["matrix", "vector"]] = None,
    launch: Optional[str] = None,
    **sizes: Union[int, str, Iterable[Union[int, str]]],
) -> Prediction:
    """Estimates the roofline time of a kernel on devices without a profile.

    ``predict("gemm", m=4096, n=4096, k=4096, dtype="bf16", device="H100 SXM5 80GB").roofline_s`` is in seconds.
    ``rooflint predict --list`` lists kernels and their sizes.

    :param kernel: the closed form, such as ``"gemm"``; none with ``model``.
    :param device: one GPU or several.
    :param model: a step as a TOML file, instead of a kernel.
    :param pipe: the pipe of the main operations, such as ``"bf16_matrix"``.
    :param engine: matrix or vector units for matrix products, whatever the format.
    :param launch: the grid, as ``"BLOCKSxTHREADS"``.
    :param sizes: the sizes and ``dtype``: numbers, texts such as ``"64Ki"`` and ``"1k..64k:x2"``, or lists. An
        underscore after a name is dropped: ``in_=4096``.
    """

    def shown(name: str, value: object) -> str:
        if isinstance(value, (bytes, bytearray, Mapping)):
            raise TypeError(f"{name}: {type(value).__name__} is not a size: give a number, a text, or a list of them")
        if isinstance(value, str) or not isinstance(value, Iterable):
            return str(value)
        return ",".join(str(one) for one in value)

    call = [] if kernel is None else [kernel]
    call += [f"{name.rstrip('_')}={shown(name, value)}" for name, value in sizes.items()]
    words = _words(device=device, model=model, devices=devices, pipe=pipe, engine=engine, launch=launch)
    return Prediction(_run("predict", words, call, Inputs()))


def devices(*, files: Optional[Paths] = None) -> Table:
    """The known GPUs: a row each, with memory bandwidth in bytes/s and the dense peak of every pipe in FLOP/s or OP/s.

    :param files: TOML files with further devices.
    """
    answer = _run("devices", _words(devices=files), [], Inputs())
    return Table("devices", answer.table("devices"))


def device(name: str, *, files: Optional[Paths] = None) -> Any:
    """One GPU by any of its names, as a dictionary: every figure with its unit and source.

    :param files: TOML files with further devices.
    """
    import json

    answer = _run("devices", _words(devices=files), [name], Inputs())
    (found,) = json.loads(answer.written("json"))["devices"]
    return found


def _run(
    command: str, words: list[str], names: list[str], inputs: Inputs, earlier: int = 0
) -> _rooflint.Answer:
    # Whatever a file is called, it is no option.
    return _rooflint.run([command, *words, "--", *names], inputs.contents, inputs.runs, earlier)


def _config(config: Config) -> dict[str, Any]:
    return {"no_config": True} if config is False else {"config": config}


def _words(**options: Any) -> list[str]:
    """Options as the command line has them; those that are ``None`` or ``False`` are left out."""
    words = []
    for name, value in options.items():
        word = f"--{name.replace('_', '-')}"
        if hasattr(value, "dtype") and getattr(value, "ndim", None) == 0:
            # A number of NumPy.
            value = value.item()
        if value is True:
            words.append(word)
        elif value is not None and value is not False:
            if isinstance(value, (bytes, bytearray, Mapping)):
                raise TypeError(f"{name}: {type(value).__name__} is not a value of it: give a text")
            single = isinstance(value, (str, os.PathLike)) or not isinstance(value, Iterable)
            several = [value] if single else list(value)
            if not several:
                raise ValueError(f"{name}: an empty list; leave it out, or give None, for no choice")
            words += [f"{word}={os.fspath(one) if isinstance(one, os.PathLike) else one}" for one in several]
    return words
