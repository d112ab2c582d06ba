"""Jobs with deadlines on one worker, held to them by a quota loop: reports the progress of each to provisor, and
provisor-actuate sets the cores that come back.

    python3 deadline_loop.py --url URL --token-file FILE --actuate provisor-actuate [--cgroups FOLDER]

Without --cgroups nothing is burnt: a simulated worker runs as fast as the files cpu.max in a temporary folder say. With
it, CPU-bound processes run in cgroups below FOLDER (/sys/fs/cgroup or, of version 1, /sys/fs/cgroup/cpu), where root may
make some. Both are run twice, first as they compete by themselves, then with the loop.
"""
import argparse
import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

STAGES, TASKS = 2, 40  # of each job
WORKER_CORES = 1.0
PERIOD_US = 100000
ALPHA = 0.8  # short jobs on a machine that others use, too: a quarter of a second is much


class Job:
    """core_s: what all of its tasks take on one core; deadline_s: from the start."""

    def __init__(self, name, core_s, deadline_s):
        self.name, self.core_s, self.deadline_s = name, core_s, deadline_s

    @property
    def id(self):
        return self.name + "-w1"


def usual_jobs(core_s=1.4):
    """One that has to end soon, and three that need not. Sharing alike, all end at about 4 core_s; the first one has 2.9."""
    return [Job("tight", core_s, 2.9 * core_s)] + [Job("loose%d" % i, core_s, 8 * core_s) for i in (1, 2, 3)]


# --- workers ------------------------------------------------------------------------------------------


def read_cpu_max(path):
    """In cores. Between two writes a file may be empty for a moment: None."""
    with contextlib.suppress(OSError, ValueError):
        quota, period = path.read_text().split()
        return float("inf") if quota == "max" else int(quota) / int(period)
    return None


class SimulatedWorker:
    """Executors share the cores alike, but none gets more than the cpu.max in its folder."""

    def __init__(self, jobs, root):
        self.root, self.quotas, self.done = root, {}, {job.name: 0.0 for job in jobs}
        self.work = {job.name: job.core_s for job in jobs}
        for job in jobs:
            (root / job.name).mkdir(parents=True)
            (root / job.name / "cpu.max").write_text("max %d\n" % PERIOD_US)
            self.quotas[job.name] = float("inf")
        self.stopped = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)

    def start(self):
        self.thread.start()

    def speeds(self):
        speeds, left = {}, WORKER_CORES
        busy = sorted((n for n in self.done if self.done[n] < self.work[n]), key=lambda n: self.quotas[n])
        for i, name in enumerate(busy):
            speeds[name] = min(self.quotas[name], left / (len(busy) - i), 1.0)
            left -= speeds[name]
        return speeds

    def run(self):
        before = time.monotonic()
        while not self.stopped.wait(0.01):
            for name in self.quotas:
                quota = read_cpu_max(self.root / name / "cpu.max")
                self.quotas[name] = self.quotas[name] if quota is None else quota
            now = time.monotonic()
            for name, speed in self.speeds().items():
                self.done[name] = min(self.work[name], self.done[name] + speed * (now - before))
            before = now

    def completed(self, job):
        """Tasks, of all stages."""
        return int(self.done[job.name] / job.core_s * STAGES * TASKS + 1e-9)

    def stop(self):
        self.stopped.set()
        self.thread.join()


BURN = """
import os, sys
iterations = int(sys.argv[1])
sys.stdin.read(1)
while True:
    for _ in range(iterations):
        pass
    os.write(1, b".")
"""


def write(path, text):
    with open(path, "w") as out:
        out.write(text)


