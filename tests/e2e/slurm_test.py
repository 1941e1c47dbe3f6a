#!/usr/bin/python3
"""The script of `heddle sweep --print-slurm`: its jobs by hand, and on a Slurm of two nodes on this machine, one of which dies in the middle.

    tests/e2e/slurm_test.py --heddle build/ci/heddle [Script | Cluster]

The Slurm is the test's own: a munged, a slurmctld and two slurmd with ports, keys and folders of their own; nothing of the machine's
is touched. Skips where it is not installed (scripts/install_deps.sh test).
"""
import argparse
import contextlib
import getpass
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
MODEL = SOURCE / "models/tiny_mobile.onnx"
TABLES = ("results.csv", "results.jsonl", "results.sqlite", "sweep.html")
CONFIGURATION = """
ClusterName=heddle
SlurmctldHost={host}
SlurmctldPort={ports[0]}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=6
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/%n
SlurmctldPidFile={folder}/ctld.pid
SlurmdPidFile={folder}/%n.pid
SlurmctldLogFile={folder}/log/ctld
SlurmdLogFile={folder}/log/%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
ReturnToService=0
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SlurmdTimeout=2
BatchStartTimeout=5
MessageTimeout=2
TCPTimeout=1
KillWait=1
CompleteWait=0
SchedulerParameters=sched_interval=1,batch_sched_delay=0,sched_min_interval=0,bf_interval=1
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=1 RealMemory=4096
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs=1 RealMemory=4096
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""
# Runs each job of an array at once, one after another, and says of every call what it was asked for.
SBATCH = """#!/bin/bash
script=$(mktemp "$SAID/script.XXXX")
cat > "$script"
printf '%s\\n' "$@" $(sed -n 's/^#SBATCH //p' "$script") > "$script.asked"
indices=$(sed -n 's/^#SBATCH --array=1-//p' "$script")
for index in $(seq "${indices:-1}" -1 1); do SLURM_ARRAY_TASK_ID=$index bash "$script" >&2 || exit; done
echo "7${indices:+0};cluster"
"""
PATH = os.environ["PATH"] + ":/usr/sbin:/sbin"
DAEMONS = ("munged", "slurmctld", "slurmd", "sbatch")
options = None


def until(true, seconds=60, every=0.01):
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            return False
        time.sleep(every)
    return True


def free_ports(count):
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


class Daemons:
    """Daemons in the foreground, so that they are children and end with the test."""

    def __init__(self, folder, stack):
        self.folder, self.stack = folder, stack
        for name in ("state", "n1", "n2", "log"):
            (folder / name).mkdir()
        (folder / "munge.key").write_bytes(os.urandom(128))
        (folder / "munge.key").chmod(0o400)
        (folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")  # not looked for: a machine may have none
        (folder / "slurm.conf").write_text(CONFIGURATION.format(
            host=socket.gethostname().split(".")[0], user=getpass.getuser(), folder=folder, ports=free_ports(3)))
        self.environment = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf")}
        self.start("munged", "--foreground", "--force", f"--key-file={folder}/munge.key", f"--socket={folder}/munge.socket",
                   f"--pid-file={folder}/munge.pid", f"--seed-file={folder}/munge.seed", f"--log-file={folder}/log/munge")
        assert until((folder / "munge.socket").exists)
        self.start("slurmctld", "-D", "-c")
        self.nodes = {node: self.start("slurmd", "-D", "-N", node) for node in ("n1", "n2")}
        if not until(lambda: self.say("sinfo", "-h", "-t", "idle", "-o", "%D") == "2"):
            raise AssertionError(self.say("sinfo") + "".join(path.read_text() for path in (folder / "log").iterdir()))

    def start(self, program, *arguments):
        path = shutil.which(program, path=PATH)
        process = subprocess.Popen([path, *arguments], env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        self.stack.callback(self.end, process)
        return process

    @staticmethod
    def end(process):
        process.terminate()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def say(self, *command):
        return subprocess.run(command, env=self.environment, capture_output=True, text=True).stdout.strip()

    def processes_on(self, node):
        """Of the jobs there; what Slurm watches each with comes first."""
        watching, jobs = set(), set()
        for entry in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                environment = (entry / "environ").read_bytes().split(b"\0")
                if {f"SLURM_CONF={self.folder}/slurm.conf".encode(), f"SLURMD_NODENAME={node}".encode()} <= set(environment):
                    jobs.add(int(entry.name))
                    parent = (entry / "stat").read_text().rsplit(") ", 1)[1].split()[1]
                    if pathlib.Path("/proc", parent, "comm").read_text().strip() == "slurmstepd":  # an orphan's is anyone's
                        watching.add(int(parent))
        return [*(watching - jobs), *jobs]

    def lose(self, node):
        """As if its power was cut: nobody is left to say that the job ended, nor what was only about to start."""
        self.nodes[node].kill()
        while processes := self.processes_on(node):
            for process in processes:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)


class Jobs(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="heddle-slurm-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def heddle(self, *arguments, status=0):
        done = subprocess.run([options.heddle, *map(str, arguments)], capture_output=True, text=True, cwd=self.folder)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout + done.stderr

    def assert_same_tables(self, out, *asked):
        """As of a sweep here that nothing stopped."""
        self.heddle("sweep", *asked, "-q", "-o", self.folder / "local")
        self.heddle("collect", self.folder / "local", "-q")
        for table in TABLES:
            self.assertEqual((out / table).read_bytes(), (self.folder / "local" / table).read_bytes(), table)


class Script(Jobs):
    ASKED = ("anyone's study.yaml", "--mesh", "1..2x1..3", "--vary", "links.{wire,memtile.read}=2GB/s,4GB/s", "--where", "cores > 1",
             "--define", "twice=2*ms", "--require", "tiny_cnn.ms <= 1", "--no-verify")

    def setUp(self):
        super().setUp()
        shutil.copy(SOURCE / "models/tiny_cnn.onnx", self.folder)
        (self.folder / "anyone's study.yaml").write_text("model: tiny_cnn.onnx\nthreads: 2\n")
        (self.folder / "bin").mkdir()
        (self.folder / "bin/sbatch").write_text(SBATCH)
        (self.folder / "bin/sbatch").chmod(0o755)

    def print_script(self, jobs, *arguments):
        return self.heddle("sweep", *self.ASKED, "--print-slurm", jobs, "-o", "the out", *arguments)

    def submit(self, text, *arguments):
        """What each call of sbatch was asked for."""
        said = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        environment = {**os.environ, "PATH": f"{self.folder}/bin:{os.environ['PATH']}", "SAID": str(said)}
        done = subprocess.run(["bash", "-c", text, "script", *arguments], capture_output=True, text=True, env=environment, cwd="/")
        self.assertEqual(done.returncode, 0, done.stderr)
        asked = [path.read_text().splitlines() for path in said.glob("*.asked")]
        return sorted(asked, key=lambda lines: any("afterok" in line for line in lines)), done.stdout

    def test_the_jobs_by_hand_are_the_whole_sweep(self):
        script = self.print_script("3")
        self.assertFalse((self.folder / "the out").exists(), "nothing is done yet")
        (parts, collect), said = self.submit(script, "--partition=long")
        self.assertEqual(sorted(path.name for path in (self.folder / "the out/parts").iterdir()), ["1", "2", "3"])
        self.assert_same_tables(self.folder / "the out", *self.ASKED)
        self.assertIn("jobs 70;cluster and then 7;cluster", said)
        self.assertLessEqual({"--partition=long", "--requeue", "--array=1-3", "--open-mode=append"}, set(parts))
        self.assertLessEqual({"--partition=long", "--dependency=afterok:70", "--kill-on-invalid-dep=yes"}, set(collect))
        times = {path: path.stat().st_mtime_ns for path in (self.folder / "the out/parts").glob("*/points/*")}
        self.submit(script)
        self.assertEqual({path: path.stat().st_mtime_ns for path in times}, times, "nothing is done twice")

    def test_what_a_point_may_take_is_what_a_job_asks_for(self):
        # 10 points in 3 jobs: 4 in the largest, two at a time.
        for arguments, expected in ((("--point-time", "90s", "--point-memory", "512MiB"), {"--time=3", "--mem=1024M", "--cpus-per-task=2"}),
                                    (("--point-time", "2h", "--threads", "1"), {"--time=480", "--mem=2048M", "--cpus-per-task=1"}),
                                    ((), {"--time=10", "--mem=4096M", "--cpus-per-task=2"})):
            self.assertLessEqual(expected, set(re.findall(r"^#SBATCH (\S+)$", self.print_script("3", *arguments), re.MULTILINE)))
        self.assertIn("#SBATCH --array=1-10\n", self.print_script("50"), "no job without a point")

    def test_it_is_a_script_without_faults(self):
        script = self.print_script("3")
        subprocess.run(["bash", "-n"], input=script, text=True, check=True)
        if shutil.which("shellcheck"):
            done = subprocess.run(["shellcheck", "-"], input=script, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout)

    def test_faults_are_said_before_anything_is_submitted(self):
        for arguments, code in ((("--print-slurm", "0"), "SWEEP004"), (("--print-slurm", "1001"), "SWEEP004"), (("--print-slurm", "two"), "SWEEP004"),
                                (("--print-slurm", "2", "--point-time", "5"), "SWEEP004"), (("--print-slurm", "2", "--point-memory", "5"), "SWEEP004"),
                                (("--print-slurm", "2", "--shard", "1/2"), "CLI002"), (("--point-time", "5m"), "CLI003"),
                                (("--print-slurm", "2", "--samples", "2", "--refine", "1"), "SWEEP014"),
                                (("--print-slurm", "2", "--set", "core.memry=1"), "DEV009")):
            said = subprocess.run([options.heddle, "sweep", "--model", "tiny_cnn.onnx", "--mesh", "1..2x1", "-o", "out", *arguments],
                                  capture_output=True, text=True, cwd=self.folder)
            self.assertIn(f"error[{code}]", said.stderr, arguments)
            self.assertEqual(said.stdout, "")


@unittest.skipUnless(all(shutil.which(program, path=PATH) for program in DAEMONS), "Slurm and munge are not installed")
class Cluster(Jobs):
    def test_a_node_dies_and_the_results_are_those_of_an_unbroken_sweep(self):
        asked, out = ("--model", MODEL, "--mesh", "5..8x5..8"), self.folder / "out"
        script = self.folder / "sweep.sh"
        script.write_text(self.heddle("sweep", *asked, "--print-slurm", "2", "--point-memory", "1GiB", "-o", out))
        with contextlib.ExitStack() as stack:
            cluster = Daemons(self.folder, stack)
            submitted = subprocess.run(["bash", script], env=cluster.environment, capture_output=True, text=True)
            self.assertEqual(submitted.returncode, 0, submitted.stderr)
            parts, collect = re.match(r"jobs (\d+) and then (\d+);", submitted.stdout).groups()

            def on_first():
                return cluster.say("squeue", "-h", "-r", "-w", "n1", "-t", "running", "-o", "%K")
            self.assertTrue(until(on_first), cluster.say("squeue"))
            points = out / "parts" / on_first() / "points"
            self.assertTrue(until(lambda: list(points.glob("*.json"))), "it began")
            cluster.lose("n1")
            done = len(list(points.glob("*.json")))
            self.assertTrue(1 <= done < 8, f"{done} of 8 points: it was in the middle")

            def state():
                return cluster.say("squeue", "-h", "-t", "all", "-j", collect, "-o", "%T")
            self.assertTrue(until(lambda: state() == "COMPLETED", 120, 0.2), cluster.say("squeue", "-t", "all"))
            self.assertEqual(cluster.say("sinfo", "-h", "-n", "n1", "-o", "%t").rstrip("*"), "down")
            self.assertIn("Restarts=1", cluster.say("scontrol", "show", "job", parts))
        self.assert_same_tables(out, *asked)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--heddle", type=lambda path: pathlib.Path(path).resolve(), required=True)
    options, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
