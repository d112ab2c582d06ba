#include "sample/eventlog.h"

#include <inttypes.h>
#include <stdlib.h>

/* Everything that happens, sorted by instant; equal instants keep the order below. */
enum event_kind {
    EVENT_EXECUTOR,
    EVENT_TASK_END,
    EVENT_STAGE_END,
    EVENT_JOB_END,
    EVENT_JOB_START,
    EVENT_STAGE_START,
    EVENT_TASK_START
};

struct event {
    int64_t at_ms;
    enum event_kind kind;
    int32_t a; /* executor, job or stage */
    int32_t b; /* task */
};

struct log {
    const struct sample_run *run;
    int64_t start_ms;
    FILE *out;
    int64_t first_task[SAMPLE_STAGES_MAX]; /* task ids count through the application */
};

static int event_compare(const void *left, const void *right)
{
    const struct event *x = left;
    const struct event *y = right;
    if (x->at_ms != y->at_ms)
        return x->at_ms < y->at_ms ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->a != y->a)
        return x->a < y->a ? -1 : 1;
    return (x->b > y->b) - (x->b < y->b);
}

static size_t count_events(const struct sample_run *run)
{
    size_t n = (size_t)run->executors + 2 * (size_t)run->n_jobs;
    for (int s = 0; s < run->application->n_stages; s++)
        n += 2 + 2 * run->stages[s].n_tasks;
    return n;
}

static size_t list_events(const struct sample_run *run, struct event events[])
{
    size_t n = 0;
    for (int64_t e = 0; e < run->executors; e++) {
        events[n++] = (struct event){run->registered_ms - (run->executors - e) * 7, EVENT_EXECUTOR,
                                     (int32_t)e, 0};
    }
    for (int j = 0; j < run->n_jobs; j++) {
        const struct sample_job_run *job = &run->jobs[j];
        events[n++] = (struct event){job->submitted_ms, EVENT_JOB_START, j, 0};
        events[n++] = (struct event){job->completed_ms, EVENT_JOB_END, j, 0};
    }
    for (int s = 0; s < run->application->n_stages; s++) {
        const struct sample_stage_run *stage = &run->stages[s];
        events[n++] = (struct event){stage->submitted_ms, EVENT_STAGE_START, s, 0};
        events[n++] = (struct event){stage->completed_ms, EVENT_STAGE_END, s, 0};
        for (size_t t = 0; t < stage->n_tasks; t++) {
            const struct sample_task *task = &stage->tasks[t];
            events[n++] = (struct event){task->launch_ms, EVENT_TASK_START, s, (int32_t)t};
            events[n++] = (struct event){task->finish_ms, EVENT_TASK_END, s, (int32_t)t};
        }
    }
    qsort(events, n, sizeof *events, event_compare);
    return n;
}

/* --- pieces --- */

/* submitted, completed: whether these instants are known at the time of the event. */
static void write_stage_info(const struct log *log, int s, bool submitted, bool completed)
{
    const struct sample_stage_run *stage = &log->run->stages[s];
    fprintf(log->out,
            "{\"Stage ID\":%d,\"Stage Attempt ID\":0,\"Stage Name\":\"%s\",\"Number of "
            "Tasks\":%zu,\"RDD Info\":[],\"Parent IDs\":[",
            s, stage->stage->source, stage->n_tasks);
    for (int i = 0; i < SAMPLE_PARENTS_MAX && stage->stage->parents[i] >= 0; i++)
        fprintf(log->out, "%s%d", i == 0 ? "" : ",", stage->stage->parents[i]);
    fprintf(log->out, "],\"Details\":\"%s\"", stage->stage->name);
    if (submitted)
        fprintf(log->out, ",\"Submission Time\":%" PRId64, log->start_ms + stage->submitted_ms);
    if (completed)
        fprintf(log->out, ",\"Completion Time\":%" PRId64, log->start_ms + stage->completed_ms);
    fputs(",\"Accumulables\":[],\"Resource Profile Id\":0}", log->out);
}

static void write_task_info(const struct log *log, int s, int t, bool finished)
{
    const struct sample_task *task = &log->run->stages[s].tasks[t];
    fprintf(log->out,
            "\"Task Info\":{\"Task ID\":%" PRId64
            ",\"Index\":%d,\"Attempt\":0,\"Partition ID\":%d,\"Launch Time\":%" PRId64
            ",\"Executor ID\":\"%d\",\"Host\":\"node-%02d.sample\",\"Locality\":\"%s\","
            "\"Speculative\":false,\"Getting Result Time\":0,\"Finish Time\":%" PRId64
            ",\"Failed\":false,\"Killed\":false,\"Accumulables\":[]}",
            log->first_task[s] + t, t, t, log->start_ms + task->launch_ms, task->executor + 1,
            task->executor + 1, log->run->stages[s].stage->parents[0] < 0 ? "NODE_LOCAL" : "ANY",
            finished ? log->start_ms + task->finish_ms : (int64_t)0);
}

