/* The events that the reader knows and what they do to what it has gathered. */
#include <string.h>

#include "core/joblog/common/privacy.h"
#include "core/joblog/mapreduce/mapreduce_internal.h"

/* --- the job --- */

static void take_name(struct mapreduce *log, struct json_text name)
{
    if (json_text_keep(name, log->job_name, sizeof log->job_name))
        privacy_application_name(&log->reader.limits.privacy, log->job_name, sizeof log->job_name);
}

/* Is the event one of this job's? The first that names a job says which one it is. */
static bool is_ours(struct mapreduce *log, const struct job_event *event)
{
    char id[sizeof log->job_id];
    if (event->job_id.at == NULL)
        return false;
    bool whole = json_text_keep(event->job_id, id, sizeof id) &&
                 privacy_id(&log->reader.limits.privacy, id, sizeof id);
    if (!log->named) {
        log->named = true;
        log->reader.notices[NOTICE_BAD_ID] += !whole;
        memcpy(log->job_id, id, sizeof id);
        return true;
    }
    bool ours = strcmp(id, log->job_id) == 0;
    log->reader.notices[NOTICE_OTHER_JOB] += !ours;
    return ours;
}

static void see_submission(struct mapreduce *log, const struct job_event *event)
{
    if (event->submit_ms != NO_TIME && log->submit_ms == NO_TIME)
        log->submit_ms = log_reader_see_time(&log->reader, event->submit_ms);
}

static enum pv_code take_submitted(struct mapreduce *log,
                                   const struct job_event *event,
                                   bool *sound,
                                   struct pv_error *err)
{
    (void)err;
    *sound = event->job_id.at != NULL;
    if (!is_ours(log, event))
        return PV_OK;
    see_submission(log, event);
    if (event->job_name.at != NULL)
        take_name(log, event->job_name);
    return PV_OK;
}

static enum pv_code
take_info(struct mapreduce *log, const struct job_event *event, bool *sound, struct pv_error *err)
{
    (void)err;
    *sound = event->job_id.at != NULL;
    if (is_ours(log, event))
        see_submission(log, event);
    return PV_OK;
}

static enum pv_code
take_inited(struct mapreduce *log, const struct job_event *event, bool *sound, struct pv_error *err)
{
    (void)err;
    *sound = event->job_id.at != NULL;
    if (!is_ours(log, event))
        return PV_OK;
    log->planned[TASK_MAP] = event->maps >= 0 ? event->maps : log->planned[TASK_MAP];
    log->planned[TASK_REDUCE] = event->reduces >= 0 ? event->reduces : log->planned[TASK_REDUCE];
    return PV_OK;
}

static enum pv_code
end_job(struct mapreduce *log, const struct job_event *event, bool *sound, bool succeeded)
{
    *sound = event->job_id.at != NULL;
    if (!is_ours(log, event))
        return PV_OK;
    log->finish_ms = log_reader_see_time(&log->reader, event->finish_ms);
    log->ended = true;
    log->succeeded = succeeded;
    log->reader.notices[NOTICE_FAILED_JOB] = !succeeded;
    return PV_OK;
}

static enum pv_code take_job_finished(struct mapreduce *log,
                                      const struct job_event *event,
                                      bool *sound,
                                      struct pv_error *err)
{
    (void)err;
    return end_job(log, event, sound, true);
}

static enum pv_code take_job_unsuccessful(struct mapreduce *log,
                                          const struct job_event *event,
                                          bool *sound,
                                          struct pv_error *err)
{
    (void)err;
    return end_job(log, event, sound, false);
}

static enum pv_code
take_master(struct mapreduce *log, const struct job_event *event, bool *sound, struct pv_error *err)
{
    (void)err;
    (void)sound;
    log->masters++;
    log->reader.notices[NOTICE_MASTER_AGAIN] = log->masters - 1;
    if (event->start_ms != NO_TIME)
        (void)log_reader_see_time(&log->reader, event->start_ms);
    return PV_OK;
}

