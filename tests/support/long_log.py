"""Event logs of any length, made as they are sent: one job, stages of 300 tasks, a TaskStart and a TaskEnd for each task
with the members Spark writes (about 3 kB a task). Times move on from stage to stage."""
import json

TASKS = 300
STAGE_MS = 60000
BEGAN_MS = 1700000000000

METRICS = ("executorDeserializeTime", "executorDeserializeCpuTime", "executorRunTime", "executorCpuTime", "resultSize",
           "jvmGCTime", "resultSerializationTime", "peakExecutionMemory", "input.recordsRead", "input.bytesRead")
MEMORY = ("JVMHeapMemory", "JVMOffHeapMemory", "OnHeapExecutionMemory", "OffHeapExecutionMemory", "OnHeapStorageMemory",
          "OffHeapStorageMemory", "OnHeapUnifiedMemory", "OffHeapUnifiedMemory", "DirectPoolMemory", "MappedPoolMemory",
          "ProcessTreeJVMVMemory", "ProcessTreeJVMRSSMemory", "MinorGCCount", "MinorGCTime", "MajorGCCount", "MajorGCTime")


def line(name, **members):
    return json.dumps({"Event": "SparkListener" + name, **members}, separators=(",", ":")) + "\n"


def task_lines():
    """One template of both lines; %(task)d and others are filled in for each task."""
    info = {"Task ID": "%(task)d", "Index": "%(index)d", "Attempt": 0, "Launch Time": "%(launch)d", "Executor ID": "1",
            "Host": "worker-3.example.org", "Locality": "PROCESS_LOCAL", "Speculative": False, "Getting Result Time": 0,
            "Finish Time": 0, "Failed": False, "Killed": False, "Accumulables": []}
    start = line("TaskStart", **{"Stage ID": "%(stage)d", "Stage Attempt ID": 0, "Task Info": info})
    info = dict(info, **{"Finish Time": "%(finish)d", "Accumulables": [
        {"ID": i, "Name": "internal.metrics." + name, "Update": "%(finish)d", "Value": "%(task)d", "Internal": True,
         "Count Failed Values": True} for i, name in enumerate(METRICS)]})
    metrics = {"Executor Deserialize Time": 3, "Executor Deserialize CPU Time": 2000000, "Executor Run Time": "%(index)d",
               "Executor CPU Time": 1000000, "Peak Execution Memory": 0, "Result Size": 2680, "JVM GC Time": 1,
               "Result Serialization Time": 0, "Memory Bytes Spilled": 0, "Disk Bytes Spilled": 0,
               "Shuffle Read Metrics": {"Remote Blocks Fetched": 0, "Local Blocks Fetched": 0, "Fetch Wait Time": 0,
                                        "Remote Bytes Read": 0, "Remote Bytes Read To Disk": 0, "Local Bytes Read": 0,
                                        "Total Records Read": "%(index)d"},
               "Shuffle Write Metrics": {"Shuffle Bytes Written": 59, "Shuffle Write Time": 1, "Shuffle Records Written": 1},
               "Input Metrics": {"Bytes Read": 0, "Records Read": 0},
               "Output Metrics": {"Bytes Written": 0, "Records Written": 0}, "Updated Blocks": []}
    end = line("TaskEnd", **{"Stage ID": "%(stage)d", "Stage Attempt ID": 0, "Task Type": "ResultTask",
                             "Task End Reason": {"Reason": "Success"}, "Task Info": info,
                             "Task Executor Metrics": {name: 0 for name in MEMORY}, "Task Metrics": metrics})
    text = start + end
    for name in ("task", "index", "launch", "finish", "stage"):
        text = text.replace('"%%(%s)d"' % name, "%%(%s)d" % name)
    return text


def stage_info(stage, **more):
    return {"Stage ID": stage, "Stage Attempt ID": 0, "Stage Name": "collect at Report.scala:%d" % stage,
            "Number of Tasks": TASKS, "Parent IDs": [stage - 1] if stage else [], **more}


def long_log(size, app="application-1"):
    """Pieces of a log of at least `size` bytes, one a stage. The last lines end the application."""
    yield (line("LogStart", **{"Spark Version": "3.5.1"})
           + line("ApplicationStart", **{"App Name": "long", "App ID": app, "Timestamp": BEGAN_MS, "User": "spark"})
           + line("ExecutorAdded", **{"Timestamp": BEGAN_MS, "Executor ID": "1", "Executor Info": {"Host": "h", "Total Cores": 8}})
           ).encode()
    template = task_lines()
    stage = made = 0
    while made < size:
        began = BEGAN_MS + stage * STAGE_MS
        words = [line("StageSubmitted", **{"Stage Info": stage_info(stage, **{"Submission Time": began})})]
        words += [template % {"task": stage * TASKS + i, "index": i, "stage": stage, "launch": began + 10 * i,
                              "finish": began + 10 * i + 1000 + 7 * i} for i in range(TASKS)]
        words.append(line("StageCompleted", **{"Stage Info": stage_info(
            stage, **{"Submission Time": began, "Completion Time": began + STAGE_MS - 1})}))
        piece = "".join(words).encode()
        made += len(piece)
        stage += 1
        yield piece
    yield line("ApplicationEnd", Timestamp=BEGAN_MS + stage * STAGE_MS).encode()
