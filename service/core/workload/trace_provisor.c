/* NDJSON: an object a line, with the members of a job of POST /v1/simulations, kind slots or tasks. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "core/joblog/common/json.h"
#include "core/workload/number.h"
#include "core/workload/workload_import_internal.h"

enum member {
    NAME,
    ARRIVAL,
    TASK_DURATIONS,
    CLASS,
    MAP_DURATIONS,
    MAPS,
    MAP_TASK,
    REDUCE_DURATIONS,
    REDUCES,
    REDUCE_TASK,
    SHUFFLE,
    PREDICTED_SIZE,
    QUEUE,
    PLACEMENT
};
enum { MEMBERS = PLACEMENT + 1 };

enum kind { TEXT, NUMBER, COUNT, TASK_LIST, REDUCE_LIST, REFUSED };

/* Whose member it is: kind tasks, kind slots or both. */
enum side { BOTH, OF_TASKS, OF_SLOTS };

static const struct {
    const char *name;
    enum kind kind;
    enum side side;
} TABLE[MEMBERS] = {
    [NAME] = {"name", TEXT, BOTH},
    [ARRIVAL] = {"arrival_s", NUMBER, BOTH},
    [TASK_DURATIONS] = {"task_durations_s", TASK_LIST, OF_TASKS},
    [CLASS] = {"class", TEXT, OF_TASKS},
    [MAP_DURATIONS] = {"map_durations_s", TASK_LIST, OF_SLOTS},
    [MAPS] = {"maps", COUNT, OF_SLOTS},
    [MAP_TASK] = {"map_task_s", NUMBER, OF_SLOTS},
    [REDUCE_DURATIONS] = {"reduce_durations_s", REDUCE_LIST, OF_SLOTS},
    [REDUCES] = {"reduces", COUNT, OF_SLOTS},
    [REDUCE_TASK] = {"reduce_task_s", NUMBER, OF_SLOTS},
    [SHUFFLE] = {"shuffle_s", NUMBER, OF_SLOTS},
    [PREDICTED_SIZE] = {"predicted_size_s", NUMBER, OF_SLOTS},
    [QUEUE] = {"queue", COUNT, OF_SLOTS},
    [PLACEMENT] = {"placement", REFUSED, OF_TASKS},
};

struct line_job {
    struct workload_import *import;
    struct json json;
    bool seen[MEMBERS];
    double numbers[MEMBERS];
    struct json_text texts[MEMBERS];
};

static enum pv_code fail_structure(const struct workload_import *import, struct pv_error *err)
{
    return trace_fail(import, err, PV_E_INVALID, "it is not one JSON object%s",
                      import->unterminated ? "; the trace is cut" : "");
}

/* --- values --- */

static bool ends_number(const struct json *json)
{
    return json->at == json->end || *json->at == ',' || *json->at == ']' || *json->at == '}' ||
           lines_is_blank(*json->at);
}

static enum pv_code
take_number(struct line_job *job, enum member member, double *value, struct pv_error *err)
{
    struct json *json = &job->json;
    *value = 0;
    json->at = trace_skip_blanks(json->at, json->end);
    if (json->at == json->end)
        return fail_structure(job->import, err);
    if (!number_take(&json->at, json->end, value) || !ends_number(json))
        return trace_fail(job->import, err, PV_E_INVALID, "%s: a number is expected",
                          TABLE[member].name);
    return PV_OK;
}

static enum pv_code take_count(struct line_job *job, enum member member, struct pv_error *err)
{
    double least = member == QUEUE ? 1 : 0;
    double value;
    PV_TRY(take_number(job, member, &value, err));
    if (!(value >= least && value <= (double)UINT32_MAX) || value != floor(value))
        return trace_fail(job->import, err, PV_E_INVALID,
                          "%s: a whole number from %.0f to 4294967295 is expected",
                          TABLE[member].name, least);
    job->numbers[member] = value;
    return PV_OK;
}

