#include "actuator/executors.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "actuator/before_file.h"
#include "actuator/words.h"
#include "base/vector.h"

struct executor {
    char *id;
    char *worker;
    char place[PLACE_TEXT];
    char before[QUOTA_TEXT];  /* "": not known yet */
    char has[QUOTA_TEXT];     /* likewise */
    char granted[QUOTA_TEXT]; /* "": nothing, yet */
    char floor[QUOTA_TEXT];   /* the same, or floor_cores */
    bool named;               /* by the loop */
    bool placeless;           /* its name makes no place */
    bool finished;            /* to be forgotten */
    bool shown;               /* its first quota was said */
    enum target_outcome said; /* of the last line about it */
    char why[200];            /* likewise: what was said */
};

/* What is written in a round. */
struct move {
    struct executor *executor;
    const char *to;
    double from_cores;
    double to_cores;
    bool less;
};

struct executors {
    const struct configuration *configuration;
    const struct target *target;
    bool dry_run;
    bool verbose;
    VECTOR(struct executor *) all;
    json_t *by_id;   /* place in `all` */
    json_t *before;  /* as on disk */
    int lock;        /* on that file; -1: none */
    bool unsaved;    /* there is more in `before` than on disk */
    bool save_said;  /* that it cannot be saved */
    bool away;       /* the target, as a whole, in this round */
    json_t *blocked; /* workers on which taking away has failed in this round */
};

/* --- the list --- */

static struct executor *find(const struct executors *e, const char *id)
{
    const json_t *at = json_object_get(e->by_id, id);
    return at == NULL ? NULL : e->all.items[json_integer_value(at)];
}

static void executor_free(struct executor *executor)
{
    if (executor != NULL) {
        free(executor->id);
        free(executor->worker);
    }
    free(executor);
}

static struct executor *add(struct executors *e, const char *id, const char *worker)
{
    struct executor *executor = calloc(1, sizeof *executor);
    struct executor **slot = executor == NULL ? NULL : vector_add(NULL, &e->all);
    if (slot == NULL) {
        free(executor);
        return NULL;
    }
    *slot = executor;
    executor->id = strdup(id);
    executor->worker = strdup(worker);
    if (executor->id == NULL || executor->worker == NULL ||
        json_object_set_new(e->by_id, id, json_integer((json_int_t)(e->all.n - 1))) != 0) {
        e->all.n--;
        executor_free(executor);
        return NULL;
    }
    return executor;
}

/* Those who are finished leave the list, and the file. */
static void forget_finished(struct executors *e)
{
    size_t kept = 0;
    for (size_t i = 0; i < e->all.n; i++) {
        struct executor *executor = e->all.items[i];
        if (executor->finished) {
            (void)json_object_del(e->by_id, executor->id);
            e->unsaved |= json_object_del(e->before, executor->id) == 0;
            executor_free(executor);
            continue;
        }
        (void)json_object_set_new(e->by_id, executor->id, json_integer((json_int_t)kept));
        e->all.items[kept++] = executor;
    }
    e->all.n = kept;
}

/* --- what was there before --- */

static void save(struct executors *e)
{
    struct failure failure = {.status = EXIT_DONE};
    const char *file = e->configuration->state_file;
    if (!e->unsaved || e->dry_run || file == NULL)
        return;
    e->unsaved = !before_file_write(file, e->before, &failure);
    if (e->unsaved && !e->save_said)
        say_warning("%s", failure.what);
    e->save_said = e->unsaved;
}

static void note_before(struct executors *e, struct executor *executor)
{
    (void)snprintf(executor->before, sizeof executor->before, "%s", executor->has);
    json_t *entry = json_pack("{s:s, s:s, s:s}", "place", executor->place, "worker",
                              executor->worker, "quota", executor->before);
    e->unsaved |= json_object_set_new(e->before, executor->id, entry) == 0;
}

static bool recall(struct executors *e, struct failure *failure)
{
    const char *file = e->configuration->state_file;
    const char *id;
    json_t *entry;
    e->before = file == NULL ? json_object() : before_file_read(file, failure);
    if (e->before == NULL)
        return fail_memory(failure);
    json_object_foreach(e->before, id, entry)
    {
        struct executor *executor = add(e, id, json_string_value(json_object_get(entry, "worker")));
        if (executor == NULL)
            return fail_memory(failure);
        (void)snprintf(executor->place, sizeof executor->place, "%s",
                       json_string_value(json_object_get(entry, "place")));
        (void)snprintf(executor->before, sizeof executor->before, "%s",
                       json_string_value(json_object_get(entry, "quota")));
    }
    return true;
}

