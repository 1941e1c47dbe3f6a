#!/usr/bin/python3
"""What befalls a run from outside: signals at any moment, names that a terminal would obey, odd paths, too little memory, no threads.

    tests/e2e/robustness_test.py --heddle build/ci/heddle [Interrupts | Names | Paths | Limits | Results]
"""
import argparse
import itertools
import os
import pathlib
import pty
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import numpy as np
import onnx
import onnx.numpy_helper

SOURCE = pathlib.Path(__file__).resolve().parents[2]
MODEL = SOURCE / "models/tiny_mobile.onnx"
OUTPUTS = {"plan.txt", "program.asm", "weights.bin", "device.yaml", "timeline.json", "timeline.html", "report.json", "report.md",
           "layers.csv", "explain.json", "dump"}
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
options = None


def with_hosts():
    """The network between two operators of the host: raw -> Neg -> the array -> logits -> Softmax -> probabilities."""
    proto = onnx.load(MODEL)
    image, logits = proto.graph.input[0], proto.graph.output[0]
    proto.graph.node.insert(0, onnx.helper.make_node("Neg", ["raw"], [image.name], "negate"))
    proto.graph.node.append(onnx.helper.make_node("Softmax", [logits.name], ["probabilities"], "softmax", axis=1))
    image.name, logits.name = "raw", "probabilities"
    return proto


