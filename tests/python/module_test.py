#!/usr/bin/python3
"""The module heddle says what the command line says, and goes on as Python does.

    PYTHONPATH=build/ci/python tests/python/module_test.py --heddle build/ci/heddle --build build/ci --models build/ci/models \\
        [Compile | Errors | Simulate | Sweep | Interrupt | Docs | Example | Install]
"""
import argparse
import concurrent.futures
import csv
import importlib.util
import inspect
import json
import os
import pathlib
import pickle
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock

import numpy as np

import heddle

SOURCE = pathlib.Path(__file__).resolve().parents[2]
CNN, MOBILE = SOURCE / "models/tiny_cnn.onnx", SOURCE / "models/tiny_mobile.onnx"
FENCE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PATHS = {**os.environ, "PYTHONPATH": str(pathlib.Path(heddle.__file__).parents[1])}
options = None


def without_effort(report):
    return {key: value for key, value in report.items() if key != "effort"}


class Module(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="heddle-python-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.out = self.folder / "out"

    def run_heddle(self, *arguments):
        done = subprocess.run([options.heddle, *map(str, arguments)], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def same_files(self, a, b):
        names = sorted(path.name for path in a.iterdir())
        self.assertEqual(names, sorted(path.name for path in b.iterdir()))
        for name in names:
            if name == "report.json":
                ours, theirs = (json.loads((folder / name).read_text()) for folder in (a, b))
                self.assertEqual(without_effort(ours), without_effort(theirs))
            else:
                self.assertEqual((a / name).read_bytes(), (b / name).read_bytes(), name)


class Compile(Module):
    def test_the_same_bytes_as_the_command_line(self):
        self.run_heddle("compile", MOBILE, "--mesh", "2x3", "--set", "links.wire=2GB/s", "--set", "core.callOverhead=8cycles",
                        "--effort", "0", "--seed", "5", "-q", "-o", self.out)
        run = heddle.compile(MOBILE, "paper", mesh=(2, 3), set={"links.wire": "2GB/s", "core.callOverhead": "8cycles"}, effort=0, seed=5)
        report = json.loads((self.out / "report.json").read_text())
        self.assertEqual(without_effort(run.report), without_effort(report))
        self.assertEqual((run.cycles, run.seconds, run.proved), (report["time"]["cycles"], report["time"]["seconds"], True))
        self.assertEqual(run.program, (self.out / "program.asm").read_text())
        self.assertEqual(run.plan, (self.out / "plan.txt").read_text())
        run.write(self.folder / "ours")
        self.same_files(self.folder / "ours", self.out)

    def test_each_setting_reaches_the_compiler(self):
        usual = heddle.compile(CNN, mesh="2x2")
        self.assertEqual((usual.report["device"]["rows"], usual.report["device"]["columns"]), (2, 2))
        self.assertNotEqual(heddle.compile(CNN, mesh="2x2", effort=0).cycles, usual.cycles)
        self.assertLessEqual(heddle.compile(CNN, mesh="2x2", effort=2).cycles, usual.cycles)
        two = heddle.compile(CNN, mesh="2x2", frames=2)
        self.assertEqual((two.report["time"]["frames"], two.report["verification"]["matches"]), (2, True))
        self.assertEqual({a.shape[0] for a in [*two.inputs.values(), *two.outputs.values()]}, {2})
        again = heddle.simulate(two, two.inputs).outputs
        self.assertTrue(all(np.array_equal(again[name], array) for name, array in two.outputs.items()))
        six = heddle.compile(CNN, mesh="2x2", frames=2, batch=3)
        self.assertEqual((six.report["time"]["batch"], six.report["verification"]["matches"]), (3, True))
        self.assertEqual({a.shape[0] for a in [*six.inputs.values(), *six.outputs.values()]}, {6})
        for name, array in two.inputs.items():  # seeds rise from inference to inference
            np.testing.assert_array_equal(six.inputs[name][:2], array)
        for name, array in two.outputs.items():
            np.testing.assert_array_equal(six.outputs[name][:2], array)
        with self.assertRaisesRegex(ValueError, "batch 65 is not 1 to 64"):
            heddle.compile(CNN, mesh="2x2", batch=65)
        tiled = heddle.compile(CNN, mesh="2x2", fuse="conv1..b1_2:3", verify=False).report["groups"]
        self.assertEqual([(group["first"], group["tiles"]) for group in tiled], [("conv1", 3)])
        self.assertNotEqual(heddle.compile(CNN, "switched", mesh="2x2").report["device"]["name"], usual.report["device"]["name"])
        unproved = heddle.compile(CNN, mesh="2x2", verify=False, what_if=False)
        self.assertEqual((unproved.proved, unproved.inputs, unproved.outputs), (False, {}, {}))
        self.assertEqual(unproved.cycles, usual.cycles)
        other = heddle.compile(CNN, mesh="2x2", seed=2)
        self.assertFalse(np.array_equal(other.inputs["input"], usual.inputs["input"]))
        pruned = SOURCE / "models/tiny_pruned.onnx"
        self.assertNotEqual(heddle.compile(pruned, mesh="2x2", propagate=False, verify=False).cycles,
                            heddle.compile(pruned, mesh="2x2", verify=False).cycles)
        self.run_heddle("prune", pruned, "--ratio", "0.5", "-q", "-o", self.folder / "less.onnx")
        orders = [["\norder " in heddle.compile(self.folder / "less.onnx", mesh=mesh, reorder=reorder, verify=False).plan
                   for mesh in ("1x2", "2x2", "2x3", "3x3", "4x4")] for reorder in (True, False)]
        self.assertEqual([any(taken) for taken in orders], [True, False])

    def test_what_the_proof_computed_is_what_the_interpreter_computes(self):
        run = heddle.compile(CNN, mesh=(1, 2), seed=3)
        self.run_heddle("interpret", CNN, "--quantized", "--seed", "3", "-q", "--output", f"logits={self.folder}/logits.npy")
        np.testing.assert_array_equal(run.outputs["logits"], np.load(self.folder / "logits.npy"))

    def test_a_network_is_read_once_for_many(self):
        network = heddle.Network(CNN)
        self.assertEqual((network.name, network.sha256), ("tiny_cnn", heddle.compile(network, mesh="1x1").report["model"]["sha256"]))
        meshes = [(rows, columns) for rows in (1, 2) for columns in (1, 2, 3)]
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            together = list(pool.map(lambda mesh: heddle.compile(network, mesh=mesh).cycles, meshes))
        self.assertEqual(together, [heddle.compile(CNN, mesh=mesh).cycles for mesh in meshes])

    def test_masks_are_those_of_a_file(self):
        self.run_heddle("prune", CNN, "--ratio", "0.5", "-q", "-o", self.folder / "pruned.onnx")
        masked = heddle.compile(CNN, mesh="2x2", masks=self.folder / "pruned.masks.npz", apply_masks=True)
        self.assertEqual(masked.cycles, heddle.compile(self.folder / "pruned.onnx", mesh="2x2").cycles)
        self.assertLess(masked.report["model"]["weightBytes"], heddle.compile(CNN, mesh="2x2").report["model"]["weightBytes"])

    def test_the_timeline_is_that_of_the_file_and_not_copied(self):
        run = heddle.compile(CNN, mesh="2x2")
        self.run_heddle("compile", CNN, "--mesh", "2x2", "-q", "-o", self.out)
        self.run_heddle("export", self.out, "--format", "csv", "-q")
        ours = [(track.kind, track.row, track.column, track.channel, *(int(one[field]) for field in ("start", "end", "ready", "layer", "leaf", "lock")),
                 heddle.WAITS[one["wait"]], int(one["cause_track"]), int(one["cause_index"]))
                for track in run.timeline.tracks for one in track.slices]
        with (self.out / "timeline.csv").open() as lines:
            theirs = [(c["engine"], *(int(c[key]) for key in ("row", "column", "channel", "start", "end", "ready", "layer", "instruction", "lock")),
                       c["wait"], int(c["cause_track"]), int(c["cause_slice"])) for c in csv.DictReader(lines)]
        self.assertEqual(ours, theirs)
        self.assertEqual(run.timeline.cycles, run.cycles)
        track = run.timeline.of("core")[0]
        with self.assertRaises(ValueError):
            track.slices["start"][0] = 1
        self.assertFalse(track.slices.flags.owndata)
        kept = track.slices
        before = kept.copy()
        del run, track
        self.assertTrue((kept == before).all(), "the array keeps its memory alive")

    def test_slices_say_what_they_waited_for(self):
        timeline = heddle.compile(MOBILE, mesh="2x2").timeline
        for track in timeline.tracks:
            slices = track.slices
            self.assertTrue((slices["start"][1:] >= slices["end"][:-1]).all())
            self.assertTrue((slices["start"] >= slices["ready"]).all())
            waited = slices[slices["wait"] == heddle.WAITS.index("lock")]
            self.assertTrue((waited["lock"] >= 0).all())
            for one in waited[:20]:
                cause = timeline.tracks[one["cause_track"]].slices[one["cause_index"]]
                self.assertLessEqual(cause["end"], one["start"])

    def test_progress_is_told_and_may_end_it(self):
        steps = []
        heddle.compile(CNN, mesh="2x2", progress=lambda step, fraction: steps.append((step, fraction)))
        self.assertTrue(steps and all(0 <= fraction <= 1 for _, fraction in steps))

        def refuse(step, fraction):
            raise LookupError(step)
        with self.assertRaises(LookupError):
            heddle.compile(MOBILE, mesh="4x4", progress=refuse)


class Errors(Module):
    def test_all_faults_with_all_that_the_command_line_says(self):
        device = self.folder / "bad.yaml"
        device.write_text("name: bad\nfoo: 1\nbar: 2\n")
        with self.assertRaises(heddle.Error) as raised:
            heddle.compile(CNN, device)
        done = subprocess.run([options.heddle, "compile", CNN, "--device", device, "-o", self.out], capture_output=True, text=True)
        self.assertEqual(str(raised.exception), done.stderr.rstrip())
        self.assertGreater(len(raised.exception.diagnostics), 1)
        self.assertEqual(raised.exception.status, done.returncode)

    def test_the_first_one_is_the_exception_s(self):
        with self.assertRaises(heddle.DoesNotFit) as raised:
            heddle.compile(CNN, mesh="2x2", set={"core.memory": "64B"})
        error, first = raised.exception, raised.exception.diagnostics[0]
        self.assertEqual((error.code, error.where, error.summary, error.what, error.mend, error.status),
                         (first.code, first.where, first.summary, first.what, first.mend, first.status))
        self.assertEqual((error.code, error.status), ("PLAN001", 3))
        self.assertIn("core.memory", error.mend)
        again = pickle.loads(pickle.dumps(error))
        self.assertEqual((type(again), str(again), again.diagnostics), (heddle.DoesNotFit, str(error), error.diagnostics))

    def test_codes(self):
        (self.folder / "foreign").mkdir()
        (self.folder / "foreign/letter.txt").write_text("keep me")
        run = heddle.compile(CNN, mesh="1x1", verify=False)
        for code, call in (("ONNX001", lambda: heddle.compile(self.folder / "none.onnx")),
                           ("DEV009", lambda: heddle.compile(CNN, set={"core.memry": "64KiB"})),
                           ("MACH014", lambda: heddle.compile(CNN, mesh="1x1", max_cycles=10)),
                           ("FILE003", lambda: run.write(self.folder / "foreign")),
                           ("FILE001", lambda: heddle.simulate(self.folder / "none")),
                           ("CLI006", lambda: heddle.simulate(run, {"none": np.zeros(1, np.int8)})),
                           ("CLI005", lambda: heddle.simulate(run, {"input": np.zeros(1, np.float32)})),
                           ("CLI005", lambda: heddle.simulate(run, {"input": np.zeros(1, np.float64)})),
                           ("SWEEP001", lambda: next(heddle.sweep(model=CNN, mesh="x"))),
                           ("SWEEP008", lambda: next(heddle.sweep(mesh="1x1"))),
                           ("SWEEP006", lambda: next(heddle.sweep(model=CNN, where="nothing > 1")))):
            with self.subTest(code=code), self.assertRaises(heddle.Error) as raised:
                call()
            self.assertEqual(raised.exception.code, code)
        self.assertEqual((self.folder / "foreign/letter.txt").read_text(), "keep me")

    def test_arguments_that_are_none(self):
        network = heddle.Network(CNN)
        for call in (lambda: heddle.compile(CNN, mesh="2by2"), lambda: heddle.compile(CNN, mesh=(1, 2, 3)),
                     lambda: heddle.compile(CNN, effort=9), lambda: heddle.compile(CNN, fuse="conv1"), lambda: heddle.compile(CNN, frames=0), lambda: heddle.compile(network, propagate=False),
                     lambda: heddle.Network(CNN, apply_masks=True),
                     lambda: heddle.simulate(heddle.compile(network, mesh="1x1", verify=False), set={"links.wire": "1GB/s"})):
            with self.assertRaises(ValueError):
                call()


class Simulate(Module):
    def test_a_folder_runs_again(self):
        run = heddle.compile(CNN, mesh="2x2")
        run.write(self.out)
        for program in (self.out, run):
            again = heddle.simulate(program)
            self.assertEqual((again.cycles, again.seconds, again.outputs), (run.cycles, run.seconds, {}))
            self.assertEqual([len(track.slices) for track in again.timeline.tracks], [len(track.slices) for track in run.timeline.tracks])
        said = json.loads(self.run_heddle("simulate", self.out, "--set", "links.wire=1GB/s", "--json").stdout)
        self.assertEqual(heddle.simulate(self.out, set={"links.wire": "1GB/s"}).cycles, said["cycles"])
        self.assertGreater(said["cycles"], run.cycles)
        with self.assertRaises(heddle.Error) as raised:
            heddle.simulate(self.out, set={"core.memory": "1KiB"})
        self.assertEqual(raised.exception.code, "SIM002")
        said = json.loads(self.run_heddle("simulate", self.out, "--json").stdout)
        self.assertEqual(again.traffic, {key: said[key] for key in again.traffic})

    def test_with_data_of_ones_own(self):
        run = heddle.compile(CNN, mesh="2x2")
        run.write(self.out)
        image = np.random.default_rng(1).uniform(-2, 2, run.inputs["input"].shape).astype(np.float32)
        np.save(self.folder / "x.npy", image)
        self.run_heddle("simulate", self.out, "--data", "--input", self.folder / "x.npy", "--output", self.folder / "y.npy", "-q")
        np.testing.assert_array_equal(heddle.simulate(run, {"input": image}).outputs["logits"], np.load(self.folder / "y.npy"))
        flipped = image[:, :, ::-1, :]  # not contiguous
        np.testing.assert_array_equal(heddle.simulate(run, {"input": flipped}).outputs["logits"],
                                      heddle.simulate(run, {"input": flipped.copy()}).outputs["logits"])
        for key, value in run.outputs.items():
            np.testing.assert_array_equal(heddle.simulate(run, data=True).outputs[key], value)


class Sweep(Module):
    ASKED = {"model": [CNN, MOBILE], "mesh": "1..2x1..2", "vary": {"links.{wire,memtile.read}": ["2GB/s", "4GB/s"]}}

    def test_the_same_folder_as_the_command_line(self):
        points = list(heddle.sweep(**self.ASKED, define={"twice": "2*ms"}, out=self.folder / "ours"))
        self.run_heddle("sweep", "--model", CNN, "--model", MOBILE, "--mesh", "1..2x1..2", "--vary", "links.{wire,memtile.read}=2GB/s,4GB/s",
                        "--define", "twice=2*ms", "-q", "-o", self.out)
        self.same_files(self.folder / "ours/points", self.out / "points")
        self.assertEqual((self.folder / "ours/questions.json").read_text(), (self.out / "questions.json").read_text())
        self.assertEqual({point["point"]: point for point in points},
                         {path.stem: json.loads(path.read_text()) for path in (self.out / "points").iterdir()})
        self.assertEqual(len(points), 16)
        again = list(heddle.sweep(**self.ASKED, out=self.out))
        self.assertEqual(sorted(point["point"] for point in again), sorted(point["point"] for point in points))

    def test_a_file_and_what_takes_its_place(self):
        file = self.folder / "study.yaml"
        shutil.copy(CNN, self.folder)
        file.write_text("model: tiny_cnn.onnx\nmesh: 1..3x1\nestimate: true\n")
        self.assertEqual([p["figures"]["status"] for p in heddle.sweep(file)], ["estimated"] * 3)
        asked = heddle.sweep(file, mesh=["2x2", "1x3"], estimate=False, verify=False, set={"core.memory": "64B"}, threads=1)
        self.assertEqual([(p["figures"]["rows"], p["figures"]["status"], p["reason"]["code"]) for p in asked],
                         [(2, "refused", "PLAN001"), (1, "refused", "PLAN001")])
        some = heddle.sweep(file, square=True, where="cores > 1", mesh="1..3x1..3", shard="2/2", threads=1)
        self.assertEqual([p["figures"]["cores"] for p in some], [9])
        limit = heddle.sweep(file, mesh="1x1", estimate=False, verify=False, max_cycles=10, seed=2, propagate=False, reorder=False)
        self.assertEqual([(p["figures"]["status"], p["figures"]["reorder"]) for p in limit], [("limit", 0)])
        drawn = heddle.sweep(file, mesh="1..8x1..8", samples=5, seed=3, effort=0, budget="1m")
        self.assertEqual([p["figures"]["effort"] for p in drawn], [0] * 5)
        tiled = heddle.sweep(file, mesh="2x2", fuse=["conv1..b1_2:3"])
        self.assertEqual([(p["figures"]["fuse"], p["figures"]["status"]) for p in tiled], [("conv1..b1_2:3", "estimated")])
        refined = heddle.sweep(file, mesh="1..8x1..8", samples=5, refine=1, minimize="tiny_cnn.ms")
        self.assertGreater(len(list(refined)), 5)
        self.run_heddle("prune", CNN, "--ratio", "0.5", "-q", "-o", self.folder / "half.onnx")
        masked = heddle.sweep(file, mesh="1x1", masks=["none", self.folder / "half.masks.npz"], apply_masks=True)
        self.assertEqual(len({p["figures"]["ms"] for p in masked}), 2)
        broken = heddle.sweep(file, mesh="1x1", require="tiny_cnn.ms <= 0.000001", minimize="tiny_cnn.ms")
        self.assertEqual([p["figures"]["status"] for p in broken], ["skipped"])

    def test_left_early_it_goes_on_later(self):
        asked = {"model": MOBILE, "mesh": "5..8x5..8", "threads": 2, "out": self.out}
        for point in heddle.sweep(**asked):
            break
        done = {path.name: path.stat().st_mtime_ns for path in (self.out / "points").iterdir()}
        self.assertTrue(1 <= len(done) < 16, len(done))
        self.assertIn(point["point"] + ".json", done)
        self.assertEqual(len(list(heddle.sweep(**asked))), 16)
        self.assertEqual({name: (self.out / "points" / name).stat().st_mtime_ns for name in done}, done)

    def test_nothing_stays_without_a_folder(self):
        with unittest.mock.patch("tempfile.tempdir", str(self.folder)):
            for _ in heddle.sweep(model=CNN, mesh="1..4x1..4", verify=False):
                self.assertTrue(list(self.folder.iterdir()))
                break
        self.assertEqual(list(self.folder.iterdir()), [])


class Interrupt(Module):
    def answer(self, body):
        """What a program prints that gets SIGINT half a second after it said that it begins, and how long that took."""
        text = f"import sys, time\nimport heddle\nprint('begin', flush=True)\ntry:\n    {body}\nexcept KeyboardInterrupt:\n    print('heard', flush=True)\n"
        with subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, text=True,
                              preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler)) as process:
            self.assertEqual(process.stdout.readline(), "begin\n")
            time.sleep(0.5)
            sent = time.monotonic()
            process.send_signal(signal.SIGINT)
            said = process.stdout.readline()
            heard = time.monotonic() - sent
            self.assertEqual((said, process.wait()), ("heard\n", 0))
        return heard

    def test_control_c_is_heard_at_once(self):
        resnet = str(options.models / "resnet50.onnx")
        self.assertLess(self.answer(f"heddle.compile({resnet!r}, mesh='8x8')"), 1)
        self.answer(f"list(heddle.sweep(model={str(MOBILE)!r}, mesh='1..16x1..16', out={str(self.out)!r}))")
        points = list((self.out / "points").iterdir())
        self.assertTrue(0 < len(points) < 256, len(points))
        self.assertFalse([path for path in points if path.suffix != ".json"])

    def test_other_threads_run_meanwhile(self):
        beats, over = [], threading.Event()

        def beat():
            while not over.wait(0.01):
                beats.append(time.monotonic())
        thread = threading.Thread(target=beat)
        thread.start()
        begun = time.monotonic()
        heddle.compile(options.models / "mobilenet_v2.onnx", mesh="4x4", verify=False)
        ended = time.monotonic()
        over.set()
        thread.join()
        during = [beat for beat in beats if begun < beat < ended]
        self.assertGreater(len(during), (ended - begun) / 0.01 / 10)