bool executors_open(const struct configuration *configuration,
                    const struct target *target,
                    bool dry_run,
                    bool verbose,
                    struct executors **executors,
                    struct failure *failure)
{
    struct executors *e = calloc(1, sizeof *e);
    if (e == NULL)
        return fail_memory(failure);
    *e = (struct executors){.configuration = configuration,
                            .target = target,
                            .dry_run = dry_run,
                            .verbose = verbose,
                            .by_id = json_object(),
                            .lock = -1,
                            .blocked = json_object()};
    const char *file = dry_run ? NULL : configuration->state_file;
    if (file != NULL && !before_file_lock(file, &e->lock, failure)) {
        executors_close(e);
        return false;
    }
    if (e->by_id == NULL || e->blocked == NULL || !recall(e, failure)) {
        executors_close(e);
        return fail_memory(failure);
    }
    *executors = e;
    return true;
}

void executors_close(struct executors *executors)
{
    if (executors == NULL)
        return;
    for (size_t i = 0; i < executors->all.n; i++)
        executor_free(executors->all.items[i]);
    free(executors->all.items);
    json_decref(executors->by_id);
    json_decref(executors->before);
    json_decref(executors->blocked);
    if (executors->lock >= 0)
        (void)close(executors->lock);
    free(executors);
}

/* --- saying it --- */

/* Once, until something else becomes of it. */
static void
explain(struct executor *executor, enum target_outcome outcome, const struct failure *failure)
{
    bool news = executor->said != outcome || executor->why[0] == '\0' ||
                !words_are_same(executor->why, failure->what);
    executor->said = outcome;
    (void)snprintf(executor->why, sizeof executor->why, "%.199s", failure->what);
    if (news && failure->status != EXIT_DONE)
        say_warning("%s: %s%s%s", executor->id, failure->what, failure->next[0] == '\0' ? "" : "; ",
                    failure->next);
}

static void say_move(const struct executors *e, struct executor *executor, const char *to)
{
    if (e->dry_run)
        printf("%s %s: %s -> %s\n", executor->id, executor->place, executor->has, to);
    else if (e->verbose || !executor->shown)
        say("%s at %s: %s -> %s", executor->id, executor->place, executor->has, to);
    executor->shown = true;
}

/* --- what each is to have --- */

static bool set_worker(struct executor *executor, const char *worker)
{
    if (strcmp(executor->worker, worker) == 0)
        return true;
    char *copy = strdup(worker);
    if (copy == NULL)
        return false;
    free(executor->worker);
    executor->worker = copy;
    return true;
}

static void set_grant(struct executors *e, struct executor *executor, const struct grant *grant)
{
    const struct target *target = e->target;
    double floor_cores = e->configuration->floor_cores;
    struct failure failure = {.status = EXIT_DONE};
    char place[PLACE_TEXT];
    executor->named = true;
    executor->placeless = !target_place(e->configuration, grant, place, &failure);
    if (executor->placeless) {
        explain(executor, TARGET_REFUSED, &failure);
        return;
    }
    if (strcmp(place, executor->place) != 0) {
        executor->before[0] = '\0';
        executor->has[0] = '\0';
        memcpy(executor->place, place, sizeof place);
    }
    target->format(target->context, grant->cores, grant->cpu_max, executor->granted);
    if (grant->cores < floor_cores)
        target->format(target->context, floor_cores, NULL, executor->floor);
    else
        memcpy(executor->floor, executor->granted, sizeof executor->floor);
}

bool executors_grant(struct executors *executors, const struct quota_loop *loop)
{
    for (size_t i = 0; i < executors->all.n; i++)
        executors->all.items[i]->named = false;
    for (size_t i = 0; i < loop->n; i++) {
        const struct grant *grant = &loop->grants[i];
        struct executor *executor = find(executors, grant->id);
        if (executor == NULL)
            executor = add(executors, grant->id, grant->worker);
        if (executor == NULL || !set_worker(executor, grant->worker))
            return false;
        set_grant(executors, executor, grant);
    }
    return true;
}

/* NULL: it stays as it is. */
static const char *
wanted(const struct executors *e, const struct executor *executor, enum executors_goal goal)
{
    const char *text = goal == GOAL_FLOOR ? executor->floor : executor->granted;
    if (goal == GOAL_BEFORE || !executor->named)
        text = goal == GOAL_BEFORE || e->configuration->restore_on_leave ? executor->before : "";
    return executor->placeless || text[0] == '\0' ? NULL : text;
}

/* --- a round --- */