def with_default_signals():
    """Whoever runs this in the background or under nohup has had some of them ignored."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_DFL)


class Robustness(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="heddle-robust-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.out = self.folder / "out"

    def run_heddle(self, *arguments, status=0, **how):
        done = subprocess.run([options.heddle, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              **how)
        self.assertEqual(done.returncode, status, (arguments, done.stderr))
        return done

    def entries(self):
        return sorted(path.name for path in self.folder.iterdir())


class Interrupts(Robustness):
    def start(self):
        command = [options.heddle, "compile", MODEL, "--mesh", "2x2", "--dump", "report", "-q", "-o", self.out]
        return subprocess.Popen(command, stderr=subprocess.DEVNULL, preexec_fn=with_default_signals)

    def seconds_of_a_run(self):
        begun = time.monotonic()
        with self.start() as process:
            self.assertEqual(process.wait(), 0)
        shutil.rmtree(self.out)
        return time.monotonic() - begun

    def test_a_signal_at_any_moment_leaves_all_or_nothing(self):
        whole, chance, ended = self.seconds_of_a_run(), random.Random(1), {130: 0, 0: 0}
        for number in SIGNALS:
            for _ in range(options.runs):
                with self.start() as process:
                    # Before it has blocked the signals they end it at once, and nothing is there yet.
                    while process.poll() is None and not self.entries():
                        time.sleep(0.0005)
                    begun = time.monotonic()
                    try:
                        process.wait(chance.uniform(0, whole))
                        # Other work on the machine makes one run longer than the next: the shortest says which moments are in time.
                        whole = min(whole, time.monotonic() - begun)
                    except subprocess.TimeoutExpired:
                        process.send_signal(number)
                    status = process.wait()
                self.assertIn(status, ended, number.name)
                ended[status] += 1
                left = self.entries()
                self.assertIn(left, [["out"]] if status == 0 else [[], ["out"]], number.name)
                if left:  # also where the signal came between the last step and the end
                    self.assertEqual({path.name for path in self.out.iterdir()}, OUTPUTS)
                    shutil.rmtree(self.out)
        self.assertGreater(ended[130], options.runs, "most of them were in time")

    def test_results_of_before_survive_a_signal(self):
        whole, chance = self.seconds_of_a_run(), random.Random(2)
        for _ in range(options.runs):
            self.out.mkdir()
            (self.out / "report.md").write_text("of before")
            with self.start() as process:
                time.sleep(chance.uniform(0, 1.2 * whole))
                process.send_signal(signal.SIGTERM)
                status = process.wait()
            self.assertEqual(self.entries(), ["out"])
            names = {path.name for path in self.out.iterdir()}
            self.assertIn(names, [OUTPUTS] if status == 0 else [OUTPUTS, {"report.md"}])
            shutil.rmtree(self.out)

    def test_the_next_run_clears_away_what_a_killed_one_has_left(self):
        left = 0
        for _ in range(3):
            with self.start() as process:
                while process.poll() is None and not self.entries():
                    time.sleep(0.0005)
                process.kill()
                process.wait()
            left = max(left, len(self.entries()))
            with self.start() as process:
                self.assertEqual(process.wait(), 0)
            self.assertEqual(self.entries(), ["out"])
        self.assertGreaterEqual(left, 1, "a killed run leaves its sibling")

    def test_what_is_foreign_in_it_stays_and_is_named(self):
        with subprocess.Popen(["true"]) as ended:
            ended.wait()
        sibling = self.folder / f".out.partial{ended.pid}"
        sibling.mkdir()
        (sibling / "thesis.tex").write_text("years of work")
        done = self.run_heddle("compile", MODEL, "--mesh", "1x1", "-o", self.out)
        self.assertIn(f"left over {sibling}: of a run that was killed", done.stdout.decode())
        self.assertEqual((sibling / "thesis.tex").read_text(), "years of work")

    def test_a_run_that_outlives_its_terminal_goes_on(self):
        command = [options.heddle, "compile", MODEL, "--mesh", "2x2", "-q", "-o", self.out]
        with subprocess.Popen(command, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)) as process:
            while process.poll() is None and not self.entries():
                time.sleep(0.0005)
            process.send_signal(signal.SIGHUP)
            self.assertEqual(process.wait(), 0)


class Names(Robustness):
    """Every name of a model holds what a terminal would obey."""

    CONTROL = "\x1b]0;x\x07\x1b[2J\u009b31m\u202e\u2066\x7f\b\r\nerror[BUG001]"
    NOT_UTF8 = b"QNOTUTFQ", b"\x9b\xffTUTFQ\xc0"  # protobuf for Python writes none
    FORBIDDEN = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\x8e\x8f\xa8-\xae]|\xe2\x81[\xa6-\xa9]"
                           rb"|\xd8\x9c")

    def setUp(self):
        super().setUp()
        self.model = self.folder / "m.onnx"
        proto, made = with_hosts(), {}
        hostile = lambda name: made.setdefault(name, name + self.CONTROL + self.NOT_UTF8[0].decode()) if name else name
        for node in proto.graph.node:
            node.name = hostile(node.name)
            node.input[:] = map(hostile, node.input)
            node.output[:] = map(hostile, node.output)
        for value in [*proto.graph.initializer, *proto.graph.input, *proto.graph.output, *proto.graph.value_info]:
            value.name = hostile(value.name)
        proto.graph.name = proto.producer_name = hostile("g")
        self.write(proto)

    def write(self, proto):
        self.model.write_bytes(proto.SerializeToString().replace(*self.NOT_UTF8))

    def check(self, content, where):
        found = self.FORBIDDEN.search(content)
        self.assertIsNone(found, (where, content[max(0, found.start() - 60):found.end() + 20] if found else b""))
        content.decode()

    def shown(self, *arguments, status=0):
        """What a command says, into pipes."""
        done = self.run_heddle(*arguments, status=status)
        self.check(done.stdout.replace(b"\r\n", b"\n"), arguments)  # CSV ends its lines so
        self.check(done.stderr, arguments)
        return done.stdout + done.stderr

    def test_no_command_and_no_file_passes_them_on(self):
        self.shown("compile", self.model, "--mesh", "2x2", "--dump", "report", "-v", "-o", self.out)
        for name in ("chrome", "csv", "vcd"):
            self.shown("export", self.out, "--format", name)
            self.shown("export", self.out, "--format", name, "-o", "-")
        # The page's own program has control characters in it; the names come to it in the text of timeline.json.
        texts = {path for path in self.out.rglob("*") if path.is_file() and path.suffix not in (".bin", ".html")}
        self.assertGreater(len(texts), 15)
        for path in texts:
            self.check(path.read_bytes().replace(b"\r\n", b"\n"), path)
        self.shown("inspect", self.model)
        self.shown("inspect", self.model, "--json")
        self.shown("inspect", self.out)
        self.shown("simulate", self.out, "--data")
        self.shown("interpret", self.model, "--dump-tensors", self.folder / "tensors")
        for path in (self.folder / "tensors").iterdir():
            self.check(os.fsencode(path.name), path)
        for stage in ("graph", "canonical", "plan", "memory-plan", "program", "simulate", "report"):
            self.shown("compile", self.model, "--mesh", "2x2", "--stop-after", stage)

    def test_no_fault_passes_them_on(self):
        proto = onnx.load(MODEL)
        proto.graph.node[0].op_type = "Magic" + self.CONTROL
        proto.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "n" + self.CONTROL
        proto.opset_import.add(domain="d" + self.CONTROL, version=1)
        self.write(proto)
        self.assertIn(b"\\u001b", self.shown("inspect", self.model, status=1))
        text = self.folder / "d.yaml"
        text.write_text('name: "\\e[2J\\u202e"\n"k\\e]0;x\\a": 1\nrows: "\\x9b31m"\ncore: {banks: "\\b"}\n')
        self.assertIn(b"\\u001b", self.shown("inspect", text, status=1))
        array = self.folder / "x.npy"
        header = "{'descr': '\x1b[2J', 'fortran_order': False, 'shape': (1,), }\n".encode()
        array.write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
        self.assertIn(b"\\u001b", self.shown("interpret", MODEL, "--input", array, status=1))
        program = self.out / "program.asm"
        self.out.mkdir()
        program.write_bytes(b"heddle.asm/2\nmodel \"x\" \x1b[2J\xc2\x9b\xff\n")
        self.shown("simulate", self.out, status=1)
        (self.out / "timeline.json").write_bytes(b'{"format": "\xc2\x9b\xe2\x80\xae", "x\x1b": 1}')
        self.shown("view", self.out, status=1)
        self.shown("inspect", "\x1b[2J\u202e", status=2)
        self.shown("compile", MODEL, "--\x1b[2J", status=2)
        self.shown("compile", MODEL, "--mesh", "\x1b[2J", status=2)
        self.shown("compile", MODEL, "--set", "\x1b[2J=1", "-o", self.folder / "o", status=2)

    def test_nothing_else_writes_to_the_terminal(self):
        """main.cc passes all on through VisibleBuffer and toText; the other two write words of their own only."""
        stream = re.compile(r"std::(cout|cerr|clog)\b|\bstd(out|err)\b|\b(printf|puts|perror)\(|STD(OUT|ERR)_FILENO")
        texts_and_comments = re.compile(r'"(?:[^"\\\n]|\\.)*"|//.*')
        writers = {str(path.relative_to(SOURCE / "src")) for path in (SOURCE / "src").rglob("*.cc")
                   if stream.search(texts_and_comments.sub("", path.read_text()))}
        self.assertEqual(writers, {"cli/main.cc", "driver/interrupt.cc", "driver/progress.cc"})

    def test_an_exported_timeline_is_itself_in_a_pipe_but_not_on_a_terminal(self):
        self.run_heddle("compile", MODEL, "--mesh", "1x1", "-q", "-o", self.out)
        command = ["export", self.out, "--format", "perfetto", "-o"]
        self.run_heddle(*command, self.folder / "file")
        piped = self.run_heddle(*command, "-").stdout
        self.assertEqual(piped, (self.folder / "file").read_bytes())
        self.assertRegex(piped, self.FORBIDDEN)
        try:
            ours, theirs = pty.openpty()
        except OSError as error:  # a container without /dev/pts
            self.skipTest(f"needs a pseudo-terminal: {error}")
        with subprocess.Popen([options.heddle, *command, "-"], stdout=theirs) as process:
            os.close(theirs)
            seen = b""
            while True:
                try:
                    piece = os.read(ours, 65536)
                except OSError:  # the other end is closed
                    break
                if not piece:
                    break
                seen += piece
        os.close(ours)
        self.check(seen.replace(b"\r\n", b"\n"), "the terminal")


class Paths(Robustness):
    """No path, however odd, is a bug; where it is that of an input, nothing is written."""

    def test_every_command_says_what_is_wrong_with_a_path(self):
        self.run_heddle("compile", MODEL, "--mesh", "1x1", "-q", "-o", "good", cwd=self.folder)
        (self.folder / "loop").symlink_to("loop")
        (self.folder / "file").touch()
        paths = ("a" * 5000, "b" * 250, "loop", "loop/x", "file/x", "", ".", "..", "/", "/dev/null", "good/dump", "a\nb", "no/x")
        commands = ("inspect @", "compile @ -o out", f"compile {MODEL} -q --mesh 1x1 -o @", f"compile {MODEL} --device @ -o out",
                    "simulate @", "simulate good --data --input @", "simulate good --data --output @", "interpret @",
                    f"interpret {MODEL} --input @", f"interpret {MODEL} --output @", f"interpret {MODEL} --dump-tensors @",
                    "view @", "view good -o @", "export @ --format csv", "export good --format csv -o @")
        for path in paths:
            for command in commands:
                words = [path if word == "@" else word for word in command.split()]
                done = subprocess.run([options.heddle, *words], capture_output=True, cwd=self.folder, timeout=60)
                with self.subTest(command=command, path=path[:20]):
                    self.assertIn(done.returncode, (0, 1, 2), done.stderr)
                    self.assertEqual(done.returncode != 0, b"error[" in done.stderr)

    def test_a_folder_of_others_in_a_sticky_one_is_refused_before_the_work(self):
        """As the kernel decides: of the owners of both folders, and of the sticky bit."""
        if os.geteuid() != 0:
            self.skipTest("needs root, to be another user")
        nobody = 65534
        as_nobody = {"user": nobody, "group": nobody, "extra_groups": [], "cwd": self.folder}
        for file in (options.heddle, MODEL):  # to where nobody can read them
            shutil.copy(file, self.folder)
        self.folder.chmod(0o755)
        decided = set()
        for mode, of_parent, of_out in itertools.product((0o1777, 0o777), (0, nobody), (0, nobody)):
            parent = self.folder / f"{mode:o}-{of_parent}-{of_out}"
            for folder, owner, bits in ((parent, of_parent, mode), (parent / "out", of_out, 0o777)):
                folder.mkdir()
                os.chown(folder, owner, owner)
                folder.chmod(bits)
            renamed = subprocess.run(["mv", parent / "out", parent / "moved"], stderr=subprocess.DEVNULL, **as_nobody)
            decided.add(renamed.returncode)
            # Where there is no model, the folder is refused all the same: before any work.
            model = "missing.onnx" if renamed.returncode else MODEL.name
            if not renamed.returncode:
                (parent / "moved").rename(parent / "out")
            done = subprocess.run(["./heddle", "compile", model, "--mesh", "1x1", "-q", "-o", parent / "out"],
                                  capture_output=True, text=True, **as_nobody)
            refused = (f"error[FILE003] {parent / 'out'}: the results cannot be put there\n"
                       "  what:  it belongs to another user, in a sticky folder\n"
                       "  mend:  name a folder in it, or another one\n")
            with self.subTest(parent=parent.name):
                self.assertEqual((done.returncode, done.stderr), (1, refused) if renamed.returncode else (0, ""))
        self.assertEqual(decided, {0, 1})


class Limits(Robustness):
    COMPILE = ("compile", MODEL, "--mesh", "2x2", "-q", "-o")

    def limited(self, *arguments, **limits):
        def set_limits():
            for name, value in limits.items():
                kind = getattr(resource, f"RLIMIT_{name}")
                resource.setrlimit(kind, (value, resource.getrlimit(kind)[1]))
        return subprocess.run([options.heddle, *(arguments or (*self.COMPILE, self.out))], capture_output=True, text=True,
                              preexec_fn=set_limits)

    def test_without_memory_it_says_how_much_was_in_use(self):
        seen = set()
        for mebibytes in (*range(20, 60, 2), 512):
            if self.limited("--version", AS=mebibytes << 20).returncode != 0:  # not enough to load the libraries
                continue
            done = self.limited(AS=mebibytes << 20)
            seen.add(done.returncode)
            self.assertIn(done.returncode, (0, 3), (mebibytes, done.stderr))
            if done.returncode == 3:
                self.assertRegex(done.stderr, r"^error\[CLI004\] heddle: out of memory\n  what:  \d+ MiB were in use at "
                                 rf"most; this process may have {mebibytes} MiB of address space \(ulimit -v\)\n"
                                 r"  mend:  use a machine with more memory, or a smaller network\n$"
                                 "|^error.MACH016. .*: the memories are too large to be simulated with data\n")
                self.assertEqual(self.entries(), [])
            shutil.rmtree(self.out, ignore_errors=True)
        self.assertTrue({0, 3} <= seen, seen)

    def test_without_threads_it_does_all_the_same(self):
        done = self.limited(STACK=1 << 40, AS=1 << 32)  # no stack of that size for a second thread
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual({path.name for path in self.out.iterdir()}, OUTPUTS - {"dump"})


class Results(Robustness):
    def test_dumps_are_the_same_bytes_from_anywhere(self):
        texts = set()
        for place in (self.folder / "a", self.folder / "b/c"):
            place.mkdir(parents=True)
            shutil.copy(MODEL, place / "net.onnx")
            self.run_heddle("compile", place / "net.onnx", "--mesh", "1x1", "--stop-after", "memory-plan", "-o", self.out)
            texts.add(tuple(path.read_text() for path in sorted((self.out / "dump").iterdir())))
        self.assertEqual(len(texts), 1)

    def test_inputs_that_are_not_given_are_made_from_the_seed(self):
        outputs, model = {}, self.folder / "m.onnx"
        onnx.save(with_hosts(), model)
        for seed in (1, 1, 2):
            self.run_heddle("interpret", model, "--seed", seed, "--output", self.folder / "y.npy")
            outputs.setdefault(seed, []).append(np.load(self.folder / "y.npy"))
        np.testing.assert_array_equal(*outputs[1])
        self.assertTrue((outputs[1][0] != outputs[2][0]).any())

    def test_every_output_of_a_model_can_be_written(self):
        # What the array gives to the host's Softmax, what the host gives to the array, and a constant are outputs too.
        proto = with_hosts()
        shapes = {"logits": (1, 10), "image": (1, 3, 33, 29), "three": (1,)}
        proto.graph.node[0].output[0] = proto.graph.node[1].input[0] = "image"
        proto.graph.node[-1].input[0] = proto.graph.node[-2].output[0] = "logits"
        proto.graph.initializer.append(onnx.numpy_helper.from_array(np.float32([3]), "three"))
        for name, shape in shapes.items():
            proto.graph.output.append(onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape))
        onnx.save(proto, self.folder / "m.onnx")
        x, outputs = self.folder / "x.npy", ("probabilities", *shapes)
        raw = np.random.default_rng(7).uniform(-2, 2, shapes["image"]).astype(np.float32)
        np.save(x, raw)
        self.run_heddle("interpret", self.folder / "m.onnx", "--input", x,
                        *(f"--output={name}={self.folder / name}.npy" for name in outputs))
        probabilities, logits, image, three = (np.load(self.folder / f"{name}.npy") for name in outputs)
        exponents = np.exp(logits - logits.max())
        np.testing.assert_allclose(probabilities, exponents / exponents.sum(), rtol=1e-5)
        np.testing.assert_array_equal(image, -raw)
        np.testing.assert_array_equal(three, np.float32([3]))

    def test_what_the_host_has_made_before_the_array_it_may_read_after(self):
        proto, x = with_hosts(), self.folder / "x.npy"
        proto.graph.node.append(onnx.helper.make_node("ReduceMax", ["raw_abs"], ["most"], "most", axes=[2, 3], keepdims=0))
        proto.graph.node.append(onnx.helper.make_node("Concat", ["most", "probabilities"], ["y"], "join", axis=1))
        proto.graph.node.insert(0, onnx.helper.make_node("Abs", ["raw"], ["raw_abs"], "abs"))
        proto.graph.node[1].input[0] = "raw_abs"
        proto.graph.output[0].CopyFrom(onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, (1, 13)))
        onnx.save(proto, self.folder / "m.onnx")
        raw = np.random.default_rng(7).uniform(-2, 2, (1, 3, 33, 29)).astype(np.float32)
        np.save(x, raw)
        self.run_heddle("interpret", self.folder / "m.onnx", "--input", x, "--output", self.folder / "y.npy")
        np.testing.assert_array_equal(np.load(self.folder / "y.npy")[:, :3], np.abs(raw).max(axis=(2, 3)))

    def test_a_large_weight_file_of_holes_is_not_read(self):
        self.run_heddle("compile", MODEL, "--mesh", "1x1", "-q", "-o", self.out)
        os.truncate(self.out / "weights.bin", 1 << 32)
        limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (1 << 28, 1 << 28))
        done = self.run_heddle("simulate", self.out, status=1, preexec_fn=limit)
        self.assertIn(b"error[SIM001]", done.stderr)
        self.assertIn(b"4294967296 B; program.asm declares ", done.stderr)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--heddle", type=lambda path: pathlib.Path(path).resolve(), required=True)
    parser.add_argument("--runs", type=int, default=10, help="runs that each signal ends (10)")
    options, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
