/*
 * Cores of containers by the subresource `resize` of their pods (Kubernetes 1.33 or later; KEP-1287,
 * in-place update of pod resources): a strategic merge patch of the container's limits.cpu, and of
 * requests.cpu with it. Cores are rounded down to whole milli-CPUs, so that grants of a worker never
 * add up to more than they did, but no container gets less than one.
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actuator/configuration.h"
#include "actuator/target.h"
#include "cli/http/retry.h"
#include "cli/output/json_text.h"
#include "cli/remote/remote.h"

enum { NAMESPACE_TEXT = 64, POD_NAME_MAX = 253, TRIES_MAX = 3 };

static const char namespace_file[] = "/var/run/secrets/kubernetes.io/serviceaccount/namespace";

struct kubernetes {
    const struct configuration *configuration;
    char namespace_name[NAMESPACE_TEXT];
    struct settings settings; /* of its API, in place of the service's */
    struct remote *remote;
};

/* --- requests --- */

/* A token lives an hour or so, and its file has the next one in time. */
static bool refresh_token(struct kubernetes *k, struct failure *failure)
{
    const char *file = k->configuration->token_file;
    return file == NULL || settings_read_token_file(file, k->settings.token, failure);
}

static enum target_outcome explain(const char *place,
                                   const struct remote_reply *reply,
                                   const struct failure *network,
                                   struct failure *failure)
{
    const char *message = json_text_at(reply->json, "message", "");
    switch (reply->status) {
    case 0:
        (void)fail(failure, EXIT_FAILED, "%s: %s", place, network->what);
        return TARGET_AWAY;
    case 404:
        (void)fail(failure, EXIT_FAILED, "%s: there is no such pod, or no `resize` of pods: %s",
                   place, message);
        return TARGET_GONE;
    case 400:
    case 422:
        (void)fail(failure, EXIT_FAILED, "%s: Kubernetes does not take these cores: %s", place,
                   message);
        return TARGET_REFUSED;
    case 403:
        (void)fail_next(failure, "the service account needs get of pods and patch of pods/resize");
        break;
    default:
        break;
    }
    (void)fail(failure, EXIT_FAILED, "%s: Kubernetes answered %ld: %s", place, reply->status,
               message);
    return TARGET_FAILED;
}

/* 409: somebody else has changed the pod meanwhile. What may pass otherwise, remote_call repeats. */
static bool is_passing(long status)
{
    return status == 409 || status == 500;
}

/* The reply is to be cleared in any case. */
static enum target_outcome call(struct kubernetes *k,
                                const char *place,
                                const struct remote_request *request,
                                struct remote_reply *reply,
                                struct failure *failure)
{
    const struct retry_policy policy = {.attempts_max = TRIES_MAX, .first_s = 0.1, .wait_s_max = 1};
    struct failure own = {.status = EXIT_DONE};
    *reply = (struct remote_reply){.status = 0};
    if (!refresh_token(k, failure))
        return TARGET_FAILED;
    for (unsigned attempt = 1;; attempt++) {
        remote_reply_clear(reply);
        own = (struct failure){.status = EXIT_DONE};
        if (remote_call(k->remote, request, reply, &own))
            return TARGET_DONE;
        double wait = retry_wait_s(&policy, attempt, 0, retry_draw());
        if (!is_passing(reply->status) || wait < 0)
            break;
        (void)retry_sleep(wait, NULL);
    }
    return explain(place, reply, &own, failure);
}

/* DNS labels with dots between them: so no other path than that of a pod. */
static bool is_pod_name(const char *name)
{
    size_t n = strlen(name);
    if (n == 0 || n > POD_NAME_MAX || !isalnum((unsigned char)name[0]) ||
        !isalnum((unsigned char)name[n - 1]) || strstr(name, "..") != NULL)
        return false;
    return strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-.") == n;
}

static enum target_outcome pod_path(struct kubernetes *k,
                                    const char *place,
                                    const char *behind,
                                    char path[1024],
                                    struct failure *failure)
{
    if (!is_pod_name(place)) {
        (void)fail(failure, EXIT_FAILED, "'%.200s' is no name of a pod, and is not applied", place);
        return TARGET_REFUSED;
    }
    (void)snprintf(path, 1024, "/api/v1/namespaces/%s/pods/%s%s", k->namespace_name, place, behind);
    return TARGET_DONE;
}

