#include "codec/geo/wfformat.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "base/plural.h"
#include "codec/json/bounds.h"
#include "codec/json/names.h"
#include "codec/json/text_index.h"

enum { TEXT_MAX = 1024 };

/* `child` waits for `parent` and reads so many bytes of it. */
struct edge {
    size_t child;
    size_t parent;
    double bytes;
};

struct document {
    struct arena *arena;
    struct codec_node tasks; /* of the specification */
    size_t n_tasks;
    struct text_index ids;
    double *work_s; /* NAN: no execution is recorded */
    struct strview *operations;
    struct codec_node files;
    size_t n_files;
    struct text_index file_ids;
    double *file_bytes;
    size_t *writer; /* task that writes the file; SIZE_MAX: it is raw */
    size_t *reader; /* the last task seen to read it */
    struct edge *edges;
    size_t n_edges;
    size_t n_reads; /* of raw files */
    size_t *order;  /* of the tasks, parents first */
    size_t *place;  /* in that order */
};

static bool sound(const struct codec_node *node)
{
    return node->reader->err->n_faults == 0 && node->reader->err->code == PV_OK;
}

/* The thing that an item names; SIZE_MAX and a fault when there is none. */
static size_t
wfformat_find(const struct codec_node *item, const struct text_index *index, const char *what)
{
    struct strview text = codec_string(item);
    if (text.at == NULL) {
        codec_fault(item, "wrong_type", "must be the id of a %s", what);
        return SIZE_MAX;
    }
    size_t found = text_index_find(index, text);
    if (found == SIZE_MAX)
        codec_fault(item, "unknown", "no %s of the document has the id %.*s", what,
                    (int)strview_clip(text, 100).n, text.at);
    return found;
}

/* --- lists of things with ids --- */

static bool
index_ids(struct document *d, const struct codec_node *list, size_t n, struct text_index *index)
{
    struct strview *ids = codec_allocate(list, n, sizeof *ids);
    if (ids == NULL)
        return false;
    for (size_t i = 0; i < n; i++) {
        struct codec_node item = codec_item(list, i);
        if (codec_expect_object(&item))
            ids[i] = codec_text(&item, "id", CODEC_REQUIRED, 1, TEXT_MAX);
    }
    codec_refuse_same_texts(list, "id", ids, n, "another one has this id");
    if (!sound(list))
        return false;
    bool made = text_index_make(index, ids, n, d->arena);
    if (!made)
        (void)pv_no_memory(list->reader->err);
    return made;
}

static bool read_files(struct document *d, const struct codec_node *specification)
{
    d->files = codec_array(specification, "files", CODEC_OPTIONAL, 0, SIZE_MAX);
    d->n_files = json_value_items(d->files.json);
    d->file_bytes = codec_allocate(specification, d->n_files, sizeof *d->file_bytes);
    d->writer = codec_allocate(specification, d->n_files, sizeof *d->writer);
    d->reader = codec_allocate(specification, d->n_files, sizeof *d->reader);
    if (d->file_bytes == NULL || d->writer == NULL || d->reader == NULL)
        return false;
    for (size_t i = 0; i < d->n_files; i++) {
        struct codec_node item = codec_item(&d->files, i);
        d->writer[i] = SIZE_MAX;
        d->reader[i] = SIZE_MAX;
        if (json_value_is_object(item.json))
            d->file_bytes[i] =
                (double)codec_integer(&item, "sizeInBytes", CODEC_REQUIRED, 0, CODEC_BYTES_MAX);
    }
    return index_ids(d, &d->files, d->n_files, &d->file_ids);
}

/* --- executions --- */

/* A name such as mProject_ID0000001 or align_17 without what numbers it. */
static struct strview without_number(struct strview name)
{
    size_t n = name.n;
    while (n > 0 && name.at[n - 1] >= '0' && name.at[n - 1] <= '9')
        n--;
    if (n == name.n)
        return name;
    if (n > 2 && memcmp(name.at + n - 2, "ID", 2) == 0)
        n -= 2;
    while (n > 0 && (name.at[n - 1] == '_' || name.at[n - 1] == '-' || name.at[n - 1] == '.'))
        n--;
    return n > 0 ? (struct strview){name.at, n} : name;
}

static struct strview without_folder(struct strview program)
{
    for (size_t i = program.n; i > 0; i--)
        if (program.at[i - 1] == '/' && i < program.n)
            return (struct strview){program.at + i, program.n - i};
    return program;
}