/* The one outcome that is about all of them. */
static enum target_outcome heed(struct executors *e, enum target_outcome outcome)
{
    e->away |= outcome == TARGET_AWAY;
    return outcome == TARGET_AWAY ? TARGET_FAILED : outcome;
}

/* What it has now; false: nothing can be done about it in this round. */
static bool look(struct executors *e, struct executor *executor, struct executors_round *round)
{
    struct failure failure = {.status = EXIT_DONE};
    enum target_outcome outcome = TARGET_DONE;
    if (executor->has[0] == '\0' || (e->target->reads_are_cheap && !e->dry_run)) {
        outcome =
            heed(e, e->target->read(e->target->context, executor->place, executor->has, &failure));
        if (outcome != TARGET_DONE)
            executor->has[0] = '\0';
        /* What comes to the place after it was gone is another one. */
        if (outcome == TARGET_GONE && executor->before[0] != '\0') {
            executor->before[0] = '\0';
            e->unsaved |= json_object_del(e->before, executor->id) == 0;
        }
        if (outcome == TARGET_DONE && executor->before[0] == '\0' && executor->named)
            note_before(e, executor);
    }
    if (outcome != TARGET_DONE)
        explain(executor, outcome, &failure);
    if (outcome == TARGET_FAILED) /* it may have more than it is granted by now */
        (void)json_object_set_new(e->blocked, executor->worker, json_true());
    round->failed += outcome == TARGET_FAILED || outcome == TARGET_REFUSED;
    executor->finished = !executor->named && outcome != TARGET_DONE && outcome != TARGET_FAILED;
    return outcome == TARGET_DONE;
}

static void perform(struct executors *e, const struct move *move, struct executors_round *round)
{
    struct executor *executor = move->executor;
    struct failure failure = {.status = EXIT_DONE};
    enum target_outcome outcome = TARGET_DONE;
    if (!e->dry_run)
        outcome =
            heed(e, e->target->write(e->target->context, executor->place, move->to, &failure));
    if (outcome == TARGET_DONE) {
        say_move(e, executor, move->to);
        (void)snprintf(executor->has, sizeof executor->has, "%s", move->to);
        round->written++;
    } else if (outcome != TARGET_GONE) {
        round->failed++;
        if (move->less)
            (void)json_object_set_new(e->blocked, executor->worker, json_true());
    } else {
        executor->has[0] = '\0';
    }
    explain(executor, outcome, &failure);
    executor->finished = !executor->named && outcome != TARGET_FAILED;
}

/* The moves of a round; those that are finished without one are marked. */
static size_t plan(struct executors *e,
                   enum executors_goal goal,
                   struct move moves[],
                   struct executors_round *round)
{
    size_t n = 0;
    for (size_t i = 0; i < e->all.n; i++) {
        struct executor *executor = e->all.items[i];
        if (e->away || (!executor->placeless && !look(e, executor, round)))
            continue;
        round->failed += executor->placeless;
        const char *to = wanted(e, executor, goal);
        if (to == NULL || strcmp(to, executor->has) == 0) {
            executor->finished = !executor->named;
            explain(executor, TARGET_DONE, &(struct failure){.status = EXIT_DONE});
            continue;
        }
        double from_cores = e->target->cores(executor->has);
        double to_cores = e->target->cores(to);
        moves[n++] = (struct move){executor, to, from_cores, to_cores, !(to_cores > from_cores)};
    }
    return n;
}

struct executors_round executors_apply(struct executors *executors, enum executors_goal goal)
{
    struct executors_round round = {0};
    struct move *moves = calloc(executors->all.n + 1, sizeof *moves);
    if (moves == NULL) {
        say_warning("out of memory");
        round.failed = executors->all.n;
        return round;
    }
    (void)json_object_clear(executors->blocked);
    executors->away = false;
    size_t n = plan(executors, goal, moves, &round);
    save(executors); /* before anything is written over it */
    for (size_t i = 0; i < n; i++)
        if (moves[i].less && !executors->away)
            perform(executors, &moves[i], &round);
    for (size_t i = 0; i < n; i++) {
        if (moves[i].less)
            continue;
        if (!executors->away &&
            json_object_get(executors->blocked, moves[i].executor->worker) == NULL)
            perform(executors, &moves[i], &round);
        else
            round.failed++;
    }
    free(moves);
    forget_finished(executors);
    save(executors);
    return round;
}

struct executors_round executors_restore(struct executors *executors)
{
    for (size_t i = 0; i < executors->all.n; i++)
        executors->all.items[i]->named = false;
    return executors_apply(executors, GOAL_BEFORE);
}
