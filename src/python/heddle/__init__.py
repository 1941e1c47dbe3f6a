"""Compiles quantized neural networks for arrays of AIE cores, proves the programs and says what they cost.

    import heddle
    run = heddle.compile("models/tiny_cnn.onnx", mesh=(2, 2))
    print(run.cycles, run.report["bounds"]["efficiency"])
    run.write("out/tiny")                                   # what `heddle compile -o out/tiny` writes

    for point in heddle.sweep(model="models/tiny_cnn.onnx", mesh="1..4x1..4"):
        print(point["figures"]["cores"], point["figures"]["ms"])

The results are those of the command line, byte for byte. docs/python.md has more; the units of every figure stand in
docs/report.md and docs/sweep.md.
"""
from __future__ import annotations

import contextlib
import dataclasses
import functools
import json
import os
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Optional, Union

import numpy as np
from numpy.typing import NDArray

from . import _heddle

__all__ = ["Compilation", "Diagnostic", "DoesNotFit", "Error", "Network", "Simulation", "Timeline", "Track", "WAITS", "compile",
           "simulate", "sweep"]
__version__: str = _heddle.version

Path = Union[str, "os.PathLike[str]"]
Mesh = Union[str, "tuple[int, int]"]
Words = Union[str, Sequence[str]]
Tell = Callable[[str, float], None]
Slices = NDArray[np.void]
Array = NDArray[Any]

WAITS = ("none", "lock", "partner", "start", "ddrEntry")
"""What a number in the field `wait` of a slice stands for; docs/timeline.md."""


@dataclasses.dataclass(frozen=True)
class Diagnostic:
    """One fault: `code` as listed in docs/diagnostics.md, `where` it is, one sentence, facts with units, what to do about
    it, and the exit status that it has on the command line (1 bad input, 2 usage, 3 does not fit, 70 a bug of heddle)."""
    code: str
    where: str
    summary: str
    what: str
    mend: str
    status: int


class Error(Exception):
    """What heddle finds wrong. `diagnostics` are all of the faults; `code`, `where`, `summary`, `what`, `mend` and `status`
    are the first one's. As text it reads as on the command line."""

    def __init__(self, text: str, diagnostics: Sequence[Diagnostic]) -> None:
        super().__init__(text, tuple(diagnostics))
        self.diagnostics = tuple(diagnostics)
        first = self.diagnostics[0]
        self.code, self.where, self.summary = first.code, first.where, first.summary
        self.what, self.mend, self.status = first.what, first.mend, first.status

    def __str__(self) -> str:
        return str(self.args[0]).rstrip()


class DoesNotFit(Error):
    """The network does not fit the device, or the simulation takes more than `max_cycles`."""


@dataclasses.dataclass(frozen=True)
class Track:
    """What one engine did. `kind` is sequencer, ddrIn, ddrOut, wire, coreIn, core or coreOut; a wire's `column` is its number,
    a DDR channel's that of its memtile.

    `slices` is a structured array, one record for each instruction in order of time: `start`, `end` and `ready` (when
    the engine reached it) in cycles; `leaf`, its number in the program; `layer`; `wait`, an index in WAITS; `lock` or
    -1; `record`, the number of its weight record or -1; `cause_track` and `cause_index`, the slice that ended the
    wait, or -1. It shows heddle's own memory, read-only, and keeps it alive."""
    kind: str
    row: int
    column: int
    channel: int
    slices: Slices


@dataclasses.dataclass(frozen=True)
class Timeline:
    """When everything happened: `cycles` of the whole run, and a track for each engine."""
    cycles: int
    tracks: tuple[Track, ...]

    def of(self, kind: str) -> tuple[Track, ...]:
        """The tracks of one kind of engine."""
        return tuple(track for track in self.tracks if track.kind == kind)


def _timeline(cycles: int, tracks: list[tuple[str, int, int, int, Slices]]) -> Timeline:
    return Timeline(cycles, tuple(Track(*track) for track in tracks))