static void read_execution(struct document *d, const struct codec_node *node)
{
    struct codec_node id = codec_member(node, "id");
    if (id.json == NULL) {
        codec_fault_member(node, "id", "required", "is required");
        return;
    }
    size_t task = wfformat_find(&id, &d->ids, "task");
    double work = codec_number(node, "runtimeInSeconds", CODEC_REQUIRED, 0, CODEC_SECONDS_MAX);
    struct codec_node command = codec_object(node, "command", CODEC_NULLABLE);
    struct strview program = {NULL, 0};
    if (command.json != NULL)
        program = codec_text(&command, "program", CODEC_NULLABLE, 1, TEXT_MAX);
    if (task == SIZE_MAX || !sound(node))
        return;
    if (!isnan(d->work_s[task])) {
        codec_fault(&id, "duplicate", "this task was given before");
        return;
    }
    d->work_s[task] = work;
    if (program.at != NULL)
        d->operations[task] = without_folder(program);
}

static void read_executions(struct document *d, const struct codec_node *workflow)
{
    struct codec_node execution = codec_object(workflow, "execution", CODEC_REQUIRED);
    if (execution.json == NULL)
        return;
    struct codec_node list = codec_array(&execution, "tasks", CODEC_REQUIRED, 1, d->n_tasks);
    for (size_t i = 0; list.json != NULL && i < json_value_items(list.json); i++) {
        struct codec_node item = codec_item(&list, i);
        if (codec_expect_object(&item))
            read_execution(d, &item);
    }
    for (size_t i = 0; list.json != NULL && i < d->n_tasks && sound(workflow); i++) {
        struct codec_node item = codec_item(&d->tasks, i);
        if (isnan(d->work_s[i]))
            codec_fault_member(&item, "id", "not_executed",
                               "workflow.execution has no run time of this task");
    }
}

/* --- who waits for whom --- */

static size_t items_of(const struct document *d, size_t task, const char *key)
{
    return json_value_items(json_value_member(json_value_item(d->tasks.json, task), key));
}

static void mark_writers(struct document *d)
{
    for (size_t i = 0; i < d->n_tasks; i++) {
        struct codec_node task = codec_item(&d->tasks, i);
        struct codec_node list = codec_array(&task, "outputFiles", CODEC_OPTIONAL, 0, SIZE_MAX);
        for (size_t k = 0; list.json != NULL && k < json_value_items(list.json); k++) {
            struct codec_node item = codec_item(&list, k);
            size_t file = wfformat_find(&item, &d->file_ids, "file");
            if (file == SIZE_MAX)
                continue;
            if (d->writer[file] != SIZE_MAX)
                codec_fault(&item, "duplicate", "a file is written once");
            d->writer[file] = i;
        }
    }
}

static void add_edge(struct document *d, size_t child, size_t parent, double bytes)
{
    d->edges[d->n_edges++] = (struct edge){child, parent, bytes};
}

/* upwards: the key lists those that `task` waits for, else those that wait for it. */
static void link_listed(struct document *d, size_t task, const char *key, bool upwards)
{
    struct codec_node node = codec_item(&d->tasks, task);
    struct codec_node list = codec_array(&node, key, CODEC_OPTIONAL, 0, SIZE_MAX);
    for (size_t k = 0; list.json != NULL && k < json_value_items(list.json); k++) {
        struct codec_node item = codec_item(&list, k);
        size_t other = wfformat_find(&item, &d->ids, "task");
        if (other != SIZE_MAX)
            add_edge(d, upwards ? task : other, upwards ? other : task, 0);
    }
}

static void link_read(struct document *d, size_t task)
{
    struct codec_node node = codec_item(&d->tasks, task);
    struct codec_node list = codec_array(&node, "inputFiles", CODEC_OPTIONAL, 0, SIZE_MAX);
    for (size_t k = 0; list.json != NULL && k < json_value_items(list.json); k++) {
        struct codec_node item = codec_item(&list, k);
        size_t file = wfformat_find(&item, &d->file_ids, "file");
        if (file == SIZE_MAX || d->reader[file] == task)
            continue;
        d->reader[file] = task;
        if (d->writer[file] == SIZE_MAX)
            d->n_reads++;
        else if (d->writer[file] != task)
            add_edge(d, task, d->writer[file], d->file_bytes[file]);
    }
}

static int compare_edges(const void *a, const void *b)
{
    const struct edge *x = a;
    const struct edge *y = b;
    int order = compare_size(x->child, y->child);
    return order != 0 ? order : compare_size(x->parent, y->parent);
}