class CgroupWorker:
    """A process for each job, which counts loops; all of them below one cgroup of WORKER_CORES."""

    def __init__(self, jobs, root, speed):
        """root: a cgroup of its own, as make_worker_cgroup made it. speed: loops a second on this worker."""
        self.root, self.processes, self.tasks = root, {}, {job.name: 0 for job in jobs}
        for job in jobs:
            (root / job.name).mkdir()
            iterations = int(speed * job.core_s / (STAGES * TASKS))
            process = subprocess.Popen([sys.executable, "-I", "-c", BURN, str(iterations)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            self.processes[job.name] = process
            os.set_blocking(process.stdout.fileno(), False)
            write(root / job.name / "cgroup.procs", str(process.pid))

    def start(self):
        for process in self.processes.values():
            process.stdin.write(b"x")
            process.stdin.flush()

    def completed(self, job):
        process = self.processes[job.name]
        self.tasks[job.name] += len(process.stdout.read() or b"") if process.poll() is None else 0
        if self.tasks[job.name] >= STAGES * TASKS:
            process.kill()
        return min(self.tasks[job.name], STAGES * TASKS)

    def stop(self):
        for process in self.processes.values():
            process.kill()
            process.wait()
            process.stdin.close()
            process.stdout.close()
        for name in self.processes:
            remove_cgroup(self.root / name)


def remove_cgroup(path):
    """Its last process may be on its way out."""
    for _ in range(200):
        try:
            path.rmdir()
            return
        except OSError:
            time.sleep(0.01)


@contextlib.contextmanager
def worker_cgroup(folder):
    """A cgroup of WORKER_CORES that comes before all else on the machine. OSError: it cannot be made here. SystemExit: folder is no cgroup."""
    if not (pathlib.Path(folder) / "cgroup.procs").exists():
        raise SystemExit("%s is no cgroup. With version 1 it is usually /sys/fs/cgroup/cpu." % folder)
    root = pathlib.Path(folder) / ("provisor-example-%d" % os.getpid())
    root.mkdir()
    try:
        if (root / "cpu.cfs_quota_us").exists():
            write(root / "cpu.cfs_quota_us", str(int(WORKER_CORES * PERIOD_US)))
            write(root / "cpu.shares", "262144")
        else:
            write(root / "cpu.max", "%d %d" % (WORKER_CORES * PERIOD_US, PERIOD_US))
            write(root / "cpu.weight", "10000")
            write(root / "cgroup.subtree_control", "+cpu")
        yield root
    finally:
        remove_cgroup(root)


def calibrate(root, seconds=0.6):
    """Loops a second of the whole worker, with as many processes as there will be jobs."""
    jobs = [Job("calibration%d" % i, 1.0, 1.0) for i in range(4)]
    worker = CgroupWorker(jobs, root, 1e6)  # 12,500 loops a task
    for job in jobs:
        worker.tasks[job.name] = -1 << 40  # endless
    worker.start()
    time.sleep(0.2)
    for job in jobs:
        worker.completed(job)
    before, began = dict(worker.tasks), time.monotonic()
    time.sleep(seconds)
    for job in jobs:
        worker.completed(job)
    tasks, took = sum(worker.tasks.values()) - sum(before.values()), time.monotonic() - began
    worker.stop()
    return tasks * int(1e6 / (STAGES * TASKS)) / took


# --- the loop -----------------------------------------------------------------------------------------


class Loop:
    """What the orchestrator does: settings, then a sample every sample_s seconds."""

    def __init__(self, url, token, name, jobs, sample_s=0.25):
        self.url, self.token, self.name, self.jobs, self.sample_s = url.rstrip("/"), token, name, jobs, sample_s
        self.sequence, self.stages = 0, {}
        self.sampled_s, self.longest_gap_s = 0.0, 0.0  # between replies to samples
        self.ask("PUT", "", {
            "strategy": "edf_pure", "workers": [{"name": "w1", "cores": WORKER_CORES}],
            "applications": [{"name": job.name, "release_s": 0, "deadline_s": job.deadline_s, "alpha": ALPHA} for job in jobs],
            "controller": {"gain": 10, "integral_time_s": 4, "sample_s": sample_s}, "cgroup": {"period_us": PERIOD_US}})

    def ask(self, method, behind, body=None):
        request = urllib.request.Request("%s/v1/quota-loops/%s%s" % (self.url, self.name, behind), method=method,
                                         data=None if body is None else json.dumps(body).encode(),
                                         headers={"Authorization": "Bearer " + self.token, "Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=10) as reply:
            text = reply.read()
        return json.loads(text) if text else None

    def reading(self, job, completed, now_s):
        """Stages have the same work, so each gets the same part of what is left of the deadline, and begins with the cores that
        it needs for that."""
        stage = min(completed // TASKS, STAGES - 1)
        reading = {"id": job.id, "stage": stage, "completed_tasks": completed - stage * TASKS}
        if self.stages.get(job.name) != stage:
            self.stages[job.name] = stage
            left_s = max(0.05, ALPHA * job.deadline_s - now_s)
            deadline_s = left_s / (STAGES - stage)
            reading.update(application=job.name, worker="w1", tasks=TASKS, stage_deadline_s=deadline_s,
                           initial_cores=min(WORKER_CORES, job.core_s / STAGES / deadline_s))
        return reading

    def sample(self, completed, now_s):
        self.sequence += 1
        alive = [job for job in self.jobs if completed[job.name] < STAGES * TASKS]
        began = time.monotonic()
        reply = self.ask("POST", "/samples", {
            "sequence": self.sequence, "at_s": now_s, "executors": [self.reading(job, completed[job.name], now_s) for job in alive],
            "ended": [job.name for job in self.jobs if job not in alive]})
        replied_s = now_s + time.monotonic() - began
        self.longest_gap_s, self.sampled_s = max(self.longest_gap_s, replied_s - self.sampled_s), replied_s
        return reply

    def delete(self):
        self.ask("DELETE", "")


def run_jobs(worker, jobs, loop=None, within_s=60.0):
    """When each job ended, in seconds from the start; with a loop, which has the progress every sample_s seconds."""
    ended, next_sample_s = {}, 0.0
    completed = {job.name: 0 for job in jobs}
    if loop is not None:
        loop.sample(completed, 0.0)
    worker.start()
    began = time.monotonic()
    while len(ended) < len(jobs) and time.monotonic() - began < within_s:
        now_s = time.monotonic() - began
        for job in jobs:
            completed[job.name] = worker.completed(job)
            if completed[job.name] >= STAGES * TASKS:
                ended.setdefault(job.name, now_s)
        if loop is not None and now_s >= next_sample_s:
            next_sample_s = now_s + loop.sample_s
            loop.sample(completed, now_s)
        time.sleep(0.02)
    worker.stop()
    return ended


@contextlib.contextmanager
def actuator(program, url, token, loop_name, root, folder, **more):
    """provisor-actuate, applying the loop to the cgroups of root, each named like its application."""
    configuration = pathlib.Path(folder) / "actuate.json"
    configuration.write_text(json.dumps({"loop": loop_name, "poll_s": 0.1, "cgroup": {"root": str(root), "place": "{application}"}, **more}))
    environment = {**os.environ, "PROVISOR_URL": url, "PROVISOR_TOKEN": token}
    process = subprocess.Popen([str(program), str(configuration)], env=environment, stdin=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        status = process.wait(timeout=30)
    if status != 0:
        raise RuntimeError("provisor-actuate ended with status %d" % status)


def simulated(jobs, folder):
    return SimulatedWorker(jobs, pathlib.Path(folder) / "cgroups"), pathlib.Path(folder) / "cgroups"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", required=True)
    parser.add_argument("--token-file", required=True)
    parser.add_argument("--actuate", default="provisor-actuate", help="the program")
    parser.add_argument("--cgroups", help="folder in which root may make a cgroup")
    arguments = parser.parse_args()
    if shutil.which(arguments.actuate) is None:
        parser.error("there is no program %s: --actuate says where it is" % arguments.actuate)
    token = pathlib.Path(arguments.token_file).read_text().strip()
    jobs = usual_jobs()
    with contextlib.ExitStack() as stack:
        root = stack.enter_context(worker_cgroup(arguments.cgroups)) if arguments.cgroups else None
        speed = calibrate(root) if root else None
        for controlled in (False, True):
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            if root:
                worker, places = CgroupWorker(jobs, root, speed), root
            else:
                worker, places = simulated(jobs, folder)
            if controlled:
                loop = Loop(arguments.url, token, "deadline-loop-%d" % os.getpid(), jobs)
                with actuator(arguments.actuate, arguments.url, token, loop.name, places, folder):
                    ended = run_jobs(worker, jobs, loop)
                loop.delete()
            else:
                ended = run_jobs(worker, jobs)
            print("with the loop" if controlled else "without it")
            for job in jobs:
                end_s = ended.get(job.name, float("inf"))
                print("  %-8s ended at %5.2f s of %5.2f s: %s" % (job.name, end_s, job.deadline_s, "in time" if end_s <= job.deadline_s else "late"))


if __name__ == "__main__":
    main()
