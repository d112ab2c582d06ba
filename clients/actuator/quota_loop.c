#include "actuator/quota_loop.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output/json_text.h"
#include "threads/clock.h"

bool quota_loop_open(struct quota_loop *loop,
                     struct remote *remote,
                     const char *name,
                     struct failure *failure)
{
    *loop = (struct quota_loop){.sequence = -1, .sample_s = 1, .sampled_ns = clock_monotonic_ns()};
    return remote_path(remote, "/v1/quota-loops/", name, "", loop->path, failure);
}

void quota_loop_close(struct quota_loop *loop)
{
    json_decref(loop->document);
    free(loop->grants);
    *loop = (struct quota_loop){.sequence = -1};
}

static bool read_grant(const json_t *executor, struct grant *grant)
{
    *grant = (struct grant){.id = json_text_at(executor, "id", NULL),
                            .application = json_text_at(executor, "application", NULL),
                            .worker = json_text_at(executor, "worker", NULL),
                            .cores = json_number_at(executor, "cores", (double)NAN),
                            .cpu_max = json_text_at(executor, "cpu_max", NULL)};
    return grant->id != NULL && grant->application != NULL && grant->worker != NULL &&
           isfinite(grant->cores) && grant->cores >= 0;
}

static bool is_named(const json_t *names, const char *name)
{
    for (size_t i = 0; i < json_array_size(names); i++)
        if (strcmp(json_string_value(json_array_get(names, i)), name) == 0)
            return true;
    return names == NULL;
}

/* The grants of a reply, or nothing of it where one cannot be read. */
static struct grant *
read_grants(const json_t *document, const json_t *workers, size_t *n, struct failure *failure)
{
    const json_t *executors = json_object_get(document, "executors");
    struct grant *grants = calloc(json_array_size(executors) + 1, sizeof *grants);
    *n = 0;
    if (grants == NULL) {
        (void)fail_memory(failure);
        return NULL;
    }
    for (size_t i = 0; i < json_array_size(executors); i++) {
        if (!read_grant(json_array_get(executors, i), &grants[*n])) {
            free(grants);
            (void)fail(failure, EXIT_FAILED, "executor %zu of the loop cannot be understood", i);
            return NULL;
        }
        *n += is_named(workers, grants[*n].worker);
    }
    return grants;
}

static bool take(struct quota_loop *loop,
                 const struct remote_reply *reply,
                 const json_t *workers,
                 struct failure *failure)
{
    size_t n = 0;
    if (!json_is_array(json_object_get(reply->json, "executors")))
        return fail(failure, EXIT_FAILED, "the reply to GET %s is no quota loop", loop->path);
    struct grant *grants = read_grants(reply->json, workers, &n, failure);
    if (grants == NULL)
        return false;
    const json_t *sequence = json_object_get(reply->json, "sequence");
    int64_t number = json_is_integer(sequence) ? json_integer_value(sequence) : -1;
    if (number != loop->sequence)
        loop->sampled_ns = clock_monotonic_ns();
    free(loop->grants);
    json_decref(loop->document);
    loop->document = json_incref(reply->json);
    loop->grants = grants;
    loop->n = n;
    loop->sequence = number;
    loop->sample_s = json_number_at(reply->json, "controller.sample_s", 1);
    (void)snprintf(loop->etag, sizeof loop->etag, "%s", reply->etag);
    loop->changed = true;
    return true;
}

bool quota_loop_poll(struct quota_loop *loop,
                     struct remote *remote,
                     const json_t *workers,
                     long *status,
                     struct failure *failure)
{
    const struct remote_request request = {.method = "GET",
                                           .path = loop->path,
                                           .if_none_match =
                                               loop->etag[0] == '\0' ? NULL : loop->etag};
    struct remote_reply reply = {.status = 0};
    loop->changed = false;
    bool good = remote_call(remote, &request, &reply, failure);
    *status = reply.status;
    if (good && (reply.status != 304 || loop->document == NULL)) /* 304 of what was never read */
        good = take(loop, &reply, workers, failure);
    remote_reply_clear(&reply);
    return good;
}
