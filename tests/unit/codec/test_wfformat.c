#include "codec/geo/wfformat.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/geosim/montage_figures.h"

enum { MOST = 1000, OPERATIONS = 16 };

static struct arena arena;
static struct pv_error err;
static struct codec_operations operations;

static void setup(void)
{
    arena_init(&arena, 0);
    pv_error_clear(&err);
    operations.names = arena_array(&arena, OPERATIONS, sizeof *operations.names);
    operations.n = 0;
    operations.most = OPERATIONS;
}

static void teardown(void)
{
    arena_fini(&arena);
}

TestSuite(wfformat, .init = setup, .fini = teardown);

static enum pv_code decode_text(const char *text, size_t n, struct geosim_recording *recording)
{
    const struct codec_bounds bounds = {.depth = 32, .values = 1000000};
    struct codec_document document;
    PV_TRY(codec_open(&document, text, n, &bounds, &arena, &err));
    codec_wfformat_decode(&document.top, MOST, &operations, recording);
    return codec_close(&document);
}

/* A document of these tasks, files and executions. */
static enum pv_code decode_parts(const char *tasks,
                                 const char *files,
                                 const char *executions,
                                 struct geosim_recording *recording)
{
    const char *text = arena_printf(
        &arena,
        "{\"name\": \"w\", \"schemaVersion\": \"1.5\", \"workflow\": {\"specification\": "
        "{\"tasks\": [%s], \"files\": [%s]}, \"execution\": {\"makespanInSeconds\": 1, "
        "\"executedAt\": \"now\", \"tasks\": [%s]}}}",
        tasks, files, executions);
    return decode_text(text, strlen(text), recording);
}

/* The child stands first and says nothing of files it waits for but that it reads them. */
static const char *const TASKS =
    "{\"name\": \"join_2\", \"id\": \"c\", \"parents\": [\"a\"], \"children\": [], "
    "\"inputFiles\": [\"fa\", \"fb\", \"raw\", \"fa\"], \"outputFiles\": []}, "
    "{\"name\": \"cut_ID0001\", \"id\": \"a\", \"parents\": [], \"children\": [\"c\"], "
    "\"inputFiles\": [\"raw\"], \"outputFiles\": [\"fa\"]}, "
    "{\"name\": \"cut_ID0002\", \"id\": \"b\", \"parents\": [], \"children\": [], "
    "\"outputFiles\": [\"fb\"]}";
static const char *const FILES = "{\"id\": \"raw\", \"sizeInBytes\": 100}, "
                                 "{\"id\": \"fa\", \"sizeInBytes\": 7}, "
                                 "{\"id\": \"fb\", \"sizeInBytes\": 5}";
static const char *const EXECUTIONS =
    "{\"id\": \"a\", \"runtimeInSeconds\": 1.5}, {\"id\": \"b\", \"runtimeInSeconds\": 0}, "
    "{\"id\": \"c\", \"runtimeInSeconds\": 4, \"command\": {\"program\": \"/usr/bin/join\"}}";

/* Parents come first whatever the order of the document; a task waits for those whose files it
 * reads, too; what it reads is told apart by whence; programs or names without numbers are
 * operations. */
Test(wfformat, reads_graph_bytes_and_times)
{
    struct geosim_recording got;
    cr_assert_eq(decode_parts(TASKS, FILES, EXECUTIONS, &got), PV_OK, "%s", err.faults[0].detail);
    cr_assert_eq(got.n_tasks, 3);
    const struct geosim_recorded_task *a = &got.tasks[0];
    const struct geosim_recorded_task *b = &got.tasks[1];
    const struct geosim_recorded_task *c = &got.tasks[2];
    cr_assert_eq(a->n_parents + b->n_parents, 0);
    cr_assert_eq(a->work_s, 1.5);
    cr_assert_eq(a->output_bytes, 7);
    cr_assert_eq(a->n_files, 1);
    cr_assert_eq(b->n_files, 0);
    cr_assert_eq(c->n_parents, 2);
    cr_assert_eq(c->parents[0], 0);
    cr_assert_eq(c->parents[1], 1);
    cr_assert_eq(c->parent_bytes[0], 7, "a file named twice is read once");
    cr_assert_eq(c->parent_bytes[1], 5);
    cr_assert_eq(geosim_recording_raw(&got, 2), 100);
    cr_assert_eq(geosim_recording_input(&got, 2), 112);
    cr_assert_eq(a->operation, b->operation);
    cr_assert(strview_is(operations.names[a->operation], "cut"));
    cr_assert(strview_is(operations.names[c->operation], "join"));
}