/* Of a task only its instants are of interest: they show how long the job was alive. */
static enum pv_code
take_task(struct mapreduce *log, const struct job_event *event, bool *sound, struct pv_error *err)
{
    (void)err;
    (void)sound;
    if (event->start_ms != NO_TIME)
        (void)log_reader_see_time(&log->reader, event->start_ms);
    if (event->finish_ms != NO_TIME)
        (void)log_reader_see_time(&log->reader, event->finish_ms);
    return PV_OK;
}

/* --- attempts --- */

struct attempt_name {
    enum task_kind kind;
    int64_t task;
    int64_t number;
};

static bool take_word(struct strview *text, const char *word)
{
    size_t n = strlen(word);
    if (text->n < n || memcmp(text->at, word, n) != 0)
        return false;
    text->at += n;
    text->n -= n;
    return true;
}

/* Digits up to the next '_', or to the end, that fit 31 bits when they are wanted. */
static bool take_number(struct strview *text, int64_t *number)
{
    size_t i = 0;
    int64_t value = 0;
    for (; i < text->n && text->at[i] >= '0' && text->at[i] <= '9'; i++)
        value = value > INT32_MAX ? value : value * 10 + (text->at[i] - '0');
    text->at += i;
    text->n -= i;
    if (number != NULL)
        *number = value;
    return i > 0 && (number == NULL || value <= INT32_MAX);
}

/* "attempt_<cluster>_<job>_m_<task>_<attempt>" */
static bool parse_attempt(struct json_text id, struct attempt_name *name)
{
    struct strview rest = {id.at, id.n};
    if (id.at == NULL || !take_word(&rest, "attempt_") || !take_number(&rest, NULL) ||
        !take_word(&rest, "_") || !take_number(&rest, NULL))
        return false;
    if (take_word(&rest, "_m_"))
        name->kind = TASK_MAP;
    else if (take_word(&rest, "_r_"))
        name->kind = TASK_REDUCE;
    else
        return false;
    return take_number(&rest, &name->task) && take_word(&rest, "_") &&
           take_number(&rest, &name->number) && rest.n == 0;
}

static int64_t job_table_pack(const struct attempt_name *name)
{
    return (int64_t)name->kind << 62 | name->task << 31 | name->number;
}

static enum pv_code
add_attempt(struct mapreduce *log, const struct attempt_name *name, struct pv_error *err)
{
    if (log->n_attempts >= log->reader.limits.tasks || log->n_attempts >= UINT32_MAX)
        return pv_fail(err, PV_E_LIMIT, "the history holds more than %zu attempts of tasks",
                       log->reader.limits.tasks);
    struct budget *budget = &log->reader.budget;
    PV_TRY(budget_grow(budget, log->attempts, log->attempts_capacity, log->n_attempts + 1, err));
    PV_TRY(idmap_insert(&log->attempt_at, budget, job_table_pack(name), (uint32_t)log->n_attempts,
                        err));
    log->attempts[log->n_attempts++] = (struct job_attempt){.kind = name->kind,
                                                            .task = name->task,
                                                            .start_ms = NO_TIME,
                                                            .finish_ms = NO_TIME,
                                                            .node = LOG_NODE_UNKNOWN};
    return PV_OK;
}

/* The attempt of an event, made when it is new; NULL when the event names none. */
static enum pv_code get_attempt(struct mapreduce *log,
                                const struct job_event *event,
                                bool *sound,
                                struct job_attempt **attempt,
                                struct pv_error *err)
{
    struct attempt_name name;
    *attempt = NULL;
    *sound = parse_attempt(event->attempt_id, &name);
    if (!*sound)
        return PV_OK;
    const uint32_t *known = idmap_find(&log->attempt_at, job_table_pack(&name));
    if (known != NULL) {
        *attempt = &log->attempts[*known];
        return PV_OK;
    }
    PV_TRY(add_attempt(log, &name, err));
    *attempt = &log->attempts[log->n_attempts - 1];
    return PV_OK;
}

static enum pv_code take_started(struct mapreduce *log,
                                 const struct job_event *event,
                                 bool *sound,
                                 struct pv_error *err)
{
    struct job_attempt *attempt;
    PV_TRY(get_attempt(log, event, sound, &attempt, err));
    if (attempt == NULL)
        return PV_OK;
    /* A master that took over may report a launch again. */
    bool again = attempt->launched;
    attempt->launched = true;
    attempt->start_ms = log_reader_see_time(&log->reader, event->start_ms);
    log->speculative += !again && event->avataar.at != NULL &&
                        json_text_is(event->avataar, strview_of("SPECULATIVE"));
    return PV_OK;
}