class Docs(Module):
    def test_every_python_block_of_the_page_runs(self):
        blocks = FENCE.findall((SOURCE / "docs/python.md").read_text())
        self.assertGreater(len(blocks), 2)
        (self.folder / "models").symlink_to(SOURCE / "models")
        done = subprocess.run([sys.executable, "-c", "\n".join(blocks)], cwd=self.folder, capture_output=True, text=True, env=PATHS)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_everything_public_is_documented_and_on_the_page(self):
        page = (SOURCE / "docs/python.md").read_text()
        for name in heddle.__all__:
            self.assertIn(f"`{name}", page)
            public = getattr(heddle, name)
            if inspect.isclass(public):
                members = [m for key, m in vars(public).items() if not key.startswith("_") and (callable(m) or hasattr(m, "__get__"))]
                for member in members:
                    self.assertTrue(inspect.getdoc(member), f"{name}: {member}")
            if callable(public):
                self.assertTrue(public.__doc__, name)


class Example(Module):
    def test_the_example_draws_a_sweep(self):
        if importlib.util.find_spec("matplotlib") is None:
            print("skipped: there is no matplotlib here (scripts/install_deps.sh test)")
            self.skipTest("no matplotlib")
        done = subprocess.run([sys.executable, SOURCE / "examples/plot_sweep.py", CNN, MOBILE, "--mesh", "1..3x1..3", "-o", self.folder / "a.svg"],
                              capture_output=True, text=True, env={**PATHS, "MPLCONFIGDIR": str(self.folder)})
        self.assertEqual((done.returncode, done.stdout), (0, f"{self.folder}/a.svg\n"), done.stderr)
        picture = (self.folder / "a.svg").read_text()
        self.assertGreater(picture.count("<use "), 18, "a dot a point")


