"""Sweeps on a real Slurm: its daemons are started here, on one node at 127.0.0.1. Skipped where slurm-wlm and munge are not installed or the test is not root's."""
import os
import pathlib
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

SLIDE = """
slipstick: 1
let: {mu: 0.5, v: 1}
materials: {default: {friction: mu}}
bodies:
  - {name: ground, fixed: true, shapes: [{plane: {normal: [0, 0, 1]}}]}
  - {name: block, mass: 1, position: [0, 0, 0.05], velocity: [v, 0, 0], shapes: [{box: {size: [0.2, 0.2, 0.1]}}]}
simulation: {duration: 2, step: 1/200}
"""
STUDY = """slipstick_study: 1
scene: slide.yaml
vary: {mu: [0.2, 0.4, 0.8], v: [1, 2]}
outputs: {way: final.bodies.block.position[0]}
"""
DAEMONS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Slurm:
    """munged, slurmctld and slurmd in a folder of their own."""

    def __init__(self, folder):
        self.at, self.daemons = folder, []

    def start(self):
        os.environ["PATH"] += ":/usr/sbin:/sbin"
        (self.at / "key").write_bytes(secrets.token_bytes(128))
        (self.at / "key").chmod(0o400)
        node = socket.gethostname().split(".")[0]
        (self.at / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")
        (self.at / "slurm.conf").write_text(f"""ClusterName=test
SlurmctldHost={node}(127.0.0.1)
SlurmUser=root
SlurmctldPort={free_port()}
SlurmdPort={free_port()}
AuthType=auth/munge
CryptoType=crypto/munge
AuthInfo=socket={self.at}/munge.socket
StateSaveLocation={self.at}/state
SlurmdSpoolDir={self.at}/spool
SlurmctldPidFile={self.at}/slurmctld.pid
SlurmdPidFile={self.at}/slurmd.pid
SlurmctldLogFile={self.at}/slurmctld.log
SlurmdLogFile={self.at}/slurmd.log
SelectType=select/cons_tres
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
ReturnToService=2
SchedulerParameters=sched_interval=2,sched_min_interval=0
MinJobAge=30
NodeName={node} NodeAddr=127.0.0.1 CPUs={os.cpu_count()} State=UNKNOWN
PartitionName=all Nodes={node} Default=YES MaxTime=INFINITE State=UP
""")
        os.environ["SLURM_CONF"] = str(self.at / "slurm.conf")
        for name in ("state", "spool"):
            (self.at / name).mkdir()
        self._run("munged", "--foreground", "--force", f"--socket={self.at}/munge.socket", f"--key-file={self.at}/key", f"--log-file={self.at}/munge.log",
                  f"--pid-file={self.at}/munge.pid", f"--seed-file={self.at}/munge.seed")
        self._wait(lambda: (self.at / "munge.socket").exists())
        self._run("slurmctld", "-D", "-i")
        self._run("slurmd", "-D", "-N", node)
        self._wait(lambda: "idle" in subprocess.run(["sinfo", "-h", "-o", "%T"], capture_output=True, text=True).stdout)

    def _run(self, *words):
        with open(self.at / f"{words[0]}.out", "wb") as out:
            self.daemons.append(subprocess.Popen(words, stdout=out, stderr=out, start_new_session=True))

    def _wait(self, ready):
        end = time.monotonic() + 300
        while not ready():
            if time.monotonic() > end:
                raise RuntimeError("Slurm does not start:\n" + "\n".join(f"{p.name}: {p.read_text(errors='replace')[-1500:]}" for p in self.at.glob("*.out"))
                                   + "".join(p.read_text(errors="replace")[-1500:] for p in self.at.glob("slurm*.log")))
            time.sleep(0.2)

    def stop(self):
        subprocess.run(["scancel", "--me"], capture_output=True)
        for daemon in reversed(self.daemons):
            daemon.send_signal(signal.SIGTERM)
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()


@unittest.skipUnless(os.geteuid() == 0 and all(shutil.which(d, path=os.environ["PATH"] + ":/usr/sbin:/sbin") for d in DAEMONS),
                     "needs slurm-wlm and munge, and root")
class Sweeps(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.at = pathlib.Path(cls.folder.name)
        cls.slurm = Slurm(cls.at / "slurm")
        cls.slurm.at.mkdir()
        try:
            cls.slurm.start()
        except Exception:
            cls.slurm.stop()
            raise
        (cls.at / "slide.yaml").write_text(SLIDE)
        (cls.at / "study.yaml").write_text(STUDY)

    @classmethod
    def tearDownClass(cls):
        cls.slurm.stop()
        cls.folder.cleanup()

    def start(self, *words):
        return subprocess.Popen([sys.executable, "-m", "slipstick", "sweep", *words], cwd=self.at, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def sweep(self, *words):
        process = self.start(*words)
        out, err = process.communicate(timeout=600)
        return process.returncode, out, err

    def test_1_the_table_is_that_of_local_workers(self):
        self.assertEqual(self.sweep("study.yaml", "-o", "local.h5")[0], 0)
        code, _, err = self.sweep("study.yaml", "-o", "slurm.h5", "--slurm", "--slurm-options", "--time=5")
        self.assertEqual(code, 0, err)
        self.assertEqual((self.at / "local.h5").read_bytes(), (self.at / "slurm.h5").read_bytes())
        self.assertFalse((self.at / "slurm.h5.slurm").exists())

    def test_2_a_driver_that_is_killed_comes_back(self):
        process = self.start("study.yaml", "-o", "again.h5", "--slurm")
        end = time.monotonic() + 300
        while not (self.at / "again.h5.slurm" / "job").exists():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.1)
        process.kill()
        process.communicate()
        number = (self.at / "again.h5.slurm" / "job").read_text()
        code, _, err = self.sweep("study.yaml", "-o", "again.h5", "--slurm")
        self.assertEqual(code, 0, err)
        self.assertEqual((self.at / "local.h5").read_bytes(), (self.at / "again.h5").read_bytes())
        # The jobs of the first driver were used: the last number that Slurm gave out is theirs.
        latest = subprocess.run(["squeue", "-h", "-t", "all", "-o", "%A"], capture_output=True, text=True).stdout.split()
        self.assertLess(max(map(int, latest or [number])), int(number) + 6)

    def test_3_jobs_that_are_cancelled_are_submitted_again(self):
        process = self.start("study.yaml", "-o", "cancelled.h5", "--slurm")
        end = time.monotonic() + 300
        while not (self.at / "cancelled.h5.slurm" / "job").exists():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.1)
        subprocess.run(["scancel", "--me"], check=True)
        _, err = process.communicate(timeout=600)
        self.assertEqual(process.returncode, 0, err)
        self.assertEqual((self.at / "local.h5").read_bytes(), (self.at / "cancelled.h5").read_bytes())


if __name__ == "__main__":
    unittest.main()