static void expect_fault(const char *tasks,
                         const char *files,
                         const char *executions,
                         const char *pointer,
                         const char *code)
{
    struct geosim_recording got;
    pv_error_clear(&err);
    operations.n = 0;
    cr_assert_eq(decode_parts(tasks, files, executions, &got), PV_E_INVALID, "%s", code);
    cr_assert_str_eq(err.faults[0].code, code);
    cr_assert_str_eq(err.faults[0].at, pointer);
}

#define TASK(id, parents, in, out)                                                                 \
    "{\"name\": \"t\", \"id\": \"" id "\", \"parents\": [" parents                                 \
    "], \"children\": [], \"inputFiles\": [" in "], \"outputFiles\": [" out "]}"
#define RAN(id) "{\"id\": \"" id "\", \"runtimeInSeconds\": 1}"
#define SPECIFIED "/workflow/specification"

/* Everything that makes a document no graph is told where it stands. */
Test(wfformat, names_what_is_wrong)
{
    const char *one = TASK("a", "", "", "");
    expect_fault(TASK("a", "\"b\"", "", "") ", " TASK("b", "\"a\"", "", ""), "",
                 RAN("a") ", " RAN("b"), SPECIFIED "/tasks/0/parents", "cycle");
    expect_fault(TASK("a", "\"a\"", "", ""), "", RAN("a"), SPECIFIED "/tasks/0/parents", "cycle");
    expect_fault(TASK("a", "\"x\"", "", ""), "", RAN("a"), SPECIFIED "/tasks/0/parents/0",
                 "unknown");
    expect_fault(TASK("a", "", "\"x\"", ""), "", RAN("a"), SPECIFIED "/tasks/0/inputFiles/0",
                 "unknown");
    expect_fault(TASK("a", "", "", "\"f\"") ", " TASK("b", "", "", "\"f\""),
                 "{\"id\": \"f\", \"sizeInBytes\": 1}", RAN("a") ", " RAN("b"),
                 SPECIFIED "/tasks/1/outputFiles/0", "duplicate");
    expect_fault(TASK("a", "", "", "") ", " TASK("a", "", "", ""), "", RAN("a"),
                 SPECIFIED "/tasks/1/id", "duplicate");
    expect_fault(one, "{\"id\": \"f\", \"sizeInBytes\": -1}", RAN("a"),
                 SPECIFIED "/files/0/sizeInBytes", "out_of_range");
    expect_fault(one, "", "{\"id\": \"a\", \"runtimeInSeconds\": -1}",
                 "/workflow/execution/tasks/0/runtimeInSeconds", "out_of_range");
    expect_fault(one, "", RAN("x"), "/workflow/execution/tasks/0/id", "unknown");
    expect_fault(TASK("a", "", "", "") ", " TASK("b", "", "", ""), "", RAN("a"),
                 SPECIFIED "/tasks/1/id", "not_executed");
    expect_fault(TASK("a", "", "", "") ", " TASK("b", "", "", ""), "", RAN("a") ", " RAN("a"),
                 "/workflow/execution/tasks/1/id", "duplicate");
    expect_fault(TASK("a", "5", "", ""), "", RAN("a"), SPECIFIED "/tasks/0/parents/0",
                 "wrong_type");
}

Test(wfformat, refuses_other_schemas_and_too_many_operations)
{
    struct geosim_recording got;
    const char *text = "{\"name\": \"w\", \"schemaVersion\": \"1.3\", \"workflow\": {}}";
    cr_assert_eq(decode_text(text, strlen(text), &got), PV_E_INVALID);
    cr_assert_str_eq(err.faults[0].at, "/schemaVersion");
    cr_assert_str_eq(err.faults[0].code, "unsupported_version");
    operations.most = 1;
    expect_fault(TASKS, FILES, EXECUTIONS, SPECIFIED "/tasks/0/name", "too_many_operations");
}

/* --- the recordings that the built-in figures were measured from --- */

