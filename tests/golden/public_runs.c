#include "public_runs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS_MAX = 16, RUNS_MAX = 4096, LINE_MAX_BYTES = 1024 };

static const double block_mb = 128;

/* Inputs that set the data size (docs/accuracy.md, protocol D). */
static const char *const size_inputs[] = {"lines", "observations", "links", NULL};

static const char *const common[] = {"instance_count", "machine_type",  "slots", "memory",
                                     "data_size_MB",   "gross_runtime", NULL};

static bool is_among(const char *const words[], const char *word)
{
    for (size_t i = 0; words[i] != NULL; i++)
        if (strcmp(words[i], word) == 0)
            return true;
    return false;
}

struct header {
    char *columns[COLUMNS_MAX];
    size_t n;
};

static size_t split(char *line, char *cells[COLUMNS_MAX])
{
    size_t n = 0;
    line[strcspn(line, "\r\n")] = '\0';
    for (char *at = line; at != NULL && n < COLUMNS_MAX; n++) {
        cells[n] = at;
        at = strchr(at, '\t');
        if (at != NULL)
            *at++ = '\0';
    }
    return n;
}

static int by_key(const void *a, const void *b)
{
    const struct run_label *x = a;
    const struct run_label *y = b;
    return strcmp(x->key.at, y->key.at);
}

static bool read_run(const struct header *header,
                     char *line,
                     struct arena *arena,
                     struct public_table *table,
                     struct public_run *run)
{
    char *cells[COLUMNS_MAX];
    size_t labels = 0;
    if (split(line, cells) != header->n)
        return false;
    for (size_t c = 0; c < header->n; c++) {
        const char *name = header->columns[c];
        if (strcmp(name, "instance_count") == 0)
            run->executors = strtod(cells[c], NULL);
        else if (strcmp(name, "data_size_MB") == 0)
            run->problem_size = strtod(cells[c], NULL) / block_mb;
        else if (strcmp(name, "gross_runtime") == 0)
            run->duration_s = strtod(cells[c], NULL);
        if (is_among(common, name) && strcmp(name, "machine_type") != 0)
            continue;
        if (labels == 1 + PUBLIC_INPUTS_MAX)
            return false;
        const char *value = arena_strdup(arena, cells[c]);
        if (value == NULL)
            return false;
        run->labels[labels++] = (struct run_label){strview_of(name), strview_of(value)};
    }
    qsort(run->labels, labels, sizeof *run->labels, by_key);
    table->n_labels = labels;
    return run->executors > 0 && run->problem_size > 0 && run->duration_s > 0;
}

static bool
is_alike(const struct public_table *table, const struct public_run *a, const struct public_run *b)
{
    for (size_t i = 0; i < table->n_labels; i++)
        if (!is_among(size_inputs, a->labels[i].key.at) &&
            strcmp(a->labels[i].value.at, b->labels[i].value.at) != 0)
            return false;
    return true;
}

static bool
is_same(const struct public_table *table, const struct public_run *a, const struct public_run *b)
{
    for (size_t i = 0; i < table->n_labels; i++)
        if (strcmp(a->labels[i].value.at, b->labels[i].value.at) != 0)
            return false;
    return a->problem_size == b->problem_size;
}

static void number_groups(struct public_table *table)
{
    for (size_t i = 0; i < table->n; i++) {
        struct public_run *run = &table->runs[i];
        run->group = table->groups;
        run->family = table->families;
        for (size_t j = i; j-- > 0;) {
            if (is_same(table, run, &table->runs[j]))
                run->group = table->runs[j].group;
            if (is_alike(table, run, &table->runs[j]))
                run->family = table->runs[j].family;
        }
        table->groups += run->group == table->groups;
        table->families += run->family == table->families;
    }
}

static bool
read_lines(FILE *file, struct arena *arena, struct public_table *table, struct header *header)
{
    char line[LINE_MAX_BYTES];
    if (fgets(line, sizeof line, file) == NULL)
        return false;
    char *kept = arena_strdup(arena, line);
    table->runs = arena_calloc(arena, RUNS_MAX, sizeof *table->runs);
    if (kept == NULL || table->runs == NULL)
        return false;
    header->n = split(kept, header->columns);
    while (table->n < RUNS_MAX && fgets(line, sizeof line, file) != NULL)
        if (!read_run(header, line, arena, table, &table->runs[table->n++]))
            return false;
    return feof(file) != 0 && table->n > 0;
}

bool public_table_read(const char *path, struct arena *arena, struct public_table *table)
{
    struct header header = {.n = 0};
    const char *name = strrchr(path, '/') == NULL ? path : strrchr(path, '/') + 1;
    *table = (struct public_table){.n = 0};
    (void)snprintf(table->name, sizeof table->name, "%.*s", (int)strcspn(name, "."), name);
    FILE *file = fopen(path, "r");
    bool read = file != NULL && read_lines(file, arena, table, &header);
    if (file != NULL)
        (void)fclose(file);
    if (read)
        number_groups(table);
    else
        fprintf(stderr, "%s: not a table of runs\n", path);
    return read;
}