class Network:
    """A network as it is before it meets a device: read and canonicalized once, for any number of compilations.

    shapes: {input: extents} where the model leaves them open. masks: .npz file with masks of the weights, by the names of
    the initializers; apply_masks: where they drop weights that are not zero. propagate: take out what follows from zeros
    in weights. progress: called with the step and its fraction from 0 to 1. Raises Error."""

    def __init__(self, model: Path, *, shapes: Optional[Mapping[str, Sequence[int]]] = None, masks: Optional[Path] = None,
                 apply_masks: bool = False, propagate: bool = True, progress: Optional[Tell] = None) -> None:
        if apply_masks and masks is None:
            raise ValueError("apply_masks needs masks")
        sizes = [(name, [int(extent) for extent in extents]) for name, extents in (shapes or {}).items()]
        self._network = _heddle.read(os.fspath(model), sizes, os.fspath(masks or ""), apply_masks, propagate, progress)

    @property
    def name(self) -> str:
        """Of the file, without folder and ending."""
        return self._network.name

    @property
    def sha256(self) -> str:
        """Of the file's content."""
        return self._network.sha256


class Compilation:
    """A program with its time, its report and its proof. Made by compile()."""

    def __init__(self, run: _heddle.Compilation) -> None:
        self._run = run

    @functools.cached_property
    def report(self) -> dict[str, Any]:
        """What it cost and why: report.json, docs/report.md."""
        report: dict[str, Any] = json.loads(self._run.report())
        return report

    @property
    def cycles(self) -> int:
        """Of one inference, in cycles of the array's clock."""
        return int(self.report["time"]["cycles"])

    @property
    def seconds(self) -> float:
        """Of one inference."""
        return float(self.report["time"]["seconds"])

    @property
    def proved(self) -> bool:
        """Whether the program was executed and every tensor found equal to the reference interpreter's."""
        return bool(self.report["verification"]["ran"])

    @functools.cached_property
    def timeline(self) -> Timeline:
        """When everything happened, by the simulation of the time."""
        return _timeline(self.cycles, self._run.tracks())

    @property
    def plan(self) -> str:
        """plan.txt: who computes what, over which wires everything comes and goes; docs/plan.md."""
        return self._run.plan()

    @property
    def program(self) -> str:
        """program.asm; docs/asm.md."""
        return self._run.program()

    @property
    def inputs(self) -> dict[str, Array]:
        """What the proof fed to the array, made from its seed: by the name of the quantized input, in its type and shape. Empty without
        a proof."""
        return self._run.inputs()

    @property
    def outputs(self) -> dict[str, Array]:
        """What the array made of it, in the type and shape of each quantized output of the network, before operators of the host.
        Empty without a proof."""
        return self._run.outputs()

    def write(self, out: Path) -> None:
        """Writes the folder that `heddle compile -o OUT` writes: all or nothing. Raises Error."""
        self._run.write(os.fspath(out))


def _mesh(mesh: Optional[Mesh]) -> Optional[tuple[int, int]]:
    if mesh is None:
        return None
    sizes = mesh.split("x") if isinstance(mesh, str) and re.fullmatch(r"\d+x\d+", mesh) else mesh
    if isinstance(sizes, str) or len(sizes) != 2:
        raise ValueError(f"a mesh is (rows, columns) or 'ROWSxCOLUMNS', not {mesh!r}")
    return int(sizes[0]), int(sizes[1])