static enum pv_code
take_list(struct line_job *job, enum member member, enum workload_list list, struct pv_error *err)
{
    bool started = false;
    job->json.at = trace_skip_blanks(job->json.at, job->json.end);
    if (job->json.at < job->json.end && *job->json.at != '[')
        return trace_fail(job->import, err, PV_E_INVALID, "%s: a list of numbers is expected",
                          TABLE[member].name);
    while (json_next_element(&job->json, &started)) {
        double duration_s;
        PV_TRY(take_number(job, member, &duration_s, err));
        PV_TRY(trace_add_tasks(job->import, list, duration_s, 1, err));
    }
    return job->json.damaged ? fail_structure(job->import, err) : PV_OK;
}

static enum pv_code take_text(struct line_job *job, enum member member, struct pv_error *err)
{
    if (json_read_text(&job->json, &job->texts[member]))
        return PV_OK;
    if (job->json.damaged)
        return fail_structure(job->import, err);
    return trace_fail(job->import, err, PV_E_INVALID, "%s: a text is expected", TABLE[member].name);
}

static enum pv_code take_value(struct line_job *job, enum member member, struct pv_error *err)
{
    switch (TABLE[member].kind) {
    case TEXT:
        return take_text(job, member, err);
    case NUMBER:
        return take_number(job, member, &job->numbers[member], err);
    case COUNT:
        return take_count(job, member, err);
    case TASK_LIST:
        return take_list(job, member, WORKLOAD_TASKS, err);
    case REDUCE_LIST:
        return take_list(job, member, WORKLOAD_REDUCES, err);
    case REFUSED:
        break;
    }
    return trace_fail(job->import, err, PV_E_INVALID,
                      "%s belongs to a cluster, and a workload to none; give such jobs in the "
                      "simulation itself",
                      TABLE[member].name);
}

/* --- members --- */

static enum member find_member(struct json_text key)
{
    enum member member = NAME;
    while ((int)member < MEMBERS && !json_text_is(key, strview_of(TABLE[member].name)))
        member++;
    return member;
}

static enum pv_code
check_together(const struct line_job *job, enum member one, enum member other, struct pv_error *err)
{
    if (job->seen[one] && job->seen[other])
        return trace_fail(job->import, err, PV_E_INVALID, "%s and %s exclude one another",
                          TABLE[one].name, TABLE[other].name);
    return PV_OK;
}

/* A member that goes with none of the other kind that were there. */
static enum pv_code check_side(const struct line_job *job, enum member member, struct pv_error *err)
{
    enum side other = TABLE[member].side == OF_TASKS ? OF_SLOTS : OF_TASKS;
    if (TABLE[member].side == BOTH)
        return PV_OK;
    for (unsigned m = 0; m < MEMBERS; m++) {
        if (job->seen[m] && TABLE[m].side == other)
            return trace_fail(job->import, err, PV_E_INVALID,
                              "%s is of jobs for slots, %s of bags of tasks",
                              TABLE[other == OF_SLOTS ? m : member].name,
                              TABLE[other == OF_SLOTS ? member : m].name);
    }
    return PV_OK;
}

static enum pv_code read_members(struct line_job *job, struct pv_error *err)
{
    bool started = false;
    struct json_text key;
    while (json_next_member(&job->json, &started, &key)) {
        enum member member = find_member(key);
        if ((int)member == MEMBERS) {
            char shown[64];
            strview_shorten((struct strview){key.at, key.n}, shown, sizeof shown);
            return trace_fail(job->import, err, PV_E_INVALID, "there is no member \"%s\" of a job",
                              shown);
        }
        if (job->seen[member])
            return trace_fail(job->import, err, PV_E_INVALID, "%s is given twice",
                              TABLE[member].name);
        PV_TRY(check_side(job, member, err));
        job->seen[member] = true;
        PV_TRY(take_value(job, member, err));
    }
    return json_at_end(&job->json) ? PV_OK : fail_structure(job->import, err);
}

/* --- the job --- */