/* One edge a pair, with the bytes of all of them. */
static void join_edges(struct document *d)
{
    size_t n = 0;
    qsort(d->edges, d->n_edges, sizeof *d->edges, compare_edges);
    for (size_t i = 0; i < d->n_edges; i++)
        if (n > 0 && compare_edges(&d->edges[n - 1], &d->edges[i]) == 0)
            d->edges[n - 1].bytes += d->edges[i].bytes;
        else
            d->edges[n++] = d->edges[i];
    d->n_edges = n;
}

static bool link_tasks(struct document *d)
{
    size_t room = 0;
    mark_writers(d);
    for (size_t i = 0; i < d->n_tasks; i++)
        room +=
            items_of(d, i, "parents") + items_of(d, i, "children") + items_of(d, i, "inputFiles");
    d->edges = codec_allocate(&d->tasks, room, sizeof *d->edges);
    if (d->edges == NULL)
        return false;
    for (size_t i = 0; i < d->n_tasks; i++) {
        link_listed(d, i, "parents", true);
        link_listed(d, i, "children", false);
        link_read(d, i);
    }
    join_edges(d);
    return sound(&d->tasks);
}

/* --- parents before children --- */

struct sorting {
    size_t *first; /* edges of a child: first[child]..first[child + 1] */
    size_t *open;  /* parents not placed yet */
    size_t *begin; /* of a parent's children in `children` */
    size_t *children;
};

static bool prepare_sorting(const struct document *d, struct sorting *s)
{
    s->first = arena_calloc(d->arena, d->n_tasks + 1, sizeof *s->first);
    s->open = arena_calloc(d->arena, d->n_tasks, sizeof *s->open);
    s->begin = arena_calloc(d->arena, d->n_tasks + 2, sizeof *s->begin);
    s->children = arena_array(d->arena, d->n_edges, sizeof *s->children);
    if (s->first == NULL || s->open == NULL || s->begin == NULL || s->children == NULL)
        return false;
    for (size_t i = 0; i < d->n_edges; i++) {
        s->first[d->edges[i].child + 1]++;
        s->open[d->edges[i].child]++;
        s->begin[d->edges[i].parent + 2]++;
    }
    for (size_t i = 0; i < d->n_tasks; i++) {
        s->first[i + 1] += s->first[i];
        s->begin[i + 2] += s->begin[i + 1];
    }
    /* begin[p + 1] moves from where p's children begin to where they end: begin[p] is then right.
     */
    for (size_t i = 0; i < d->n_edges; i++)
        s->children[s->begin[d->edges[i].parent + 1]++] = d->edges[i].child;
    return true;
}

static bool sort_tasks(struct document *d, struct sorting *s)
{
    size_t n = 0;
    for (size_t i = 0; i < d->n_tasks; i++)
        if (s->open[i] == 0)
            d->order[n++] = i;
    for (size_t head = 0; head < n; head++) {
        size_t task = d->order[head];
        d->place[task] = head;
        for (size_t k = s->begin[task]; k < s->begin[task + 1]; k++)
            if (--s->open[s->children[k]] == 0)
                d->order[n++] = s->children[k];
    }
    for (size_t i = 0; i < d->n_tasks && n < d->n_tasks; i++)
        if (s->open[i] > 0) {
            struct codec_node item = codec_item(&d->tasks, i);
            codec_fault_member(&item, "parents", "cycle",
                               "this task waits, through others, for itself");
            return false;
        }
    return true;
}

/* --- the recording --- */

/* SIZE_MAX and a fault: there is no room for another one. */
static size_t operation_of(const struct document *d, size_t task, struct codec_operations *list)
{
    struct strview name = d->operations[task];
    for (size_t i = 0; i < list->n; i++)
        if (strview_equal(list->names[i], name))
            return i;
    if (list->n == list->most) {
        struct codec_node item = codec_item(&d->tasks, task);
        codec_fault_member(&item, "name", "too_many_operations",
                           "the recordings run more than %zu different program%s "
                           "(simulation_operations_max)",
                           list->most, PLURAL(list->most));
        return SIZE_MAX;
    }
    list->names[list->n] = name;
    return list->n++;
}

static size_t file_of(const struct document *d, const struct json_value *list, size_t k)
{
    struct codec_node id = {.json = json_value_item(list, k)};
    return text_index_find(&d->file_ids, codec_string(&id));
}

static double output_of(const struct document *d, size_t task)
{
    const struct json_value *list =
        json_value_member(json_value_item(d->tasks.json, task), "outputFiles");
    double sum = 0;
    for (size_t k = 0; k < json_value_items(list); k++)
        sum += d->file_bytes[file_of(d, list, k)];
    return sum;
}

/* Raw files, each once. Files were last marked by the tasks that read them, in the order of the
 * document; marks beyond the tasks are free for telling repetitions now. */