def compile(model: Union[Path, Network], device: Path = "paper", *, mesh: Optional[Mesh] = None,
            set: Optional[Mapping[str, str]] = None, shapes: Optional[Mapping[str, Sequence[int]]] = None,
            masks: Optional[Path] = None, apply_masks: bool = False, propagate: bool = True, effort: int = 1,
            fuse: Words = "auto", reorder: bool = True, frames: int = 1, batch: int = 1, verify: bool = True, seed: int = 1, max_cycles: Optional[int] = None, what_if: bool = True,
            progress: Optional[Tell] = None) -> Compilation:
    """Compiles a network for a device, as `heddle compile` does.

    model: ONNX file, or a Network (then shapes, masks, apply_masks and propagate are said there).
    device: a description (docs/device.md), or 'paper', 'switched'. mesh: (rows, columns) or 'ROWSxCOLUMNS'.
    set: values of the description, with their units: {"links.ddr.read": "2GB/s"}.
    effort: of the planner, 0 the paper's dataflow, 1 the fastest of a menu by estimate, 2 and 3 by simulation of some plans, of many
    (docs/plan.md). fuse: depth-wise tiling where it is faster ("auto"), nowhere ("off"), or of groups of layers, "conv1..pool2" or "conv1..pool2:8". reorder: channel blocks may stand in another order where
    weights have empty blocks (docs/sparsity.md). frames: how often the run goes through the program. batch:
    inferences of a frame, which go through the array together (docs/plan.md). Arrays have all inferences as their first axis. verify: execute the program with data made from `seed`
    and compare every tensor with the interpreter. max_cycles: give up a simulation that takes longer.
    what_if: also simulate each resource for nothing, which the page shows; the report does not depend on it.
    progress: called with the step and its fraction from 0 to 1.

    Raises DoesNotFit, Error, and KeyboardInterrupt on Ctrl-C. Other threads run meanwhile."""
    if not 0 <= effort <= _heddle.MOST_EFFORT:
        raise ValueError(f"effort is from 0 to {_heddle.MOST_EFFORT}, not {effort}")
    if isinstance(model, Network):
        if shapes or masks or apply_masks or not propagate:
            raise ValueError("shapes, masks, apply_masks and propagate belong to the Network")
        network = model
    else:
        network = Network(model, shapes=shapes, masks=masks, apply_masks=apply_masks, propagate=propagate, progress=progress)
    settings = [(key, str(value)) for key, value in (set or {}).items()]
    return Compilation(_heddle.compile(network._network, os.fspath(device), _mesh(mesh), settings, effort, _words(fuse), reorder, frames, batch, verify, seed,
                                       max_cycles, what_if, progress))


class Simulation:
    """A run of a program on the simulated array. Made by simulate()."""

    def __init__(self, run: _heddle.Simulated) -> None:
        self._run = run

    @property
    def cycles(self) -> int:
        """In cycles of the array's clock."""
        return self._run.cycles

    @property
    def seconds(self) -> float:
        """On the array, not of this machine."""
        return self._run.seconds

    @property
    def traffic(self) -> dict[str, int]:
        """Bytes from and to DDR, over the wires and from the cores; a multicast counts once."""
        return self._run.traffic()

    @functools.cached_property
    def timeline(self) -> Timeline:
        """When everything happened."""
        return _timeline(self.cycles, self._run.tracks())

    @functools.cached_property
    def outputs(self) -> dict[str, Array]:
        """What the program left in DDR, by the name of the network's quantized output, in its type and shape. Empty for a
        simulation of the time alone."""
        return self._run.outputs()


def simulate(program: Union[Path, Compilation], inputs: Optional[Mapping[str, Array]] = None, *,
             set: Optional[Mapping[str, str]] = None, data: bool = False, seed: int = 1,
             max_cycles: Optional[int] = None, progress: Optional[Tell] = None) -> Simulation:
    """Runs a compiled program on the simulated array: the time alone, or with `inputs` or `data=True` its values too.

    program: a Compilation, or a folder that it was written to.
    inputs: {name: array} in the type and shape of the program's inputs; those that are missing are made from `seed`.
    set: of a folder: other rates and times than those that it was compiled for, {"links.wire": "2GB/s"}.

    Raises Error."""
    given = dict(inputs or {})
    settings = [(key, str(value)) for key, value in (set or {}).items()]
    if isinstance(program, Compilation) and settings:
        raise ValueError("set belongs to a folder: write the compilation to one")
    of: Union[str, _heddle.Compilation] = program._run if isinstance(program, Compilation) else os.fspath(program)
    return Simulation(_heddle.simulate(of, settings, data or bool(given), given, seed, max_cycles, progress))