static char *read_shared(const char *name, size_t *n)
{
    const char *shared = getenv("PROVISOR_SHARED");
    const char *path = arena_printf(&arena, "%s/data/montage/montage-chameleon-%s.json",
                                    shared != NULL ? shared : "../shared", name);
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        cr_skip_test("no shared data at %s (set PROVISOR_SHARED)", path);
    enum { SIZE = 1 << 20 };
    char *text = arena_alloc(&arena, SIZE);
    *n = fread(text, 1, SIZE, file);
    cr_assert(feof(file));
    (void)fclose(file);
    return text;
}

static struct geosim_recording read_recording(const char *name)
{
    struct geosim_recording got;
    size_t n;
    const char *text = read_shared(name, &n);
    cr_assert_eq(decode_text(text, n, &got), PV_OK, "%s: %s", name, err.faults[0].detail);
    return got;
}

/* Tasks, dependencies and bytes are those that data/README.md counts. */
Test(wfformat, reads_the_published_executions)
{
    static const struct {
        const char *name;
        size_t tasks;
        size_t dependencies;
        double work_s;
    } published[] = {{"2mass-005d-001", 58, 114, 221.7},
                     {"2mass-01d-001", 103, 231, 362.6},
                     {"dss-10d-001", 472, 1284, 37089.3}};
    for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
        struct geosim_recording got = read_recording(published[i].name);
        size_t dependencies = 0;
        double work = 0;
        for (size_t t = 0; t < got.n_tasks; t++) {
            dependencies += got.tasks[t].n_parents;
            work += got.tasks[t].work_s;
        }
        cr_assert_eq(got.n_tasks, published[i].tasks);
        cr_assert_eq(dependencies, published[i].dependencies);
        cr_assert_float_eq(work, published[i].work_s, 0.05);
    }
    cr_assert_eq(operations.n, MONTAGE_STEPS);
}

static void expect_close(double got, double wanted, int step, const char *what)
{
    /* Five digits are typed in; a scatter of 0 comes out as rounding noise. */
    cr_assert_float_eq(got, wanted, 1e-4 * fabs(wanted) + 1e-12, "%s of %s: %.9g, not %.9g", what,
                       geosim_montage_step_name((enum geosim_montage_step)step), got, wanted);
}

static void expect_figures(const struct geosim_montage_figures *got,
                           const struct geosim_montage_figures *wanted)
{
    for (int i = 0; i < MONTAGE_STEPS; i++) {
        const struct geosim_step_figures *a = &got->steps[i];
        const struct geosim_step_figures *b = &wanted->steps[i];
        expect_close(a->raw_bytes, b->raw_bytes, i, "raw bytes");
        expect_close(a->raw_rsd, b->raw_rsd, i, "raw rsd");
        expect_close(a->share, b->share, i, "share");
        expect_close(a->work_s.base, b->work_s.base, i, "work");
        expect_close(a->work_s.per_byte, b->work_s.per_byte, i, "work per byte");
        expect_close(a->work_s.rsd, b->work_s.rsd, i, "work rsd");
        expect_close(a->output_bytes.base, b->output_bytes.base, i, "output");
        expect_close(a->output_bytes.per_byte, b->output_bytes.per_byte, i, "output per byte");
        expect_close(a->output_bytes.rsd, b->output_bytes.rsd, i, "output rsd");
    }
}

/* The figures typed into the program are what the recordings show. */
Test(wfformat, built_in_figures_are_measured)
{
    struct geosim_montage_figures figures;
    const struct geosim_recording mass[] = {read_recording("2mass-005d-001"),
                                            read_recording("2mass-01d-001")};
    cr_assert_eq(geosim_montage_measure(mass, 2, operations.names, &arena, &figures, &err), PV_OK);
    expect_figures(&figures, &geosim_montage_2mass);
    const struct geosim_recording dss = read_recording("dss-10d-001");
    cr_assert_eq(geosim_montage_measure(&dss, 1, operations.names, &arena, &figures, &err), PV_OK);
    expect_figures(&figures, &geosim_montage_dss);
}

/* What is no Montage cannot be measured as one, and says what is missing. */
Test(wfformat, other_workflows_have_no_montage_figures)
{
    struct geosim_montage_figures figures;
    struct geosim_recording got;
    cr_assert_eq(decode_parts(TASKS, FILES, EXECUTIONS, &got), PV_OK);
    cr_assert_eq(geosim_montage_measure(&got, 1, operations.names, &arena, &figures, &err),
                 PV_E_INVALID);
    cr_assert(strstr(err.detail, "mProject") != NULL);
}