static size_t list_raw(struct document *d, size_t task, size_t files[])
{
    const struct json_value *list =
        json_value_member(json_value_item(d->tasks.json, task), "inputFiles");
    size_t n = 0;
    for (size_t k = 0; k < json_value_items(list); k++) {
        size_t file = file_of(d, list, k);
        if (d->writer[file] == SIZE_MAX && d->reader[file] != d->n_tasks + task) {
            d->reader[file] = d->n_tasks + task;
            files[n++] = file;
        }
    }
    return n;
}

/* False: out of memory. */
static bool wfformat_build(struct document *d,
                           const struct sorting *s,
                           struct codec_operations *operations,
                           struct geosim_recording *recording)
{
    struct geosim_recorded_task *tasks = arena_calloc(d->arena, d->n_tasks, sizeof *tasks);
    size_t *parents = arena_array(d->arena, d->n_edges, sizeof *parents);
    double *bytes = arena_array(d->arena, d->n_edges, sizeof *bytes);
    size_t *files = arena_array(d->arena, d->n_reads, sizeof *files);
    if (tasks == NULL || parents == NULL || bytes == NULL || files == NULL)
        return false;
    for (size_t i = 0; i < d->n_edges; i++) {
        parents[i] = d->place[d->edges[i].parent];
        bytes[i] = d->edges[i].bytes;
    }
    for (size_t i = 0; i < d->n_tasks; i++) {
        size_t task = d->order[i];
        size_t first = s->first[task];
        size_t n_files = list_raw(d, task, files);
        size_t operation = operation_of(d, task, operations);
        if (operation == SIZE_MAX)
            return true;
        tasks[i] = (struct geosim_recorded_task){
            operation,       d->work_s[task], output_of(d, task),
            parents + first, bytes + first,   s->first[task + 1] - first,
            files,           n_files};
        files += n_files;
    }
    recording->tasks = tasks;
    recording->n_tasks = d->n_tasks;
    recording->file_bytes = d->file_bytes;
    recording->n_files = d->n_files;
    return true;
}

/* --- documents --- */

static bool read_tasks(struct document *d, const struct codec_node *specification, size_t most)
{
    d->work_s = codec_list(specification, "tasks", CODEC_REQUIRED, 1, most, sizeof *d->work_s,
                           &d->tasks, &d->n_tasks);
    d->operations = codec_allocate(specification, d->n_tasks, sizeof *d->operations);
    d->order = codec_allocate(specification, d->n_tasks, sizeof *d->order);
    d->place = codec_allocate(specification, d->n_tasks, sizeof *d->place);
    if (d->n_tasks == 0 || d->operations == NULL || d->order == NULL || d->place == NULL ||
        !index_ids(d, &d->tasks, d->n_tasks, &d->ids))
        return false;
    for (size_t i = 0; i < d->n_tasks; i++) {
        struct codec_node item = codec_item(&d->tasks, i);
        d->work_s[i] = NAN;
        d->operations[i] = without_number(codec_text(&item, "name", CODEC_REQUIRED, 1, TEXT_MAX));
    }
    return sound(specification);
}

static void check_version(const struct codec_node *node)
{
    struct strview version = codec_text(node, "schemaVersion", CODEC_REQUIRED, 1, TEXT_MAX);
    if (version.at != NULL && !strview_is(version, "1.5") && !strview_is(version, "1.6"))
        codec_fault_member(node, "schemaVersion", "unsupported_version",
                           "WfFormat 1.5 and 1.6 are understood");
}

void codec_wfformat_decode(const struct codec_node *node,
                           size_t tasks_max,
                           struct codec_operations *operations,
                           struct geosim_recording *recording)
{
    struct document d = {.arena = node->reader->arena};
    struct sorting sorting;
    if (!codec_expect_object(node))
        return;
    check_version(node);
    recording->name = codec_text(node, "name", CODEC_REQUIRED, 1, TEXT_MAX);
    struct codec_node workflow = codec_object(node, "workflow", CODEC_REQUIRED);
    struct codec_node specification = {.json = NULL};
    if (workflow.json != NULL)
        specification = codec_object(&workflow, "specification", CODEC_REQUIRED);
    if (specification.json == NULL || !read_tasks(&d, &specification, tasks_max) ||
        !read_files(&d, &specification))
        return;
    read_executions(&d, &workflow);
    if (!link_tasks(&d))
        return;
    if (!prepare_sorting(&d, &sorting) ||
        (sort_tasks(&d, &sorting) && !wfformat_build(&d, &sorting, operations, recording)))
        (void)pv_no_memory(node->reader->err);
}
