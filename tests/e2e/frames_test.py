#!/usr/bin/python3
"""Runs of several frames, from outside: the times that they say, the arrays that they take and give, and what they cost.

    tests/e2e/frames_test.py --heddle build/ci/heddle
"""
import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import onnx

SOURCE = pathlib.Path(__file__).resolve().parents[2]
options = None


class Frames(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="heddle-frames-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def heddle(self, *arguments, status=0):
        done = subprocess.run([options.heddle, *map(str, arguments)], capture_output=True, text=True)
        self.assertEqual(done.returncode, status, (arguments, done.stderr))
        return done

    def compile(self, model, frames, *more):
        out = self.folder / f"{model}-{frames}"
        self.heddle("compile", SOURCE / f"models/{model}.onnx", "--mesh", "2x2", "--frames", frames, "-q", "-o", out, *more)
        return out, json.loads((out / "report.json").read_text())

    def test_every_frame_is_proved(self):
        for more in ([], ["--set", "memtile.memory=8KiB"], ["--effort", "0"]):
            with self.subTest(more):
                one, three = (self.compile("tiny_inception", n, *more)[1] for n in (1, 3))
                self.assertTrue(three["verification"]["matches"])
                for key in ("tensorsCompared", "bytesCompared"):
                    self.assertEqual(three["verification"][key], 3 * one["verification"][key])
                for key in ("macsExecuted", "macsNeeded"):
                    if key in one["work"]:
                        self.assertEqual(three["work"][key], 3 * one["work"][key])
                self.assertEqual(three["traffic"], {key: 3 * value for key, value in one["traffic"].items()})

    def test_the_times_of_a_frame(self):
        out, report = self.compile("tiny_cnn", 8, "--dump", "report")
        time = report["time"]
        self.assertEqual(time["frames"], 8)
        self.assertLess(time["coldSeconds"], time["seconds"] / 4)
        self.assertLessEqual(time["steadySeconds"], time["coldSeconds"])
        self.assertEqual(sum(layer["cycles"] for layer in report["layers"]), time["cycles"])
        simulated = json.loads(self.heddle("simulate", out, "--json").stdout)
        for key in ("frames", "cycles", "coldSeconds", "steadySeconds"):
            self.assertEqual(simulated[key], time[key])
        one, report = self.compile("tiny_cnn", 1)
        alone = report["time"]
        self.assertEqual(alone["coldSeconds"], alone["seconds"])
        self.assertEqual(alone["steadySeconds"], alone["seconds"])
        # Later frames may only delay the first where they have begun.
        self.assertLessEqual(abs(alone["seconds"] - time["coldSeconds"]), 0.05 * alone["seconds"])
        both = json.loads(self.heddle("compare", one, out, "--json").stdout)
        self.assertTrue(both["perInference"])
        self.assertAlmostEqual(both["speedUp"], 8 * alone["seconds"] / time["seconds"], delta=0.01)
        for key in ("macs", "macsExecuted", "weightBytes", "ddrReadBytes", "coreToMemtileBytes"):
            self.assertEqual(both["a"][key], both["b"][key], key)

    def test_figures_say_whether_they_are_of_a_frame(self):
        out, report = self.compile("tiny_cnn", 3, "--no-verify")
        bounds = report["bounds"]
        self.assertAlmostEqual(bounds["efficiency"], 3 * bounds["layerBoundSeconds"] / report["time"]["seconds"])
        text = (out / "report.md").read_text()
        self.assertIn("of a frame of the run", text)
        share = f"{100 * bounds['efficiency']:.1f} %"
        self.assertIn(f", {share} of the layer bound of ", text)
        self.assertRegex(text, rf"layer bound: one layer after another \| [^|]+ \| {share} \|")
        for layer in ((), ("conv1",)):
            self.assertIn("frames        3; cycles are of all of them", self.heddle("explain", out, *layer).stdout)
        alone, _ = self.compile("tiny_cnn", 1, "--no-verify")
        self.assertNotIn("frames   ", self.heddle("explain", alone).stdout)

    def test_arrays_have_the_frames_as_their_first_axis(self):
        out, _ = self.compile("tiny_cnn", 3, "--no-verify")
        extents = self.input_of("tiny_cnn")
        values = np.random.default_rng(1).normal(size=(3, *extents[1:])).astype(np.float32)
        np.save(self.folder / "x.npy", values)
        self.heddle("simulate", out, "--data", "--input", self.folder / "x.npy", "--output", self.folder / "y.npy")
        got = np.load(self.folder / "y.npy")
        self.assertEqual(got.shape[0], 3)
        for frame in range(3):
            np.save(self.folder / "one.npy", values[frame:frame + 1])
            self.heddle("interpret", SOURCE / "models/tiny_cnn.onnx", "--input", self.folder / "one.npy", "--output",
                        self.folder / "expected.npy")
            np.testing.assert_array_equal(got[frame:frame + 1], np.load(self.folder / "expected.npy"))
        refused = self.heddle("simulate", out, "--data", "--input", self.folder / "one.npy", status=1).stderr
        self.assertIn("of 3 inferences", refused)

    def test_a_frame_of_several_inferences(self):
        """They are proved, take arrays as frames do, and an inference takes less than alone."""
        out, report = self.compile("tiny_inception", 2, "--batch", 3)
        one = self.compile("tiny_inception", 1)[1]
        time = report["time"]
        self.assertEqual((time["frames"], time["batch"]), (2, 3))
        self.assertTrue(report["verification"]["matches"])
        self.assertEqual(report["verification"]["bytesCompared"], 6 * one["verification"]["bytesCompared"])
        self.assertEqual(report["work"]["macsDense"], 6 * one["work"]["macsDense"])
        self.assertLess(time["steadySeconds"], one["time"]["seconds"])
        self.assertEqual(json.loads(self.heddle("simulate", out, "--json").stdout)["steadySeconds"], time["steadySeconds"])
        extents = self.input_of("tiny_inception")
        values = np.random.default_rng(1).normal(size=(6, *extents[1:])).astype(np.float32)
        np.save(self.folder / "x.npy", values)
        self.heddle("simulate", out, "--data", "--input", self.folder / "x.npy", "--output", self.folder / "y.npy")
        got = np.load(self.folder / "y.npy")
        for image in range(6):
            np.save(self.folder / "one.npy", values[image:image + 1])
            self.heddle("interpret", SOURCE / "models/tiny_inception.onnx", "--input", self.folder / "one.npy", "--output",
                        self.folder / "expected.npy")
            np.testing.assert_array_equal(got[image:image + 1], np.load(self.folder / "expected.npy"))
        again = self.heddle("compare", self.folder / "tiny_inception-1", out).stdout
        self.assertIn("frames    1 in A, 2 of 3 inferences in B: all figures are of one inference", again)
        self.assertRegex(again, r"weight bytes needed +(\d+) +\1 +100\.0 %")
        self.assertNotIn("Gained", again)

    def test_a_file_keeps_its_batch(self):
        out, report = self.compile("tiny_mobile", 2, "--batch", 2, "--dump", "report")
        for stage, file in (("plan", "plan.txt"), ("program", "../program.asm")):
            with self.subTest(stage):
                again = self.folder / stage
                self.heddle("compile", SOURCE / "models/tiny_mobile.onnx", "--mesh", "2x2", "--from", stage, out / "dump" / file,
                            "-q", "-o", again)
                self.assertEqual((again / "program.asm").read_text(), (out / "program.asm").read_text())
                self.assertTrue(json.loads((again / "report.json").read_text())["verification"]["matches"])

    def test_a_batch_of_a_network_that_is_made_smaller_joined_or_in_another_order(self):
        self.heddle("prune", SOURCE / "models/tiny_mobile.onnx", "--ratio", "0.7", "--keep", "first", "-q", "-o", self.folder / "less.onnx")
        for model in (SOURCE / "models/tiny_pruned.onnx", SOURCE / "models/tiny_inception.onnx", self.folder / "less.onnx"):
            for more in ([], ["--effort", "0"], ["--fuse", "off"], ["--set", "memtile.memory=8KiB"]):
                with self.subTest(model.stem, more=more):
                    done = self.heddle("compile", model, "--mesh", "2x2", "--batch", "3", *more, "-o", self.folder / "out")
                    self.assertIn("each equal to the reference interpreter's", done.stdout)
        one, three = (self.heddle("compile", SOURCE / "models/tiny_pruned.onnx", "--mesh", "2x2", "--batch", n, "-o", self.folder / "out").stdout
                      for n in ("1", "3"))
        removed = [[line for line in text.splitlines() if line.startswith("removed")] for text in (one, three)]
        self.assertEqual(*removed)

    def test_what_a_batch_may_not_be(self):
        out, report = self.compile("tiny_cnn", 1, "--batch", "auto", "--dump", "report")
        batch, dump, model = report["time"]["batch"], out / "dump", SOURCE / "models/tiny_cnn.onnx"
        for file in ("propagated.txt", "plan.txt", "memory-plan.txt"):
            self.assertIn(f"\nbatch {batch}\n", (dump / file).read_text())
        again = ("compile", model, "--mesh", "2x2", "-q", "-o", self.folder / "again")
        self.heddle(*again, "--batch", "auto", "--from", "memory-plan", dump / "memory-plan.txt")
        self.assertEqual((self.folder / "again/program.asm").read_text(), (out / "program.asm").read_text())
        for more, words in ((("--from", "memory-plan", dump / "memory-plan.txt"), f"{batch} inferences of a frame, here 1"),
                            (("--batch", "3", "--from", "plan", out / "plan.txt"), f"{batch} inferences of a frame, asked for are 3"),
                            (("--batch", "64", "--shape", "input=1x3x40000x4"), "choose a smaller batch")):
            fault = self.heddle(*again, *more, status=3 if "--shape" in more else 1).stderr
            self.assertIn(words, fault)
        asm = (out / "program.asm").read_text()
        for number, words in (("65", "give 1 to 64"), ("7", "PLAN011")):
            (self.folder / "asm").mkdir(exist_ok=True)
            (self.folder / "asm/program.asm").write_text(asm.replace(f" batch {batch}\n", f" batch {number}\n", 1))
            (self.folder / "asm/weights.bin").write_bytes((out / "weights.bin").read_bytes())
            self.assertIn(words, self.heddle(*again, "--from", "program", self.folder / "asm/program.asm", status=1).stderr)

    def test_a_batch_is_chosen_as_it_gains(self):
        chosen = self.compile("tiny_cnn", 1, "--batch", "auto")[1]["time"]
        self.assertGreater(chosen["batch"], 1)
        self.assertLess(chosen["steadySeconds"], self.compile("tiny_cnn", 1)[1]["time"]["steadySeconds"])

    def input_of(self, model):
        value = onnx.load(SOURCE / f"models/{model}.onnx").graph.input[0]
        return [d.dim_value for d in value.type.tensor_type.shape.dim]

    def test_many_frames_are_no_longer_a_program_than_two(self):
        two, many = (self.compile("tiny_mobile", n, "--no-verify")[0] for n in (2, 32))
        size = [(out / "program.asm").stat().st_size for out in (two, many)]
        self.assertLessEqual(size[1], 1.01 * size[0])

    def test_a_plan_keeps_its_frames(self):
        out, report = self.compile("tiny_cnn", 2, "--dump", "plan")
        plan = out / "dump/plan.txt"
        self.assertIn("\nframes 2\n", plan.read_text())
        again = self.folder / "again"
        self.heddle("compile", SOURCE / "models/tiny_cnn.onnx", "--mesh", "2x2", "--from", "plan", plan, "-q", "-o",
                    again)
        self.assertEqual((again / "program.asm").read_text(), (out / "program.asm").read_text())

    def test_numbers_of_frames_that_cannot_be(self):
        for frames in ("0", "1025", "many", "-1"):
            done = self.heddle("compile", SOURCE / "models/tiny_cnn.onnx", "--frames=" + frames, "-o", self.folder / "no",
                               status=2)
            self.assertIn("mend:  write it like '--frames", done.stderr)
        for batch in ("0", "65", "many", "-1"):
            done = self.heddle("compile", SOURCE / "models/tiny_cnn.onnx", "--batch=" + batch, "-o", self.folder / "no",
                               status=2)
            self.assertIn("mend:  write it like '--", done.stderr)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--heddle", required=True)
    options, rest = parser.parse_known_args()
    options.heddle = str(pathlib.Path(options.heddle).resolve())
    unittest.main(argv=sys.argv[:1] + rest)