/* As many tasks of one duration as are stated, where they are stated in this way. */
static enum pv_code add_equal(struct line_job *job,
                              enum member count,
                              enum member duration,
                              enum workload_list list,
                              struct pv_error *err)
{
    if (job->seen[count] && job->numbers[count] > 0 && !job->seen[duration])
        return trace_fail(job->import, err, PV_E_INVALID, "%s is required beside %s",
                          TABLE[duration].name, TABLE[count].name);
    /* Without tasks their duration is passed over, as in a simulation. */
    if (!job->seen[count] || job->numbers[count] == 0)
        return PV_OK;
    return trace_add_tasks(job->import, list, job->numbers[duration], (uint64_t)job->numbers[count],
                           err);
}

static enum pv_code add_lists(struct line_job *job, struct pv_error *err)
{
    PV_TRY(check_together(job, MAP_DURATIONS, MAPS, err));
    PV_TRY(check_together(job, MAP_DURATIONS, MAP_TASK, err));
    PV_TRY(check_together(job, REDUCE_DURATIONS, REDUCES, err));
    PV_TRY(check_together(job, REDUCE_DURATIONS, REDUCE_TASK, err));
    PV_TRY(add_equal(job, MAPS, MAP_TASK, WORKLOAD_TASKS, err));
    return add_equal(job, REDUCES, REDUCE_TASK, WORKLOAD_REDUCES, err);
}

static enum pv_code
take_class(const struct line_job *job, enum workload_class *class, struct pv_error *err)
{
    if (!job->seen[CLASS])
        return PV_OK;
    if (json_text_is(job->texts[CLASS], strview_of("short")))
        *class = WORKLOAD_SHORT;
    else if (json_text_is(job->texts[CLASS], strview_of("long")))
        *class = WORKLOAD_LONG;
    else
        return trace_fail(job->import, err, PV_E_INVALID, "class: short or long is expected");
    return PV_OK;
}

/* What json_text_decode puts in the place of bytes that are no text, and of control characters. */
static bool holds_replacement(const char *text, size_t n)
{
    static const char replacement[] = "\xef\xbf\xbd";
    for (size_t i = 0; i + 3 <= n; i++) {
        if (memcmp(text + i, replacement, 3) == 0)
            return true;
    }
    return false;
}

static enum pv_code
take_name(const struct line_job *job, char *room, struct strview *name, struct pv_error *err)
{
    bool cut = false;
    if (!job->seen[NAME])
        return PV_OK;
    size_t n = json_text_decode(job->texts[NAME], room, WORKLOAD_NAME_MAX + 1, &cut);
    if (n == 0 || cut || holds_replacement(room, n))
        return trace_fail(job->import, err, PV_E_INVALID,
                          "name: 1 to %d bytes of UTF-8 without control characters are expected",
                          (int)WORKLOAD_NAME_MAX);
    *name = (struct strview){room, n};
    return PV_OK;
}

static enum pv_code
read_provisor(struct workload_import *import, struct strview line, struct pv_error *err)
{
    char name[WORKLOAD_NAME_MAX + 1];
    struct line_job read = {.import = import, .json = json_over(line)};
    struct workload_job job = {.input_bytes = (double)NAN};
    read.numbers[PREDICTED_SIZE] = (double)NAN;
    trace_begin_job(import);
    PV_TRY(read_members(&read, err));
    PV_TRY(add_lists(&read, err));
    PV_TRY(take_class(&read, &job.class, err));
    PV_TRY(take_name(&read, name, &job.name, err));
    job.arrival_s = read.numbers[ARRIVAL];
    job.shuffle_s = read.numbers[SHUFFLE];
    job.predicted_size_s = read.numbers[PREDICTED_SIZE];
    job.queue = (uint32_t)read.numbers[QUEUE];
    if (job.arrival_s < import->arrival_before_s)
        trace_count_line(import, &import->early_jobs);
    import->arrival_before_s = job.arrival_s;
    return trace_end_job(import, &job, err);
}

const struct trace_format trace_provisor = {.line = read_provisor};
