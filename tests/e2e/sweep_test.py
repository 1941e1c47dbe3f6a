#!/usr/bin/python3
"""Sweeps as a user runs them: what is in the folder, whoever stopped it, and what the tables say.

    tests/e2e/sweep_test.py --heddle build/ci/heddle [Grid | Spaces | Stopped | Questions | Collect | Faults]
"""
import argparse
import base64
import contextlib
import csv
import gzip
import json
import math
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

import onnx

SOURCE = pathlib.Path(__file__).resolve().parents[2]
CNN, MOBILE = SOURCE / "models/tiny_cnn.onnx", SOURCE / "models/tiny_mobile.onnx"
NOBODY = 65534
options = None


class Sweeps(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="heddle-sweep-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.out = self.folder / "out"

    def run_heddle(self, *arguments, status=0, **how):
        done = subprocess.run([options.heddle, *map(str, arguments)], capture_output=True, text=True, **how)
        self.assertEqual(done.returncode, status, f"heddle {' '.join(map(str, arguments))}\n{done.stderr}{done.stdout}")
        return done

    def sweep(self, *arguments, out=None, status=0, **how):
        return self.run_heddle("sweep", *arguments, "-o", out or self.out, status=status, **how)

    def files(self, out=None):
        points = (out or self.out) / "points"
        return {path.name: path.read_bytes() for path in points.iterdir()}

    def points(self, out=None):
        return [json.loads(content) for content in self.files(out).values()]

    def by_mesh(self, out=None):
        return {(p["figures"]["rows"], p["figures"]["cols"]): p for p in self.points(out)}


class Grid(Sweeps):
    def test_the_papers_dataflow_is_held_against_bounds_of_its_own(self):
        self.sweep("--model", CNN, "--mesh", "2x2", "--effort", "0")
        figures = self.points()[0]["figures"]
        for effort, same in (("0", True), ("1", False)):  # its sums are layers; else convolutions make them
            out = self.folder / effort
            self.run_heddle("compile", CNN, "--mesh", "2x2", "-q", "-o", out, "--effort", effort)
            bounds = json.loads((out / "report.json").read_text())["bounds"]
            self.assertEqual(math.isclose(figures["layerBoundMs"], bounds["layerBoundSeconds"] * 1e3, rel_tol=1e-12), same)

    def test_every_point_is_what_compile_says_of_it(self):
        self.sweep("--model", CNN, "--mesh", "1..2x2,3", "--vary", "links.{wire,memtile.read}=2GB/s,4GB/s")
        points = self.points()
        self.assertEqual(len(points), 2 * 2 * 2)
        for point in points:
            figures, keys = point["figures"], point["device"]["keys"]
            self.assertEqual(keys["links.wire"], keys["links.memtile.read"])
            self.assertEqual((point["format"], point["reason"], figures["status"]), ("heddle.point/1", None, "ok"))
            out = self.folder / "one"
            self.run_heddle("compile", CNN, "--mesh", f"{figures['rows']}x{figures['cols']}", "-q", "-o", out, "--set",
                            f"links.wire={keys['links.wire']}GB/s", "--set", f"links.memtile.read={keys['links.wire']}GB/s")
            report = json.loads((out / "report.json").read_text())
            bounds, model = report["bounds"], report["model"]
            self.assertEqual(point["model"]["sha256"], model["sha256"])
            self.assertEqual((figures["cycles"], figures["macs"]), (report["time"]["cycles"], model["macs"]))
            self.assertEqual(figures["peakMemtileKiB"] * 1024, report["memory"]["memtilePeakBytes"])
            bound = {}
            for layer in report["layers"]:
                bound[layer["boundBy"]] = bound.get(layer["boundBy"], 0) + layer["cycles"]
            for column, expected in (("ms", report["time"]["seconds"] * 1e3), ("floorMs", bounds["fusedLowerBoundSeconds"] * 1e3),
                                     ("layerBoundMs", bounds["layerBoundSeconds"] * 1e3), ("efficiency", bounds["efficiency"]),
                                     ("estimateMs", report["time"]["closedFormSeconds"] * 1e3),
                                     ("ips", 1 / report["time"]["seconds"]), ("weightMB", model["weightBytes"] / 1e6),
                                     ("boundCompute", bound.get("compute", 0) / figures["cycles"]),
                                     ("boundInputWire", bound.get("input wire", 0) / figures["cycles"])):
                self.assertTrue(math.isclose(figures[column], expected, rel_tol=1e-12), (column, figures[column], expected))
            self.assertEqual(figures["boundBy"], max(bound, key=bound.get))

    def test_programs_of_several_points_are_made_once_and_nobody_sees_it(self):
        rates, memories = ("3GB/s", "4GB/s", "8GB/s"), ("64KiB", "512KiB")
        models, mesh = ("--model", CNN, "--model", MOBILE), ("--mesh", "2x2,2x3")
        for verify in ([], ["--no-verify"]):
            for threads in ("1", "3"):
                shared, alone = (self.folder / f"{how}{len(verify)}{threads}" for how in ("shared", "alone"))
                self.sweep(*models, *mesh, *verify, "--threads", threads, "--vary", f"links.ddr.read={','.join(rates)}", "--vary",
                           f"memtile.memory={','.join(memories)}", out=shared)
                for rate in rates:  # each in a process of its own, where there is nothing to share
                    self.sweep(*models, *mesh, *verify, "--set", f"links.ddr.read={rate}", "--vary",
                               f"memtile.memory={','.join(memories)}", out=alone)
                self.assertEqual(len(self.files(shared)), 24)
                self.assertEqual(self.files(shared), self.files(alone))

    def test_square_meshes_and_a_choice_of_them(self):
        self.sweep("--model", CNN, "--mesh", "1..4x1..4", "--square", "--where", "cores < 16 && rows != 2", "--no-verify")
        self.assertEqual(set(self.by_mesh()), {(1, 1), (3, 3)})

    def test_the_same_value_in_other_words_is_the_same_point(self):
        lines = self.sweep("--model", CNN, "--mesh", "2x2,1..2x2", "--vary", "links.wire=4GB/s,4000MB/s,2GB/s", "--json").stdout
        self.assertEqual(len(self.files()), 4)
        self.assertEqual(json.loads(lines.splitlines()[-1])["points"], 4)

    def test_an_estimate_is_the_closed_form_and_another_point(self):
        self.sweep("--model", CNN, "--mesh", "2x2", "--estimate")
        self.sweep("--model", CNN, "--mesh", "2x2", "--no-verify")
        figures = {p["figures"]["status"]: p["figures"] for p in self.points()}
        self.assertEqual(set(figures), {"estimated", "ok"})
        self.assertEqual(figures["estimated"]["ms"], figures["ok"]["estimateMs"])

    def test_the_effort_of_the_planner_makes_another_point(self):
        for effort in (0, 1, 2):
            self.sweep("--model", MOBILE, "--mesh", "2x2", "--effort", effort, "--no-verify")
            self.run_heddle("compile", MOBILE, "--mesh", "2x2", "--effort", effort, "--no-verify", "-q", "-o", self.folder / str(effort))
        cycles = {p["figures"]["effort"]: p["figures"]["cycles"] for p in self.points()}
        self.assertEqual(cycles, {effort: json.loads((self.folder / f"{effort}/report.json").read_text())["time"]["cycles"]
                                  for effort in (0, 1, 2)})
        self.assertLess(cycles[1], cycles[0])
        self.assertLessEqual(cycles[2], cycles[1])

    def test_several_frames_make_another_point(self):
        for frames in ("1", "4"):
            self.sweep("--model", CNN, "--mesh", "2x2", "--frames", frames)
        self.run_heddle("compile", CNN, "--mesh", "2x2", "--frames", "4", "--no-verify", "-q", "-o", self.folder / "four")
        time = json.loads((self.folder / "four/report.json").read_text())["time"]
        of = {p["figures"]["frames"]: p["figures"] for p in self.points()}
        self.assertEqual(set(of), {1, 4})
        self.assertAlmostEqual(of[4]["ms"], 1e3 * time["steadySeconds"])
        self.assertAlmostEqual(of[4]["coldMs"], 1e3 * time["coldSeconds"])
        self.assertEqual((of[4]["proved"], of[1]["coldMs"]), (1, of[1]["ms"]))

    def test_a_batch_makes_another_point_and_figures_are_of_one_inference(self):
        for more in (("--batch", "1,4"), ("--batch", "4", "--estimate")):
            self.sweep("--model", CNN, "--mesh", "2x2", *more)
        self.run_heddle("compile", CNN, "--mesh", "2x2", "--batch", "4", "--no-verify", "-q", "-o", self.folder / "four")
        time = json.loads((self.folder / "four/report.json").read_text())["time"]
        of = {(p["figures"]["batch"], p["figures"]["status"]): p["figures"] for p in self.points()}
        self.assertEqual(set(of), {(1, "ok"), (4, "ok"), (4, "estimated")})
        one, four, estimated = of[1, "ok"], of[4, "ok"], of[4, "estimated"]
        self.assertAlmostEqual(four["ms"], 1e3 * time["seconds"] / 4)
        self.assertAlmostEqual(four["coldMs"], 1e3 * time["seconds"])
        self.assertLess(four["ms"], one["ms"])
        self.assertEqual((four["macs"], four["proved"]), (one["macs"], 1))
        self.assertAlmostEqual(estimated["ms"], four["estimateMs"])
        self.assertLess(four["floorMs"], four["ms"])
        point = next(p["point"] for p in self.points() if p["figures"] == four)
        self.run_heddle("sweep", "--timeline", point, "-o", self.out, "-q")
        again = json.loads((self.out / "timelines" / point / "report.json").read_text())["time"]
        self.assertEqual((again["batch"], again["cycles"]), (4, time["cycles"]))

    def test_a_batch_that_is_too_large_is_refused_at_its_points_alone(self):
        model = onnx.load(CNN)
        height, width = model.graph.input[0].type.tensor_type.shape.dim[2:]
        height.dim_value, width.dim_value = 40000, 4
        del model.graph.value_info[:]
        onnx.save(model, self.folder / "tall.onnx")
        self.sweep("--model", self.folder / "tall.onnx", "--model", CNN, "--mesh", "2x2", "--batch", "1,64", "--estimate",
                   "--require", "tiny_cnn.ms <= 1")
        of = {(p["figures"]["model"], p["figures"]["batch"]): p["figures"] for p in self.points()}
        self.assertEqual({key: figures["status"] for key, figures in of.items()},
                         {("tall", 1): "estimated", ("tall", 64): "refused", ("tiny_cnn", 1): "estimated", ("tiny_cnn", 64): "estimated"})
        self.assertIn("CANON005", of["tall", 64]["reason"])
        self.assertIn("a batch of 64", of["tall", 64]["reason"])

    def test_how_layers_are_tiled_makes_another_point(self):
        words = ("auto", "off", "conv1..b1_2:3")
        for fuse in words:
            self.sweep("--model", CNN, "--mesh", "2x2", "--fuse", fuse, "--no-verify")
            self.run_heddle("compile", CNN, "--mesh", "2x2", "--fuse", fuse, "--no-verify", "-q", "-o", self.folder / fuse)
        cycles = {p["figures"]["fuse"]: p["figures"]["cycles"] for p in self.points()}
        self.assertEqual(cycles, {fuse: json.loads((self.folder / fuse / "report.json").read_text())["time"]["cycles"] for fuse in words})
        self.assertNotEqual(cycles["off"], cycles["conv1..b1_2:3"])
        self.sweep("--model", CNN, "--mesh", "2x2", "--fuse", "conv1..b1_2:3", "--estimate")
        estimated = next(p["figures"] for p in self.points() if p["figures"]["status"] == "estimated")
        self.assertEqual(estimated["ms"], next(p["figures"]["estimateMs"] for p in self.points() if p["figures"]["fuse"] == words[2]))
        self.sweep("--model", CNN, "--model", MOBILE, "--mesh", "1x2", "--fuse", "conv1..b1_2", "--estimate")
        self.assertEqual({p["model"]["name"]: (p["figures"]["status"], p["reason"] and p["reason"]["code"]) for p in self.points()
                          if p["figures"]["rows"] == 1}, {"tiny_cnn": ("estimated", None), "tiny_mobile": ("failed", "PLAN012")})

    def test_what_does_not_fit_fails_or_takes_too_long_is_a_record(self):
        self.sweep("--model", CNN, "--mesh", "1x1", "--vary", "core.memory=64B,64KiB", "--no-verify")
        self.sweep("--model", CNN, "--mesh", "1x1", "--max-cycles", "10", "--no-verify")
        self.sweep("--model", CNN, "--mesh", "1x1", "--vary", "core.operandBanks=6,8", "--set", "core.banks=6", "--no-verify",
                   "--set", "core.memory=48KiB")
        reasons = {(p["figures"]["status"], (p["reason"] or {}).get("code")) for p in self.points()}
        self.assertEqual(reasons, {("refused", "PLAN001"), ("ok", None), ("limit", "MACH014"), ("failed", "DEV005")})
        for point in self.points():
            if point["reason"]:
                self.assertTrue(point["figures"]["reason"].startswith(point["reason"]["code"]))
                self.assertTrue(point["reason"]["mend"])
                self.assertIsNone(point["figures"]["ms"])

    def test_lines_for_programs(self):
        lines = [json.loads(line) for line in self.sweep("--model", CNN, "--mesh", "1..2x1", "--json").stdout.splitlines()]
        self.assertEqual([line["event"] for line in lines], ["point", "point", "end"])
        self.assertEqual([(line["done"], line["of"]) for line in lines[:2]], [(1, 2), (2, 2)])
        self.assertEqual((lines[2]["points"], lines[2]["ok"]), (2, 2))

    def test_a_file_says_the_same_as_options(self):
        shutil.copy(CNN, self.folder)
        study = self.folder / "study.yaml"
        study.write_text("title: two\nmodel: tiny_cnn.onnx\nmesh: [1..2x1, 3x3]\nvary:\n  'links.{wire,memtile.read}': [2GB/s, 4GB/s]\n"
                         "set: {core.callOverhead: 8 cycles}\nverify: false\nwhere: rows < 3\n")
        self.sweep(study)
        self.sweep("--model", CNN, "--mesh", "1..2x1", "--vary", "links.{wire,memtile.read}=2GB/s,4GB/s", "--no-verify",
                   "--set", "core.callOverhead=8cycles", out=self.folder / "other")
        self.assertEqual(len(self.files()), 4)
        self.assertEqual(self.files(), self.files(self.folder / "other"))
        self.sweep(study, "--mesh", "1x4", "--where", "rows == 1", out=self.folder / "third")
        self.assertEqual(set(self.by_mesh(self.folder / "third")), {(1, 4)})


    def test_masks_are_a_dimension(self):
        pruned = self.folder / "tiny_cnn-half.onnx"
        self.run_heddle("prune", CNN, "-o", pruned, "--ratio", "0.5", "-q")
        asked = ("--model", CNN, "--mesh", "1..2x2", "--no-verify")
        self.sweep(*asked, "--masks", f"none,{pruned.with_suffix('.masks.npz')}", "--apply-masks")
        self.sweep(*asked, out=self.folder / "dense")
        self.sweep("--model", pruned, *asked[2:], out=self.folder / "pruned")
        for point in self.points():
            figures = point["figures"]
            same = {"none": "dense", "tiny_cnn-half": "pruned"}[figures["masks"]]
            other = self.by_mesh(self.folder / same)[figures["rows"], figures["cols"]]["figures"]
            for column in ("cycles", "macs", "density", "floorMs", "peakMemtileKiB"):
                self.assertEqual(figures[column], other[column], column)
        self.assertEqual(len(self.points()), 4)
        # Points without masks are the same points as those of a sweep that has none.
        self.assertLess(set(self.files(self.folder / "dense").items()), set(self.files().items()))

    def test_masks_of_several_networks(self):
        for model in (CNN, MOBILE):
            self.run_heddle("prune", model, "-o", self.folder / f"{model.stem}.onnx", "--ratio", "0.5", "-q")
        lines = self.sweep("--model", CNN, "--model", MOBILE, "--mesh", "2x2", "--no-verify", "--masks",
                           f"none,{self.folder}/{{model}}.masks.npz", "--apply-masks", "--minimize", "geomean(ms)", "--json").stdout
        self.assertEqual({(p["model"]["name"], p["figures"]["masks"]) for p in self.points()},
                         {(m, k) for m in ("tiny_cnn", "tiny_mobile") for k in ("none", "masked")})
        self.assertEqual(json.loads(lines.splitlines()[-1])["answer"]["best"][0]["device"], "2x2, masks masked")


class Spaces(Sweeps):
    # Over a million devices.
    ASKED = ("--model", CNN, "--mesh", "1..64x1..64", "--vary", "links.ddr.{read,write}=1GB/s,2GB/s,4GB/s,8GB/s", "--vary",
             "links.wire=1GB/s,2GB/s,4GB/s,8GB/s", "--vary", "locks.acquire=0cycles,1cycles,2cycles,4cycles", "--vary",
             "core.callOverhead=0cycles,8cycles,16cycles,32cycles", "--where", "cores <= 12", "--estimate")

    def test_a_sample_is_a_part_of_the_grid_that_the_seed_says(self):
        small = ("--model", CNN, "--mesh", "1..4x1..4", "--vary", "links.wire=2GB/s,4GB/s", "--no-verify")
        self.sweep(*small, out=self.folder / "whole")
        self.sweep(*small, "--samples", "5", "--seed", "3")
        self.assertEqual(len(self.files()), 5)
        self.assertLess(set(self.files().items()), set(self.files(self.folder / "whole").items()))
        for i in (1, 2):
            self.sweep(*small, "--samples", "5", "--seed", "3", "--shard", f"{i}/2", out=self.folder / "shards")
        self.assertEqual(self.files(self.folder / "shards"), self.files())
        self.sweep(*small, "--samples", "5", "--seed", "4", out=self.folder / "other")
        self.assertNotEqual(set(self.files(self.folder / "other")), set(self.files()))
        self.sweep(*small, "--samples", "1000", "--seed", "3", out=self.folder / "all")
        self.assertEqual(self.files(self.folder / "all"), self.files(self.folder / "whole"))

    def test_refinement_finds_better_and_a_stopped_one_goes_on(self):
        goal = ("--require", "ms <= 0.01", "--minimize", "ms*cores", "--seed", "5", "--samples", "6")
        best = lambda done: json.loads(done.stdout.splitlines()[-1])["answer"]["best"][0]["value"]
        drawn = best(self.sweep(*self.ASKED, *goal, "--json", out=self.folder / "drawn"))
        whole = best(self.sweep(*self.ASKED, *goal, "--refine", "2", "--json", out=self.folder / "whole"))
        self.assertLess(whole, drawn)
        self.assertLess(set(self.files(self.folder / "drawn")), set(self.files(self.folder / "whole")))
        left = 1
        while left:
            done = self.sweep(*self.ASKED, *goal, "--refine", "2", "--json", "--threads", "1", "--budget", "0.4s")
            left = json.loads(done.stdout.splitlines()[-1])["left"]
        self.assertEqual(self.files(), self.files(self.folder / "whole"))

    def test_a_budget_ends_a_sweep_that_says_what_is_left(self):
        asked = ("--model", CNN, "--model", MOBILE, "--mesh", "1..4x1..4", "--no-verify", "--threads", "1")
        text = self.sweep(*asked, "--budget", "0.001s").stdout
        self.assertIn("points    1: 1 ok\nleft      31: the budget of 0.001s is spent; the same command goes on\n", text)
        self.assertNotIn("left", self.sweep(*asked, "--budget", "1h").stdout)
        self.assertEqual(len(self.files()), 32)


class Stopped(Sweeps):
    ASKED = ("--model", CNN, "--model", MOBILE, "--mesh", "1..4x1..4")

    def test_a_killed_sweep_goes_on_to_the_same_bytes(self):
        begun = time.monotonic()
        self.sweep(*self.ASKED, out=self.folder / "whole")
        whole, chance, unfinished = time.monotonic() - begun, random.Random(3), 0
        expected = self.files(self.folder / "whole")
        for number in (signal.SIGKILL,) * options.kills + (signal.SIGINT, signal.SIGTERM):
            shutil.rmtree(self.out, ignore_errors=True)
            for _ in range(3):
                with subprocess.Popen([options.heddle, "sweep", *self.ASKED, "-q", "-o", self.out], stderr=subprocess.DEVNULL,
                                      preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)) as process:
                    time.sleep(chance.uniform(0, whole))
                    process.send_signal(number)
                    self.assertIn(process.wait(), (0, 130, -number))
            unfinished += len(self.files()) < len(expected) if (self.out / "points").exists() else 1
            before = self.files() if (self.out / "points").exists() else {}
            self.assertLessEqual({(n, c) for n, c in before.items() if not n.startswith(".")}, set(expected.items()))
            self.sweep(*self.ASKED)
            self.assertEqual(self.files(), expected)
        self.assertEqual((self.out / "questions.json").read_bytes(), (self.folder / "whole/questions.json").read_bytes())

    def test_what_is_done_is_not_done_again_and_what_is_broken_is(self):
        self.sweep(*self.ASKED)
        expected, done = self.files(), self.out / "points" / min(self.files())
        for text in ("", done.read_text()[:200], "{}", '{"format": "heddle.point/1"}'):
            done.write_text(text)
            times = {path: path.stat().st_mtime_ns for path in (self.out / "points").iterdir()}
            self.sweep(*self.ASKED)
            self.assertEqual(self.files(), expected)
            changed = [path for path, was in times.items() if path.stat().st_mtime_ns != was]
            self.assertEqual(changed, [done])

    def test_shards_collect_to_the_same_tables(self):
        self.sweep(*self.ASKED, "--define", "area=cores*2")
        shards = [self.folder / f"part{i}" for i in (1, 2, 3)]
        for i, shard in enumerate(shards, 1):
            self.sweep(*self.ASKED, "--define", "area=cores*2", "--shard", f"{i}/3", out=shard)
        self.assertEqual(sum(len(self.files(shard)) for shard in shards), len(self.files()))
        self.run_heddle("collect", self.out)
        self.run_heddle("collect", *reversed(shards), "-o", self.folder / "all")
        for name in ("results.csv", "results.jsonl", "results.sqlite", "sweep.html"):
            self.assertEqual((self.out / name).read_bytes(), (self.folder / "all" / name).read_bytes(), name)


