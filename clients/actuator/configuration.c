#include "actuator/configuration.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/input/document.h"

enum { FILE_BYTES_MAX = 1 << 20 };

static const double STALE_AFTER_S = 15;

static const char service_account[] = "/var/run/secrets/kubernetes.io/serviceaccount";

/* A mapping of the file, with where it stands for messages. */
struct section {
    const json_t *json;
    const char *file;
    const char *where; /* "" or "cgroup." */
    struct failure *failure;
};

static bool wrong(const struct section *s, const char *key, const char *what)
{
    return fail(s->failure, EXIT_USAGE, "%s: %s%s %s", s->file, s->where, key, what);
}

static bool check_keys(const struct section *s, const char *const known[])
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)s->json, key, value)
    {
        size_t i = 0;
        while (known[i] != NULL && strcmp(known[i], key) != 0)
            i++;
        if (known[i] == NULL)
            return wrong(s, key, "is no setting");
    }
    return true;
}

static bool read_text(const struct section *s, const char *key, const char **text)
{
    const json_t *value = json_object_get(s->json, key);
    if (value == NULL)
        return true;
    if (!json_is_string(value) || json_string_length(value) == 0 ||
        strlen(json_string_value(value)) != json_string_length(value))
        return wrong(s, key, "must be a text");
    *text = json_string_value(value);
    return true;
}

static bool
read_number(const struct section *s, const char *key, double low, double high, double *number)
{
    const json_t *value = json_object_get(s->json, key);
    char range[96];
    if (value == NULL)
        return true;
    (void)snprintf(range, sizeof range, "must be a number from %g to %g", low, high);
    double given = json_is_number(value) ? json_number_value(value) : (double)NAN;
    if (!(given >= low && given <= high))
        return wrong(s, key, range);
    *number = given;
    return true;
}

/* The place of the text in `words`, which stands in messages as "a, b or c". */
static bool read_word(const struct section *s,
                      const char *key,
                      const char *const words[],
                      const char *choice,
                      unsigned *place)
{
    const char *text = NULL;
    if (!read_text(s, key, &text))
        return false;
    if (text == NULL)
        return true;
    for (unsigned i = 0; words[i] != NULL; i++)
        if (strcmp(words[i], text) == 0) {
            *place = i;
            return true;
        }
    return wrong(s, key, choice);
}

static bool read_names(const struct section *s, const char *key, const json_t **names)
{
    const json_t *list = json_object_get(s->json, key);
    if (list == NULL)
        return true;
    if (!json_is_array(list) || json_array_size(list) == 0)
        return wrong(s, key, "must be a list of names");
    for (size_t i = 0; i < json_array_size(list); i++)
        if (!json_is_string(json_array_get(list, i)))
            return wrong(s, key, "must be a list of names");
    *names = list;
    return true;
}

static bool read_places(const struct section *s, const json_t **places)
{
    const json_t *map = json_object_get(s->json, "executors");
    const char *key;
    json_t *value;
    if (map == NULL)
        return true;
    if (!json_is_object(map))
        return wrong(s, "executors", "must map ids of executors to places");
    json_object_foreach((json_t *)(uintptr_t)map, key, value)
    {
        if (!json_is_string(value))
            return wrong(s, "executors", "must map ids of executors to places");
    }
    *places = map;
    return true;
}

static bool check_pattern(const struct section *s, const char *key, const char *pattern)
{
    for (const char *at = pattern; (at = strchr(at, '{')) != NULL; at++)
        if (strncmp(at, "{executor}", 10) != 0 && strncmp(at, "{application}", 13) != 0 &&
            strncmp(at, "{worker}", 8) != 0)
            return wrong(s, key, "may hold {executor}, {application} and {worker}");
    return true;
}

static bool read_cgroup(const struct section *s, struct configuration *c)
{
    static const char *const known[] = {"root", "place", "executors", "period_us", NULL};
    double period_us = 100000;
    c->kind = TARGET_CGROUP;
    c->pattern = "{executor}";
    if (!check_keys(s, known) || !read_text(s, "root", &c->root) ||
        !read_text(s, "place", &c->pattern) || !read_places(s, &c->executors) ||
        !read_number(s, "period_us", 1000, 1000000, &period_us))
        return false;
    c->period_us = (int64_t)period_us;
    if (c->root == NULL || c->root[0] != '/')
        return wrong(s, "root", "must be the absolute path of a folder");
    return check_pattern(s, "place", c->pattern);
}