/* --- reading --- */

static const json_t *find_container(const json_t *pod, const char *name)
{
    const json_t *containers = json_at(pod, "spec.containers");
    for (size_t i = 0; i < json_array_size(containers); i++) {
        const json_t *container = json_array_get(containers, i);
        if (strcmp(json_text_at(container, "name", ""), name) == 0)
            return container;
    }
    return NULL;
}

static enum target_outcome
kubernetes_read(void *context, const char *place, char text[QUOTA_TEXT], struct failure *failure)
{
    struct kubernetes *k = context;
    char path[1024];
    struct remote_reply reply = {.status = 0};
    const struct remote_request request = {.method = "GET", .path = path};
    enum target_outcome outcome = pod_path(k, place, "", path, failure);
    if (outcome == TARGET_DONE)
        outcome = call(k, place, &request, &reply, failure);
    if (outcome == TARGET_DONE) {
        const json_t *container = find_container(reply.json, k->configuration->container);
        (void)snprintf(text, QUOTA_TEXT, "%.40s %.40s",
                       json_text_at(container, "resources.limits.cpu", "-"),
                       json_text_at(container, "resources.requests.cpu", "-"));
        if (container == NULL) {
            (void)fail(failure, EXIT_FAILED, "%s: the pod has no container %s", place,
                       k->configuration->container);
            outcome = TARGET_REFUSED;
        }
    }
    remote_reply_clear(&reply);
    return outcome;
}

/* --- writing --- */

static char *patch_text(const struct kubernetes *k, const char *limit, const char *request)
{
    bool requests = strcmp(request, "-") != 0;
    json_t *patch =
        requests ? json_pack("{s:{s:[{s:s, s:{s:{s:s}, s:{s:s}}}]}}", "spec", "containers", "name",
                             k->configuration->container, "resources", "limits", "cpu", limit,
                             "requests", "cpu", request)
                 : json_pack("{s:{s:[{s:s, s:{s:{s:s}}}]}}", "spec", "containers", "name",
                             k->configuration->container, "resources", "limits", "cpu", limit);
    char *text = patch == NULL ? NULL : json_dumps(patch, JSON_COMPACT);
    json_decref(patch);
    return text;
}

/* The kubelet says in the pod's status what became of the resize before. */
static void check_conditions(const char *place, const json_t *pod, struct failure *failure)
{
    const json_t *conditions = json_at(pod, "status.conditions");
    for (size_t i = 0; i < json_array_size(conditions); i++) {
        const json_t *condition = json_array_get(conditions, i);
        if (strcmp(json_text_at(condition, "type", ""), "PodResizePending") == 0 &&
            strcmp(json_text_at(condition, "reason", ""), "Infeasible") == 0)
            (void)fail(failure, EXIT_FAILED,
                       "%s: its node could not give the cores of the resize before this: %s", place,
                       json_text_at(condition, "message", "infeasible"));
    }
}

static enum target_outcome
kubernetes_write(void *context, const char *place, const char *text, struct failure *failure)
{
    struct kubernetes *k = context;
    char path[1024];
    char limit[48];
    char request_cpu[48];
    struct remote_reply reply = {.status = 0};
    if (sscanf(text, "%47s %47s", limit, request_cpu) != 2 || strcmp(limit, "-") == 0) {
        (void)fail(failure, EXIT_FAILED,
                   "%s: it had no limit of cores before, and Kubernetes takes none away", place);
        return TARGET_REFUSED;
    }
    enum target_outcome outcome = pod_path(k, place, "/resize", path, failure);
    char *body = outcome == TARGET_DONE ? patch_text(k, limit, request_cpu) : NULL;
    if (body != NULL) {
        const struct remote_request request = {.method = "PATCH",
                                               .path = path,
                                               .text = body,
                                               .n_text = strlen(body),
                                               .content_type =
                                                   "application/strategic-merge-patch+json"};
        outcome = call(k, place, &request, &reply, failure);
        if (outcome == TARGET_DONE)
            check_conditions(place, reply.json, failure);
    } else if (outcome == TARGET_DONE) {
        (void)fail_memory(failure);
        outcome = TARGET_FAILED;
    }
    free(body);
    remote_reply_clear(&reply);
    return outcome;
}