/* Only the event of its end names the host of an attempt. */
static enum pv_code set_node(struct mapreduce *log,
                             const struct job_event *event,
                             struct job_attempt *attempt,
                             struct pv_error *err)
{
    if (attempt->node != LOG_NODE_UNKNOWN)
        return PV_OK;
    return log_nodes_find(&log->nodes, &log->reader.budget, &log->reader.limits.privacy,
                          event->host, &attempt->node, err);
}

static enum pv_code take_finished(struct mapreduce *log,
                                  const struct job_event *event,
                                  bool *sound,
                                  struct pv_error *err)
{
    struct job_work work = job_work_unknown;
    *sound = job_event_counters(event->counters, &work);
    if (!*sound)
        return PV_OK;
    struct job_attempt *attempt;
    PV_TRY(get_attempt(log, event, sound, &attempt, err));
    if (attempt == NULL)
        return PV_OK;
    attempt->finish_ms = log_reader_see_time(&log->reader, event->finish_ms);
    attempt->state = ATTEMPT_SUCCEEDED;
    attempt->work = work;
    return set_node(log, event, attempt, err);
}

static enum pv_code stop_attempt(struct mapreduce *log,
                                 const struct job_event *event,
                                 bool *sound,
                                 enum attempt_state state,
                                 struct pv_error *err)
{
    struct job_attempt *attempt;
    PV_TRY(get_attempt(log, event, sound, &attempt, err));
    if (attempt == NULL)
        return PV_OK;
    int64_t finish_ms = log_reader_see_time(&log->reader, event->finish_ms);
    /* Its output was lost: it ran no longer than it did. */
    if (attempt->state == ATTEMPT_SUCCEEDED)
        log->lost++;
    else
        attempt->finish_ms = finish_ms;
    attempt->state = state;
    return set_node(log, event, attempt, err);
}

static enum pv_code
take_failed(struct mapreduce *log, const struct job_event *event, bool *sound, struct pv_error *err)
{
    return stop_attempt(log, event, sound, ATTEMPT_FAILED, err);
}

static enum pv_code
take_killed(struct mapreduce *log, const struct job_event *event, bool *sound, struct pv_error *err)
{
    return stop_attempt(log, event, sound, ATTEMPT_KILLED, err);
}

struct row {
    struct strview type;
    job_take take;
};

#define ROW(type, take)                                                                            \
    {                                                                                              \
        {type, sizeof(type) - 1}, take                                                             \
    }

/* The frequent ones first. */
static const struct row table[] = {
    ROW("MAP_ATTEMPT_FINISHED", take_finished),
    ROW("MAP_ATTEMPT_STARTED", take_started),
    ROW("REDUCE_ATTEMPT_FINISHED", take_finished),
    ROW("REDUCE_ATTEMPT_STARTED", take_started),
    ROW("TASK_STARTED", take_task),
    ROW("TASK_FINISHED", take_task),
    ROW("TASK_UPDATED", take_task),
    ROW("TASK_FAILED", take_task),
    ROW("MAP_ATTEMPT_KILLED", take_killed),
    ROW("MAP_ATTEMPT_FAILED", take_failed),
    ROW("REDUCE_ATTEMPT_KILLED", take_killed),
    ROW("REDUCE_ATTEMPT_FAILED", take_failed),
    ROW("AM_STARTED", take_master),
    ROW("JOB_SUBMITTED", take_submitted),
    ROW("JOB_INFO_CHANGED", take_info),
    ROW("JOB_INITED", take_inited),
    ROW("JOB_FINISHED", take_job_finished),
    ROW("JOB_FAILED", take_job_unsuccessful),
    ROW("JOB_KILLED", take_job_unsuccessful),
    ROW("JOB_ERROR", take_job_unsuccessful),
};

job_take job_table_find(struct json_text type)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (json_text_is(type, table[i].type))
            return table[i].take;
    return NULL;
}
