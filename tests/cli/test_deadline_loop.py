"""Jobs that run on one worker and have deadlines: with the quota loop and provisor-actuate the tight one is met, without them,
sharing alike, it is missed. On a simulated worker whose speed follows files cpu.max, and on real processes in cgroups."""
import concurrent.futures
import importlib.util
import pathlib

import pytest

from conftest import BUILD, ROOT

ACTUATE = BUILD / "clients" / "actuator" / "provisor-actuate"
spec = importlib.util.spec_from_file_location("deadline_loop", ROOT / "clients" / "actuator" / "example" / "deadline_loop.py")
deadline_loop = importlib.util.module_from_spec(spec)
spec.loader.exec_module(deadline_loop)

# Where version 2, and version 1, have the folder in which cgroups with quotas of cores are made.
CGROUP_FOLDERS = ("/sys/fs/cgroup", "/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct")


GAP_S = 0.75  # between samples a quarter of a second apart: with more, the machine has no time for a loop


def with_loop(service, name, jobs, worker, root, folder):
    """When jobs ended, and the longest time without a sample."""
    folder.mkdir(exist_ok=True)
    loop = deadline_loop.Loop(service.base_url, service.alpha_token, name, jobs)
    try:
        with deadline_loop.actuator(ACTUATE, service.base_url, service.alpha_token, loop.name, root, folder):
            return deadline_loop.run_jobs(worker, jobs, loop), loop.longest_gap_s
    finally:
        loop.delete()


def late(jobs, ended):
    return [job.name for job in jobs if ended.get(job.name, float("inf")) > job.deadline_s]


def compare(run):
    """run(attempt): what became of the jobs alike and with the loop, and what was wrong with the machine, if anything. A machine that
    others overload proves nothing: then once more."""
    for attempt in range(2):
        jobs, alike, held, overload = run(attempt)
        if (late(jobs, alike), late(jobs, held)) == (["tight"], []):
            return
        if overload is None:
            assert late(jobs, alike) == ["tight"], alike
            assert late(jobs, held) == [], held
    pytest.skip("others overload this machine: " + overload)


def overload_of(gap_s):
    return "%.2f s without a sample" % gap_s if gap_s > GAP_S else None


def test_a_simulated_worker(service, tmp_path, name):
    """Its speed goes by the clock, not by what the machine has left."""
    def run(attempt):
        jobs, folder = deadline_loop.usual_jobs(core_s=1.2), tmp_path / str(attempt)
        alone, _ = deadline_loop.simulated(jobs, folder / "alike")
        worker, root = deadline_loop.simulated(jobs, folder / "held")
        with concurrent.futures.ThreadPoolExecutor() as pool:
            running = pool.submit(deadline_loop.run_jobs, alone, jobs)
            held, gap_s = with_loop(service, "%s-%d" % (name, attempt), jobs, worker, root, folder)
            return jobs, running.result(), held, overload_of(gap_s)
    compare(run)


@pytest.fixture
def worker_cgroup():
    for folder in CGROUP_FOLDERS:
        if not (pathlib.Path(folder) / "cgroup.procs").exists():
            continue
        made = deadline_loop.worker_cgroup(folder)
        try:
            root = made.__enter__()
        except OSError:
            continue
        yield root
        made.__exit__(None, None, None)
        return
    pytest.skip("no cgroup with a quota of cores can be made here")


def test_real_processes_in_cgroups(service, worker_cgroup, tmp_path, name):
    """What they burn is counted in loops, by the speed that the worker had just before."""
    def run(attempt):
        speed = deadline_loop.calibrate(worker_cgroup)
        jobs = deadline_loop.usual_jobs(core_s=1.2)
        alike = deadline_loop.run_jobs(deadline_loop.CgroupWorker(jobs, worker_cgroup, speed), jobs)
        held, gap_s = with_loop(service, "%s-%d" % (name, attempt), jobs, deadline_loop.CgroupWorker(jobs, worker_cgroup, speed), worker_cgroup, tmp_path / str(attempt))
        overload = overload_of(gap_s)
        if (late(jobs, alike), late(jobs, held)) != (["tight"], []):
            slowdown = speed / deadline_loop.calibrate(worker_cgroup)
            if not 0.85 < slowdown < 1.18:
                overload = "the worker's speed changed by a factor of %.2f while the jobs ran" % slowdown
        return jobs, alike, held, overload
    compare(run)