def _list(words: Union[Path, Sequence[Path], None]) -> list[str]:
    if words is None:
        return []
    return [os.fspath(words)] if isinstance(words, (str, os.PathLike)) else [os.fspath(word) for word in words]


def _words(of: Words) -> str:
    return ",".join(_list(of))


def _word(number: Optional[int]) -> Optional[str]:
    return None if number is None else str(number)


def _settings(values: Optional[Mapping[str, Words]]) -> list[str]:
    return [f"{key}={','.join(_list(of))}" for key, of in (values or {}).items()]


def sweep(file: Optional[Path] = None, *, model: Union[Path, Sequence[Path], None] = None,
          masks: Union[Path, Sequence[Path], None] = None, apply_masks: Optional[bool] = None, device: Optional[Path] = None,
          mesh: Union[str, Sequence[str], None] = None, square: Optional[bool] = None,
          vary: Optional[Mapping[str, Words]] = None, set: Optional[Mapping[str, str]] = None,
          where: Optional[str] = None, define: Optional[Mapping[str, str]] = None, require: Optional[Words] = None,
          maximize: Optional[str] = None, minimize: Optional[str] = None, estimate: Optional[bool] = None,
          verify: Optional[bool] = None, propagate: Optional[bool] = None, reorder: Optional[bool] = None, effort: Optional[int] = None, fuse: Optional[Words] = None,
          frames: Optional[int] = None, batch: Union[int, Sequence[int], None] = None,
          seed: Optional[int] = None, max_cycles: Optional[int] = None, samples: Optional[int] = None, refine: Optional[int] = None,
          budget: Optional[str] = None, threads: Optional[int] = None, shard: Optional[str] = None, title: str = "",
          out: Optional[Path] = None) -> Iterator[dict[str, Any]]:
    """The points of a sweep, as `heddle sweep` compiles them; those that `out` holds already first, then each when it is done.

    file: a sweep file in YAML; the other arguments are its keys (docs/sweep.md) and take the place of what it says.
    out: the folder of the sweep, which a later one goes on with; without it nothing stays.

    A point is what its file holds (`heddle.point/1`): "figures" has a column of docs/sweep.md each, among them "status",
    "ms" and "reason"; "device" the value of every key. One that does not fit or fails is a point with its reason.

    Leaving the loop early, by Ctrl-C too, ends the sweep once the points are done that it is at. Raises Error at the
    first point where what was asked for is wrong."""
    asked: dict[str, Any] = {
        "file": os.fspath(file or ""), "model": _list(model), "device": os.fspath(device or ""), "mesh": _list(mesh),
        "square": square, "vary": _settings(vary), "set": _settings(set), "where": where, "define": dict(define or {}),
        "require": _list(require), "maximize": maximize, "minimize": minimize, "estimate": estimate, "verify": verify,
        "propagate": propagate, "reorder": reorder, "seed": seed, "max_cycles": max_cycles, "masks": _list(masks), "apply_masks": apply_masks,
        "effort": _word(effort), "fuse": None if fuse is None else _words(fuse), "frames": _word(frames), "batch": None if batch is None else ",".join(map(str, [batch] if isinstance(batch, int) else batch)), "samples": _word(samples), "refine": _word(refine), "budget": budget,
        "threads": _word(threads), "shard": shard, "title": title,
    }
    with contextlib.ExitStack() as stack:
        asked["out"] = os.fspath(out) if out is not None else stack.enter_context(tempfile.TemporaryDirectory(prefix="heddle-sweep-"))
        points = _heddle.Points(asked)
        stack.callback(points.stop)
        for text in points:
            yield json.loads(text)