/* What counts as a whole milli-CPU is one: 0.35 is a little less than 350 thousandths. */
static void
kubernetes_format(const void *context, double cores, const char *cpu_max, char text[QUOTA_TEXT])
{
    const struct kubernetes *k = context;
    double milli = fmax(1, floor(cores * 1000 + 1e-6));
    (void)cpu_max;
    if (k->configuration->equal_requests)
        (void)snprintf(text, QUOTA_TEXT, "%.0fm %.0fm", milli, milli);
    else
        (void)snprintf(text, QUOTA_TEXT, "%.0fm -", milli);
}

/* A quantity of CPU: "2", "0.5", "500m". */
static double kubernetes_cores(const char *text)
{
    char *end = NULL;
    if (text[0] == '-')
        return (double)INFINITY;
    double value = strtod(text, &end);
    if (end == text)
        return (double)NAN;
    return *end == 'm' ? value / 1000 : value;
}

/* --- opening --- */

static bool find_namespace(struct kubernetes *k, struct failure *failure)
{
    const char *given = k->configuration->namespace_name;
    FILE *in = given == NULL ? fopen(namespace_file, "re") : NULL;
    if (in != NULL) {
        if (fgets(k->namespace_name, sizeof k->namespace_name, in) == NULL)
            k->namespace_name[0] = '\0';
        k->namespace_name[strcspn(k->namespace_name, " \n")] = '\0';
        (void)fclose(in);
    } else if (given != NULL) {
        (void)snprintf(k->namespace_name, sizeof k->namespace_name, "%s", given);
    }
    if (strlen(k->namespace_name) == 0 || !is_pod_name(k->namespace_name) ||
        (given != NULL && strcmp(given, k->namespace_name) != 0))
        return fail(failure, EXIT_USAGE, "kubernetes.namespace must be the name of a namespace");
    return true;
}

static bool find_api(struct kubernetes *k, struct failure *failure)
{
    const struct configuration *c = k->configuration;
    const char *host = getenv("KUBERNETES_SERVICE_HOST");
    const char *port = getenv("KUBERNETES_SERVICE_PORT_HTTPS");
    struct settings *s = &k->settings;
    *s = (struct settings){.url_chosen = true, .timeout_s = 5, .attempts_max = TRIES_MAX};
    (void)snprintf(s->url_from, sizeof s->url_from, "kubernetes.api");
    (void)snprintf(s->ca_file, sizeof s->ca_file, "%s", c->ca_file == NULL ? "" : c->ca_file);
    if (c->api != NULL) {
        (void)snprintf(s->url, sizeof s->url, "%s", c->api);
        size_t n = strlen(s->url);
        while (n > 0 && s->url[n - 1] == '/')
            s->url[--n] = '\0';
        return true;
    }
    if (host == NULL)
        return fail(failure, EXIT_USAGE,
                    "kubernetes.api is required, for this runs in no cluster "
                    "(KUBERNETES_SERVICE_HOST)");
    bool v6 = strchr(host, ':') != NULL;
    (void)snprintf(s->url, sizeof s->url, "https://%s%s%s:%s", v6 ? "[" : "", host, v6 ? "]" : "",
                   port == NULL ? "443" : port);
    return true;
}

static void kubernetes_close(void *context)
{
    struct kubernetes *k = context;
    remote_close(k->remote);
    settings_clear(&k->settings);
    free(k);
}

bool kubernetes_open(const struct configuration *configuration,
                     struct target *target,
                     struct failure *failure)
{
    struct kubernetes *k = calloc(1, sizeof *k);
    if (k == NULL)
        return fail_memory(failure);
    k->configuration = configuration;
    /* Without `stop`: what was there before is put back after a signal, too. */
    if (!find_api(k, failure) || !find_namespace(k, failure) || !refresh_token(k, failure) ||
        !remote_open(&k->settings, NULL, &k->remote, failure)) {
        kubernetes_close(k);
        return false;
    }
    *target = (struct target){.context = k,
                              .read = kubernetes_read,
                              .write = kubernetes_write,
                              .format = kubernetes_format,
                              .cores = kubernetes_cores,
                              .close = kubernetes_close};
    return true;
}