static bool feeds_another(const struct sample_run *run, int s)
{
    for (int later = s + 1; later < run->application->n_stages; later++) {
        for (int i = 0; i < SAMPLE_PARENTS_MAX; i++)
            if (run->application->stages[later].parents[i] == s)
                return true;
    }
    return false;
}

static void write_task_metrics(const struct log *log, int s, int t)
{
    const struct sample_task *task = &log->run->stages[s].tasks[t];
    bool reads_input = log->run->stages[s].stage->parents[0] < 0;
    bool writes_shuffle = feeds_another(log->run, s);
    int64_t unpack_ms = task->finish_ms - task->launch_ms - task->run_ms;
    int64_t input = reads_input ? task->records : 0;
    int64_t shuffled = reads_input ? 0 : task->records;
    int64_t written = writes_shuffle ? task->records : 0;
    fprintf(log->out,
            "\"Task Metrics\":{\"Executor Deserialize Time\":%" PRId64
            ",\"Executor Deserialize CPU Time\":%" PRId64 ",\"Executor Run Time\":%" PRId64
            ",\"Executor CPU Time\":%" PRId64 ",\"Result Size\":2048,\"JVM GC Time\":%" PRId64
            ",\"Result Serialization Time\":0,\"Memory Bytes Spilled\":0,\"Disk Bytes Spilled\":0,",
            unpack_ms, unpack_ms * 600000, task->run_ms, task->run_ms * 850000, task->run_ms / 40);
    fprintf(log->out,
            "\"Shuffle Read Metrics\":{\"Remote Blocks Fetched\":%d,\"Local Blocks "
            "Fetched\":%d,\"Fetch Wait Time\":%" PRId64 ",\"Remote Bytes Read\":%" PRId64
            ",\"Remote Bytes Read To Disk\":0,\"Local Bytes Read\":%" PRId64
            ",\"Total Records Read\":%" PRId64 "},",
            reads_input ? 0 : 8, reads_input ? 0 : 2, reads_input ? (int64_t)0 : task->run_ms / 50,
            shuffled * 80, shuffled * 20, shuffled);
    fprintf(log->out,
            "\"Shuffle Write Metrics\":{\"Shuffle Bytes Written\":%" PRId64
            ",\"Shuffle Write Time\":%" PRId64 ",\"Shuffle Records Written\":%" PRId64
            "},\"Input Metrics\":{\"Bytes Read\":%" PRId64 ",\"Records Read\":%" PRId64
            "},\"Output Metrics\":{\"Bytes Written\":0,\"Records Written\":0},\"Updated "
            "Blocks\":[]}",
            written * 60, written * 90, written, input * SAMPLE_RECORD_BYTES, input);
}

/* --- events --- */

static void write_head(const struct log *log, int number)
{
    const struct sample_application *application = log->run->application;
    FILE *out = log->out;
    fputs("{\"Event\":\"SparkListenerLogStart\",\"Spark Version\":\"3.5.1\"}\n", out);
    fprintf(out,
            "{\"Event\":\"SparkListenerBlockManagerAdded\",\"Block Manager ID\":{\"Executor "
            "ID\":\"driver\",\"Host\":\"driver.sample\",\"Port\":7079},\"Maximum "
            "Memory\":455501414,\"Timestamp\":%" PRId64
            ",\"Maximum Onheap Memory\":455501414,\"Maximum Offheap Memory\":0}\n",
            log->start_ms + 400);
    fprintf(
        out,
        "{\"Event\":\"SparkListenerEnvironmentUpdate\",\"JVM Information\":{\"Java "
        "Version\":\"17.0.10\"},\"Spark "
        "Properties\":{\"spark.app.name\":\"%s\",\"spark.executor.cores\":\"%" PRId64
        "\",\"spark.executor.instances\":\"%" PRId64
        "\",\"spark.executor.memory\":\"8g\",\"spark.master\":\"yarn\",\"spark.scheduler.mode\":"
        "\"FIFO\"},\"Hadoop Properties\":{},\"System Properties\":{},\"Metrics "
        "Properties\":{},\"Classpath Entries\":{}}\n",
        application->name, application->cores_per_executor, log->run->executors);
    fprintf(out,
            "{\"Event\":\"SparkListenerApplicationStart\",\"App Name\":\"%s\",\"App "
            "ID\":\"application_%" PRId64 "_%04d\",\"Timestamp\":%" PRId64 ",\"User\":\"%s\"}\n",
            application->name, log->start_ms, number, log->start_ms, application->user);
}

