#include "actuator/configuration.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static bool
read_text(const char *text, struct configuration *configuration, struct failure *failure)
{
    char file[] = "/tmp/actuate-XXXXXX";
    int fd = mkstemp(file);
    FILE *out = fdopen(fd, "w");
    fputs(text, out);
    (void)fclose(out);
    bool good = configuration_read(file, configuration, failure);
    (void)unlink(file);
    return good;
}

Test(configuration, has_defaults)
{
    struct configuration c;
    struct failure failure = {.status = EXIT_DONE};
    cr_assert(read_text("loop: nightly\ncgroup: {root: /sys/fs/cgroup}\n", &c, &failure), "%s",
              failure.what);
    cr_assert_str_eq(c.loop, "nightly");
    cr_assert_eq(c.kind, TARGET_CGROUP);
    cr_assert_str_eq(c.pattern, "{executor}");
    cr_assert_eq(c.on_stale, STALE_KEEP);
    cr_assert_eq(configuration_stale_after_s(&c, 1), 15);
    cr_assert_eq(configuration_stale_after_s(&c, 60), 180);
    cr_assert_eq(c.floor_cores, 0.1);
    cr_assert_eq(c.period_us, 100000);
    cr_assert(!c.restore_on_exit && c.restore_on_leave && c.state_file == NULL &&
              c.workers == NULL);
    configuration_free(&c);
}

Test(configuration, of_a_cluster_names_the_service_account)
{
    struct configuration c;
    cr_assert(read_text("{\"loop\": \"n\", \"kubernetes\": {\"requests\": \"keep\"}}", &c, NULL));
    cr_assert_eq(c.kind, TARGET_KUBERNETES);
    cr_assert(!c.equal_requests);
    cr_assert_str_eq(c.token_file, "/var/run/secrets/kubernetes.io/serviceaccount/token");
    cr_assert_str_eq(c.ca_file, "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt");
    cr_assert_str_eq(c.container, "spark-kubernetes-executor");
    configuration_free(&c);
}

Test(configuration, that_is_wrong_is_a_failure_of_usage)
{
    static const char *const wrong[] = {"",
                                        "[]",
                                        "loop: 1\ncgroup: {root: /a}",
                                        "cgroup: {root: /a}",
                                        "loop: x",
                                        "loop: x\ncgroup: []",
                                        "loop: x\ncgroup: {root: a}",
                                        "loop: x\ncgroup: {root: /a, period_us: 999}",
                                        "loop: x\npoll_s: fast\ncgroup: {root: /a}",
                                        "loop: x\nextra: 1\ncgroup: {root: /a}",
                                        "loop: x\ncgroup: {root: /a, executors: {a: 1}}",
                                        "loop: x\nworkers: [1]\ncgroup: {root: /a}",
                                        "loop: x\nkubernetes: {requests: some}"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct configuration c;
        struct failure failure = {.status = EXIT_DONE};
        cr_assert(!read_text(wrong[i], &c, &failure), "%s", wrong[i]);
        cr_assert_eq(failure.status, EXIT_USAGE, "%s", wrong[i]);
        configuration_free(&c);
    }
    cr_assert(!configuration_read("/none/such", &(struct configuration){0}, NULL));
}