static bool read_kubernetes(const struct section *s, struct configuration *c)
{
    static const char *const known[] = {"namespace",  "pod",     "executors", "container", "api",
                                        "token_file", "ca_file", "requests",  NULL};
    static const char *const requests[] = {"keep", "equal", NULL};
    unsigned equal = 1;
    c->kind = TARGET_KUBERNETES;
    c->pattern = "{executor}";
    c->container = "spark-kubernetes-executor";
    if (!check_keys(s, known) || !read_text(s, "namespace", &c->namespace_name) ||
        !read_text(s, "pod", &c->pattern) || !read_places(s, &c->executors) ||
        !read_text(s, "container", &c->container) || !read_text(s, "api", &c->api) ||
        !read_text(s, "token_file", &c->token_file) || !read_text(s, "ca_file", &c->ca_file) ||
        !read_word(s, "requests", requests, "must be keep or equal", &equal))
        return false;
    c->equal_requests = equal == 1;
    if (c->api != NULL && c->namespace_name == NULL)
        return wrong(s, "namespace", "is required with api");
    return check_pattern(s, "pod", c->pattern);
}

static bool read_target(const struct section *top, struct configuration *c)
{
    const json_t *cgroup = json_object_get(top->json, "cgroup");
    const json_t *kubernetes = json_object_get(top->json, "kubernetes");
    if (!json_is_object(cgroup == NULL ? kubernetes : cgroup) ||
        (cgroup != NULL && kubernetes != NULL))
        return fail(top->failure, EXIT_USAGE,
                    "%s: either cgroup or kubernetes is required, as a mapping", top->file);
    const struct section s = {cgroup != NULL ? cgroup : kubernetes, top->file,
                              cgroup != NULL ? "cgroup." : "kubernetes.", top->failure};
    return cgroup != NULL ? read_cgroup(&s, c) : read_kubernetes(&s, c);
}

static bool read_document(const struct section *s, struct configuration *c)
{
    static const char *const known[] = {"loop",        "poll_s",  "stale_after_s", "on_stale",
                                        "floor_cores", "on_exit", "on_leave",      "state_file",
                                        "workers",     "cgroup",  "kubernetes",    NULL};
    static const char *const stale[] = {"keep", "release", "floor", NULL};
    static const char *const ends[] = {"keep", "restore", NULL};
    unsigned on_stale = STALE_KEEP;
    unsigned on_exit = 0;
    unsigned on_leave = 1;
    if (!json_is_object(s->json))
        return fail(s->failure, EXIT_USAGE, "%s must be a mapping", s->file);
    if (!check_keys(s, known) || !read_text(s, "loop", &c->loop) ||
        !read_number(s, "poll_s", 0.05, 3600, &c->poll_s) ||
        !read_number(s, "stale_after_s", 0.1, 1e6, &c->stale_after_s) ||
        !read_number(s, "floor_cores", 0.001, 1e6, &c->floor_cores) ||
        !read_word(s, "on_stale", stale, "must be keep, release or floor", &on_stale) ||
        !read_word(s, "on_exit", ends, "must be keep or restore", &on_exit) ||
        !read_word(s, "on_leave", ends, "must be keep or restore", &on_leave) ||
        !read_text(s, "state_file", &c->state_file) || !read_names(s, "workers", &c->workers))
        return false;
    c->on_stale = (enum stale_action)on_stale;
    c->restore_on_exit = on_exit == 1;
    c->restore_on_leave = on_leave == 1;
    if (c->loop == NULL)
        return wrong(s, "loop", "is required: the name of the quota loop");
    return read_target(s, c);
}

static json_t *read_file(const char *file, struct failure *failure)
{
    FILE *in = fopen(file, "re");
    char *text = malloc(FILE_BYTES_MAX);
    json_t *document = NULL;
    if (in == NULL || text == NULL) {
        (void)fail(failure, EXIT_USAGE, "%s cannot be read: %s", file, strerror(errno));
    } else {
        size_t n = fread(text, 1, FILE_BYTES_MAX, in);
        if (ferror(in) != 0 || n == FILE_BYTES_MAX)
            (void)fail(failure, EXIT_USAGE, "%s cannot be read, or is too large", file);
        else
            document = document_read(text, n, file, failure);
    }
    if (in != NULL)
        (void)fclose(in);
    free(text);
    return document;
}

bool configuration_read(const char *file,
                        struct configuration *configuration,
                        struct failure *failure)
{
    *configuration = (struct configuration){.floor_cores = 0.1};
    configuration->document = read_file(file, failure);
    if (configuration->document == NULL)
        return false;
    const struct section top = {configuration->document, file, "", failure};
    if (!read_document(&top, configuration))
        return false;
    if (configuration->kind == TARGET_KUBERNETES && configuration->api == NULL) {
        static char token[sizeof service_account + 16];
        static char ca[sizeof service_account + 16];
        (void)snprintf(token, sizeof token, "%s/token", service_account);
        (void)snprintf(ca, sizeof ca, "%s/ca.crt", service_account);
        configuration->token_file =
            configuration->token_file == NULL ? token : configuration->token_file;
        configuration->ca_file = configuration->ca_file == NULL ? ca : configuration->ca_file;
    }
    return true;
}

double configuration_stale_after_s(const struct configuration *configuration, double sample_s)
{
    double given = configuration->stale_after_s;
    return given > 0 ? given : fmax(STALE_AFTER_S, 3 * sample_s);
}

void configuration_free(struct configuration *configuration)
{
    json_decref(configuration->document);
    configuration->document = NULL;
}
