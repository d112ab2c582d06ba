/* Resource profiles: what their executors have, and what each task takes of that. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/history/task_slots.h"
#include "core/joblog/spark/events.h"

struct profile_event {
    int64_t id;
    struct strview executor_requests;
    struct strview task_requests;
};

static const struct json_field profile_fields[] = {
    JSON_FIELD("Resource Profile Id", JSON_INT, struct profile_event, id),
    JSON_FIELD("Executor Resource Requests", JSON_RAW, struct profile_event, executor_requests),
    JSON_FIELD("Task Resource Requests", JSON_RAW, struct profile_event, task_requests),
};
static const struct json_shape profile_shape = JSON_SHAPE(profile_fields);

/* A number with its fraction, which JSON_INT cuts off; 0 for all else. */
static double read_number(struct json *json)
{
    char text[32];
    size_t n = 0;
    while (json->at < json->end && (*json->at == ' ' || *json->at == '\t'))
        json->at++;
    while (json->at + n < json->end && n < sizeof text - 1 &&
           (json->at[n] == '\0' || strchr("+-.0123456789eE", json->at[n]) != NULL))
        n++;
    memcpy(text, json->at, n);
    text[n] = '\0';
    return strtod(text, NULL);
}

/* The amount of one request; 0: unknown. */
static double read_amount(struct strview request)
{
    struct json json = json_over(request);
    struct json_text key;
    bool started = false;
    while (json_next_member(&json, &started, &key)) {
        if (json_text_is(key, strview_of("Amount")))
            return read_number(&json);
        (void)json_skip(&json);
    }
    return 0.0;
}

/* The amount that is requested of a resource; 0: none is. */
static double find_amount(struct strview requests, struct strview resource)
{
    struct json json = json_over(requests);
    struct json_text key;
    struct strview request;
    bool started = false;
    while (requests.at != NULL && json_next_member(&json, &started, &key))
        if (json_read_raw(&json, &request) && json_text_is(key, resource))
            return read_amount(request);
    return 0.0;
}

static int64_t find_count(struct strview requests, const char *resource)
{
    double amount = find_amount(requests, strview_of(resource));
    return amount >= 1.0 && amount <= EVENTS_COUNT_MAX ? (int64_t)amount : RUN_UNKNOWN;
}

/* The name of a custom resource, such as "gpu". False: it is a text that is not kept. */
static bool keep_name(struct json_text key, char name[RESOURCE_NAME_MAX])
{
    return json_text_keep(key, name, RESOURCE_NAME_MAX) && name[0] != '\0' &&
           name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-")] == '\0';
}

/* The first so many requests of a task are read: each is looked up among those of the executor. */
enum { TASK_REQUESTS_MAX = 32 };

/* The custom resource of a task that allows the fewest tasks at once. */
static struct profile_resource find_resource(const struct profile_event *event)
{
    struct profile_resource found = {.per_executor = RUN_UNKNOWN};
    struct json json = json_over(event->task_requests);
    struct json_text key;
    struct strview request;
    int64_t fewest = INT64_MAX;
    bool started = false;
    for (size_t i = 0; i < TASK_REQUESTS_MAX && event->task_requests.at != NULL &&
                       json_next_member(&json, &started, &key);
         i++) {
        struct profile_resource seen = {.per_executor = RUN_UNKNOWN};
        if (!json_read_raw(&json, &request) || !keep_name(key, seen.name) ||
            strcmp(seen.name, "cpus") == 0)
            continue;
        seen.per_task = fmin(read_amount(request), EVENTS_COUNT_MAX);
        seen.per_executor = find_count(event->executor_requests, seen.name);
        int64_t tasks = task_slots_by_resource(seen.per_executor, seen.per_task);
        if (tasks == RUN_UNKNOWN || tasks >= fewest)
            continue;
        fewest = tasks;
        found = seen;
    }
    return found;
}

enum pv_code event_resource_profile(struct sparklog *log, struct json *line, struct pv_error *err)
{
    (void)err;
    struct profile_event event = {.id = -1};
    if (!events_read(line, &profile_shape, &event) || event.id < 0)
        return PV_OK;
    struct profile *profile = sparklog_get_profile(log, event.id);
    if (profile == NULL)
        return PV_OK;
    profile->cores_asked = find_count(event.executor_requests, "cores");
    profile->memory_mib = find_count(event.executor_requests, "memory");
    profile->task_cpus = find_count(event.task_requests, "cpus");
    profile->resource = find_resource(&event);
    return PV_OK;
}

static int64_t count_addresses(struct strview resource)
{
    struct json json = json_over(resource);
    struct json_text key;
    int64_t n = 0;
    bool in_resource = false, in_list = false;
    while (json_next_member(&json, &in_resource, &key)) {
        struct strview list;
        if (!json_text_is(key, strview_of("addresses"))) {
            (void)json_skip(&json);
            continue;
        }
        struct json addresses = json_over(json_read_raw(&json, &list) ? list : strview_of("[]"));
        while (json_next_element(&addresses, &in_list) && json_skip(&addresses))
            n++;
    }
    return n;
}

void events_see_addresses(struct profile *profile, struct strview resources)
{
    struct json json = json_over(resources);
    struct json_text key;
    struct strview resource;
    bool started = false;
    if (profile == NULL || profile->resource.name[0] == '\0')
        return;
    while (json_next_member(&json, &started, &key)) {
        if (!json_read_raw(&json, &resource) ||
            !json_text_is(key, strview_of(profile->resource.name)))
            continue;
        int64_t n = count_addresses(resource);
        if (n > profile->resource.per_executor)
            profile->resource.per_executor = n;
    }
}