static void write_executor(const struct log *log, const struct event *event)
{
    fprintf(log->out,
            "{\"Event\":\"SparkListenerExecutorAdded\",\"Timestamp\":%" PRId64
            ",\"Executor ID\":\"%d\",\"Executor Info\":{\"Host\":\"node-%02d.sample\",\"Total "
            "Cores\":%" PRId64
            ",\"Log Urls\":{},\"Attributes\":{},\"Resources\":{},\"Resource Profile Id\":0}}\n",
            log->start_ms + event->at_ms, event->a + 1, event->a + 1,
            log->run->application->cores_per_executor);
}

static void write_job_start(const struct log *log, int j)
{
    const struct sample_job_run *job = &log->run->jobs[j];
    fprintf(log->out,
            "{\"Event\":\"SparkListenerJobStart\",\"Job ID\":%d,\"Submission Time\":%" PRId64
            ",\"Stage Infos\":[",
            j, log->start_ms + job->submitted_ms);
    for (int s = job->first_stage; s <= job->last_stage; s++) {
        fputs(s == job->first_stage ? "" : ",", log->out);
        write_stage_info(log, s, false, false);
    }
    fputs("],\"Stage IDs\":[", log->out);
    for (int s = job->first_stage; s <= job->last_stage; s++)
        fprintf(log->out, "%s%d", s == job->first_stage ? "" : ",", s);
    fputs("],\"Properties\":{}}\n", log->out);
}

static void write_job_end(const struct log *log, int j)
{
    fprintf(log->out,
            "{\"Event\":\"SparkListenerJobEnd\",\"Job ID\":%d,\"Completion Time\":%" PRId64
            ",\"Job Result\":{\"Result\":\"JobSucceeded\"}}\n",
            j, log->start_ms + log->run->jobs[j].completed_ms);
}

static void write_stage_event(const struct log *log, int s, bool completed)
{
    fprintf(log->out, "{\"Event\":\"SparkListenerStage%s\",\"Stage Info\":",
            completed ? "Completed" : "Submitted");
    write_stage_info(log, s, true, completed);
    fputs(completed ? "}\n" : ",\"Properties\":{}}\n", log->out);
}

static void write_task_start(const struct log *log, int s, int t)
{
    fprintf(log->out,
            "{\"Event\":\"SparkListenerTaskStart\",\"Stage ID\":%d,\"Stage Attempt ID\":0,", s);
    write_task_info(log, s, t, false);
    fputs("}\n", log->out);
}

static void write_task_end(const struct log *log, int s, int t)
{
    fprintf(log->out,
            "{\"Event\":\"SparkListenerTaskEnd\",\"Stage ID\":%d,\"Stage Attempt ID\":0,\"Task "
            "Type\":\"%s\",\"Task End Reason\":{\"Reason\":\"Success\"},",
            s, feeds_another(log->run, s) ? "ShuffleMapTask" : "ResultTask");
    write_task_info(log, s, t, true);
    fputc(',', log->out);
    write_task_metrics(log, s, t);
    fputs("}\n", log->out);
}

static void write_event(const struct log *log, const struct event *event)
{
    switch (event->kind) {
    case EVENT_EXECUTOR:
        write_executor(log, event);
        break;
    case EVENT_JOB_START:
        write_job_start(log, event->a);
        break;
    case EVENT_JOB_END:
        write_job_end(log, event->a);
        break;
    case EVENT_STAGE_START:
        write_stage_event(log, event->a, false);
        break;
    case EVENT_STAGE_END:
        write_stage_event(log, event->a, true);
        break;
    case EVENT_TASK_START:
        write_task_start(log, event->a, event->b);
        break;
    case EVENT_TASK_END:
        write_task_end(log, event->a, event->b);
        break;
    }
}

enum pv_code sample_write_eventlog(const struct sample_run *run,
                                   int64_t start_ms,
                                   int number,
                                   FILE *out,
                                   struct arena *scratch,
                                   struct pv_error *err)
{
    struct arena_mark mark = arena_mark(scratch);
    struct event *events = arena_array(scratch, count_events(run), sizeof *events);
    if (events == NULL)
        return pv_no_memory(err);
    struct log log = {.run = run, .start_ms = start_ms, .out = out};
    for (int s = 1; s < run->application->n_stages; s++)
        log.first_task[s] = log.first_task[s - 1] + (int64_t)run->stages[s - 1].n_tasks;
    size_t n = list_events(run, events);
    write_head(&log, number);
    for (size_t i = 0; i < n; i++)
        write_event(&log, &events[i]);
    fprintf(out, "{\"Event\":\"SparkListenerApplicationEnd\",\"Timestamp\":%" PRId64 "}\n",
            start_ms + run->ended_ms);
    arena_rewind(scratch, mark);
    return fflush(out) == 0 && ferror(out) == 0
               ? PV_OK
               : pv_fail(err, PV_E_UNAVAILABLE, "a sample log cannot be written");
}