class Install(Module):
    def test_pip_installs_what_imports(self):
        """As on Debian: a virtual environment that sees the system's packages, and no registry."""
        venv = self.folder / "venv"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", "--system-site-packages", venv], check=True)
        before = {path.name for path in SOURCE.iterdir()} | {path.name for path in (SOURCE / "src/python").iterdir()}
        done = subprocess.run([venv / "bin/python", "-m", "pip", "install", "--no-build-isolation", "--no-deps", "--no-index", "-q", SOURCE],
                              capture_output=True, text=True, env={**os.environ, "HEDDLE_BUILD": str(options.build), "PYTHONPATH": ""})
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        after = {path.name for path in SOURCE.iterdir()} | {path.name for path in (SOURCE / "src/python").iterdir()}
        self.assertLessEqual(after - before, {"build"}, "nothing is written beside the sources")
        text = f"import heddle; print(heddle.__file__, heddle.__version__, heddle.compile({str(CNN)!r}, mesh='1x1').cycles)"
        done = subprocess.run([venv / "bin/python", "-c", text], capture_output=True, text=True, cwd=self.folder,
                              env={**os.environ, "PYTHONPATH": ""})
        file, version, cycles = done.stdout.split()
        self.assertTrue(file.startswith(str(venv)), file)
        said = subprocess.run([options.heddle, "--version"], capture_output=True, text=True).stdout
        self.assertEqual((said, int(cycles)), (f"heddle {version}\n", heddle.compile(CNN, mesh="1x1").cycles))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--heddle", type=pathlib.Path, required=True)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--models", type=pathlib.Path, required=True)
    options, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