class Questions(Sweeps):
    ASKED = ("--model", CNN, "--model", MOBILE, "--mesh", "1..3x1..3", "--no-verify")

    def expected(self):
        """{mesh: {model: ms}}"""
        self.sweep(*self.ASKED, out=self.folder / "plain")
        times = {}
        for p in self.points(self.folder / "plain"):
            times.setdefault((p["figures"]["rows"], p["figures"]["cols"]), {})[p["model"]["name"]] = p["figures"]
        return times

    def test_the_best_is_the_best(self):
        expected = self.expected()
        times = sorted(of["tiny_cnn"]["ms"] for of in expected.values())
        limit = next((a + b) / 2 for a, b in zip(times[3:], times[4:]) if a < b)  # some keep it, some do not
        lines = self.sweep(*self.ASKED, "--define", "area=cores + memtiles*memtileKiB/256", "--require", f"tiny_cnn.ms <= {limit:.9f}",
                           "--maximize", "geomean(ips)/area", "--json").stdout.splitlines()
        answer, best = json.loads(lines[-1])["answer"], {}
        for (rows, cols), of in expected.items():
            if of["tiny_cnn"]["ms"] <= limit:
                area = rows * cols + cols * 512 / 256
                best[rows, cols] = math.sqrt(of["tiny_cnn"]["ips"] * of["tiny_mobile"]["ips"]) / area
        self.assertEqual((answer["keeping"], answer["devices"]), (len(best), 9))
        self.assertTrue(0 < len(best) < 9)
        mesh = max(best, key=best.get)
        self.assertEqual(answer["best"][0]["device"], f"{mesh[0]}x{mesh[1]}")
        self.assertTrue(math.isclose(answer["best"][0]["value"], best[mesh], rel_tol=1e-12))

    def test_where_nothing_keeps_it_the_nearest_is_named(self):
        times = {mesh: of["tiny_cnn"]["ms"] for mesh, of in self.expected().items()}
        mesh = min(times, key=times.get)
        text = self.sweep(*self.ASKED, "--require", "1000*tiny_cnn.ms < 1").stdout
        self.assertIn("answer    0 of 9 devices keep what is required\n", text)
        self.assertIn(f"nearest   {mesh[0]}x{mesh[1]} (", text)
        self.assertRegex(text, r"missed    1000\*tiny_cnn\.ms < 1: [\d.]+ is [\d.]+ % more than 1\n")
        at_the_end = [axis for axis in (0, 1) if mesh[axis] == 3]
        self.assertTrue(at_the_end, mesh)
        for axis in at_the_end:
            less = (mesh[0] - 1, mesh[1]) if axis == 0 else (mesh[0], mesh[1] - 1)
            self.assertRegex(text, rf"{('rows', 'columns')[axis]} beyond 3: so it is missed by [\d.]+ %, "
                                   rf"with 2 by {(times[less] * 1000 - 1) * 100:.4g} %\n")

    def test_what_the_lower_bound_breaks_is_skipped_until_it_is_wanted(self):
        times = self.expected()
        floors = {mesh: of["tiny_cnn"]["floorMs"] for mesh, of in times.items()}
        limit = sorted(floors.values())[len(floors) // 2]
        self.sweep(*self.ASKED, "--require", f"tiny_cnn.ms <= {limit}")
        for p in self.points():
            mesh = p["figures"]["rows"], p["figures"]["cols"]
            skipped = floors[mesh] > limit
            self.assertEqual(p["figures"]["status"], "skipped" if skipped else "ok")
            self.assertEqual(p["figures"]["floorMs"], times[mesh][p["model"]["name"]]["floorMs"])
        self.assertTrue({"skipped", "ok"} <= {p["figures"]["status"] for p in self.points()})
        # Of what was skipped only the lower bound is known.
        for require, line in ((f"tiny_cnn.ms <= {limit * 0.999}", "nearest"), ("tiny_cnn.ms <= 1e-6", "by bound")):
            text = self.sweep(*self.ASKED, "--require", require, "--require", "1000*tiny_cnn.ms < 1", out=self.folder / line).stdout
            named = re.search(rf"^{line}  +(\d)x(\d) \((.*)\)$", text, re.M)
            self.assertTrue(named, text)
            self.assertEqual("skipped" in named[3], line == "by bound", text)
        self.sweep(*self.ASKED)
        self.assertEqual(self.files(), self.files(self.folder / "plain"))


class Collect(Sweeps):
    def test_all_tables_hold_the_same(self):
        self.sweep("--model", CNN, "--mesh", "1..2x1..2", "--vary", "core.memory=64B,64KiB", "--define", "twice=2*ms",
                   "--no-verify")
        done = self.run_heddle("view", self.out)
        self.assertEqual(done.stdout.splitlines()[-1], f"page      {self.out / 'sweep.html'}")
        rows = list(csv.DictReader((self.out / "results.csv").read_text().splitlines()))
        lines = [json.loads(line) for line in (self.out / "results.jsonl").read_text().splitlines()]
        with contextlib.closing(sqlite3.connect(self.out / "results.sqlite")) as database:
            database.row_factory = sqlite3.Row
            records = [dict(row) for row in database.execute("SELECT * FROM points")]
            columns = list(database.execute("SELECT * FROM columns"))
        self.assertEqual([column["name"] for column in columns], list(rows[0]))
        self.assertEqual(records, lines)
        self.assertEqual([[str(v) if v is not None else "" for v in r.values()] for r in lines],
                         [[v[:-2] if re.fullmatch(r"\d+\.0", v) else v for v in r.values()] for r in rows])
        points = {p["point"]: p for p in self.points()}
        self.assertEqual({line["point"] for line in lines}, set(points))
        for line in lines:
            self.assertEqual(line["core.memory"], points[line["point"]]["device"]["keys"]["core.memory"])
            self.assertEqual(line["twice"], line["ms"] and 2 * line["ms"])
            for column, value in points[line["point"]]["figures"].items():
                self.assertEqual(line[column], value)
        self.assertEqual({line["status"] for line in lines}, {"ok", "refused"})
        kinds = {column["name"]: (column["unit"], column["role"]) for column in columns}
        self.assertEqual((kinds["core.memory"], kinds["ms"], kinds["twice"]), (("KiB", "vary"), ("ms", "result"), ("", "result")))
        self.assertEqual(list(kinds)[-1], "twice")

    def test_what_is_left_of_each_requirement(self):
        self.sweep("--model", CNN, "--model", MOBILE, "--mesh", "1..2x1..2", "--no-verify", "--require", "ms <= 0.01", "--require",
                   "tiny_cnn.ips >= 100000", "--require", "ms <= 0.01")
        self.run_heddle("collect", self.out)
        rows = list(csv.DictReader((self.out / "results.csv").read_text().splitlines()))
        cnn = {(r["rows"], r["cols"]): float(r["ips"]) for r in rows if r["model"] == "tiny_cnn"}
        self.assertEqual(len(rows), 8)
        for row in rows:
            ips = cnn[row["rows"], row["cols"]]
            self.assertAlmostEqual(float(row["slack(ms <= 0.01)"]), (0.01 - float(row["ms"])) / 0.01, 12)
            self.assertAlmostEqual(float(row["slack(tiny_cnn.ips >= 100000)"]), (ips - 100000) / ips, 12)
        self.assertEqual(list(rows[0])[-2:], ["slack(ms <= 0.01)", "slack(tiny_cnn.ips >= 100000)"])


class Timeline(Sweeps):
    def test_a_point_again_is_the_point(self):
        for model in (CNN, MOBILE):
            shutil.copy(model, self.folder)
        self.run_heddle("prune", CNN, "-o", self.folder / "half.onnx", "--ratio", "0.5", "-q")
        description = self.folder / "mine.yaml"
        description.write_text((SOURCE / "hw_configs/switched.yaml").read_text())
        asked = ("--model", self.folder / "tiny_cnn.onnx", "--masks", f"none,{self.folder / 'half.masks.npz'}", "--apply-masks",
                 "--mesh", "1..2x2", "--vary", "links.{wire,memtile.read}=2500MB/s,4GB/s", "--set", "core.writeMulticast=true")
        self.sweep(*asked, "--device", description, "--seed", "7")
        self.sweep("--model", self.folder / "tiny_mobile.onnx", "--mesh", "2x2", "--effort", "0", "--no-propagate", "--estimate")
        self.sweep("--model", self.folder / "tiny_cnn.onnx", "--mesh", "2x2", "--fuse", "conv1..b1_2:3", "--no-verify")
        description.unlink()
        points = self.points()
        self.assertEqual(len(points), 10)
        for point in points:
            self.run_heddle("sweep", "--timeline", point["point"], "-o", self.out, "-q")
            report = json.loads((self.out / "timelines" / point["point"] / "report.json").read_text())
            self.assertEqual(report["model"]["sha256"], point["model"]["sha256"])
            figures = point["figures"]
            if figures["status"] == "ok":
                self.assertEqual(report["time"]["cycles"], figures["cycles"])
                self.assertEqual(report["verification"]["matches"], figures["proved"] == 1)
                self.assertEqual(bool(report["groups"]), figures["fuse"] != "auto")
            else:
                self.assertTrue(math.isclose(report["time"]["closedFormSeconds"] * 1e3, figures["ms"], rel_tol=1e-12))
        self.run_heddle("collect", self.out, "-o", self.folder / "tables")
        packed = re.search(r'class="sweep">([^<]+)</script>', (self.folder / "tables/sweep.html").read_text())[1]
        self.assertEqual(json.loads(gzip.decompress(base64.b64decode(packed)))["timelines"],
                         {p["point"]: f"../out/timelines/{p['point']}/timeline.html" for p in points})

    def test_what_has_changed_since_is_not_compiled(self):
        model = self.folder / "net.onnx"
        shutil.copy(CNN, model)
        self.sweep("--model", model, "--mesh", "1x1..2", "--no-verify")
        one, other = (p["point"] for p in self.points())
        again = lambda point, code, status: self.assertTrue(self.run_heddle(
            "sweep", "--timeline", point, "-o", self.out, status=status).stderr.startswith(f"error[{code}]"))
        again("x", "SWEEP015", 2)
        shutil.copy(MOBILE, model)
        again(one, "SWEEP016", 1)
        model.unlink()
        again(one, "FILE001", 1)
        shutil.copy(CNN, model)
        for file in (self.out / "devices").iterdir():
            file.write_text(file.read_text().replace("name: paper", "name: other"))
        again(other, "SWEEP016", 1)
        (self.out / "sources.json").write_text("{")
        again(other, "SWEEP016", 1)
        self.sweep("--model", model, "--mesh", "1x1..2", "--no-verify")
        self.run_heddle("sweep", "--timeline", one[:12], "-o", self.out)
        self.run_heddle("sweep", "--timeline", one, "--model", model, "-o", self.out, status=2)
        self.run_heddle("sweep", "--timeline", one, "-o", self.folder, status=1)


class Faults(Sweeps):
    ASKED = ("--model", CNN, "--mesh", "1..2x1..2", "--no-verify")

    def fault(self, code, *arguments, status=2, **how):
        done = self.sweep(*arguments, status=status, **how)
        self.assertTrue(done.stderr.startswith(f"error[{code}]"), done.stderr)
        return done.stderr

    def test_two_at_once(self):
        many = ("--model", CNN, "--model", MOBILE, "--mesh", "1..8x1..8")
        with subprocess.Popen([options.heddle, "sweep", *many, "-q", "-o", self.out]) as first:
            while not (self.out / "questions.json").exists():
                time.sleep(0.001)
            message = self.fault("SWEEP011", *self.ASKED, status=1)
            self.assertIn("another sweep is filling the folder", message)
            first.kill()
            first.wait()
        self.sweep(*self.ASKED)  # a dead one's lock keeps nobody out

    def test_nothing_can_be_written_there(self):
        self.folder.chmod(0o755)
        for file in (options.heddle, CNN):
            shutil.copy(file, self.folder)
        as_nobody = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
        self.sweep(*self.ASKED)
        before = self.files()
        for folder in (self.out, self.out / "points"):
            folder.chmod(0o555)
        command = ["./heddle", "sweep", "--model", "tiny_cnn.onnx", "--mesh", "1..3x1", "-o", "out"]
        done = subprocess.run(command, capture_output=True, text=True, cwd=self.folder, **as_nobody)
        self.assertEqual((done.returncode, done.stderr.split()[0]), (1, "error[FILE003]"), done.stderr)
        self.assertEqual(self.files(), before)

    def test_a_full_disk_loses_nothing(self):
        self.sweep(*self.ASKED)
        before = self.files()

        def full():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        message = self.fault("FILE002", *self.ASKED, "--seed", "2", "--vary", "links.wire=1GB/s,2GB/s", status=1, preexec_fn=full)
        self.assertIn("check the folder, its permissions and the space left", message)
        self.assertEqual(self.files(), before)

    def test_what_is_wrong_for_all_points_is_said_at_once(self):
        for code, *more in (("SWEEP001", "--mesh", "1..x2"), ("SWEEP001", "--mesh", "0x1"), ("SWEEP001", "--mesh", "65x1"),
                            ("SWEEP002", "--vary", "links.wire"), ("SWEEP002", "--vary", "links.{wire=1GB/s"),
                            ("SWEEP002", "--vary", "a{b,c}" * 40 + "=1"), ("SWEEP003", "--mesh", "1x2", "--square"),
                            ("SWEEP003", "--where", "cores > 100"), ("SWEEP004", "--shard", "0/2"), ("SWEEP004", "--shard", "3/2"),
                            ("SWEEP004", "--threads", "0"), ("SWEEP004", "--effort", "4"), ("SWEEP017", "--fuse", "conv1"), ("SWEEP004", "--frames", "0"), ("SWEEP004", "--samples", "0"),
                            ("SWEEP004", "--budget", "5"), ("SWEEP014", "--refine", "1"), ("SWEEP013", "--masks", "none,none"),
                            ("SWEEP014", "--samples", "2", "--refine", "1", "--shard", "1/2"),
                            ("SWEEP005", "--where", "cores +"), ("SWEEP005", "--define", "a=(1"),
                            ("SWEEP006", "--where", "core > 1"), ("SWEEP006", "--where", "ms > 1"),
                            ("SWEEP006", "--define", "ms=1"), ("SWEEP006", "--define", "a b=1"),
                            ("SWEEP006", "--maximize", "resnet.ips"), ("SWEEP007", "--require", "ms"),
                            ("SWEEP007", "--maximize", "ips", "--minimize", "ms"), ("DEV009", "--vary", "links.wires=1GB/s,2GB/s"),
                            ("DEV004", "--vary", "links.wire=1GB/s,2"), ("DEV005", "--vary", "links.wire=1GB/s,1B/s"),
                            ("CLI002", "--define", "area"), ("SWEEP008", "--model", SOURCE / "models/float/tiny_cnn.onnx")):
            with self.subTest(code=code, more=more):
                square = "--square" in more or "--mesh" in more
                asked = ("--model", CNN, *(() if square else ("--mesh", "1..2x1..2")))
                self.fault(code, *asked, *more, status=1 if code == "SWEEP008" else 2)
                self.assertFalse(self.out.exists())
        self.fault("SWEEP006", "--model", CNN, "--model", MOBILE, "--maximize", "ips")
        self.fault("SWEEP008", "--mesh", "1x1")
        self.fault("SWEEP013", "--model", CNN, "--model", MOBILE, "--masks", "a.npz")
        self.fault("FILE001", *self.ASKED, "--masks", "none,there-is-none.npz", status=1)
        self.fault("ONNX001", "--model", self.folder / "none.onnx", status=1)

    def test_hostile_files(self):
        study = self.folder / "study.yaml"
        for code, text in (("SWEEP020", "model: [a\n"), ("SWEEP020", "a: &x [*x, *x]\n"), ("SWEEP020", "[" * 5000), ("SWEEP020", "\x00"),
                           ("SWEEP020", "model: !!binary x\n"), ("SWEEP021", "mesh: 1x1\nmesh: 2x2\n"), ("SWEEP022", "modle: a\n"),
                           ("SWEEP023", "- a\n"), ("SWEEP023", "square: perhaps\n"), ("SWEEP023", "vary: 1\n"), ("SWEEP023", "seed: -1\n"),
                           ("SWEEP023", "model: {a: b}\n"), ("SWEEP023", "define: [a]\n"), ("SWEEP020", "x" * 600_000),
                           ("SWEEP001", "model: a.onnx\nmesh: " + "1..64x1..64," * 3 + "\n"),
                           ("SWEEP003", "model: a.onnx\nmesh: 1..64x1..64\nvary: {links.wire: [" + "1GB/s," * 99 + "1GB/s]}\n"),
                           ("SWEEP005", f"model: {CNN}\nwhere: " + "(" * 1900 + "\n")):
            with self.subTest(code=code, text=text[:30]):
                study.write_text(text)
                self.fault(code, study, status=2 if code == "SWEEP003" else 1, timeout=20)

    def test_folders_that_are_none(self):
        self.folder.joinpath("plain").mkdir()
        self.run_heddle("collect", self.folder / "plain", status=1)
        self.sweep(*self.ASKED)
        (self.out / "points/x.json").write_text("{")
        done = self.run_heddle("collect", self.out, status=1)
        self.assertTrue(done.stderr.startswith("error[SWEEP010]"), done.stderr)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--heddle", type=lambda path: pathlib.Path(path).resolve(), required=True)
    parser.add_argument("--kills", type=int, default=3, help="sweeps that are killed, three times each (3)")
    options, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
