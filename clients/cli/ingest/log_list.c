#include "cli/ingest/log_list.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/instant.h"
#include "base/vector.h"

void log_list_init(struct log_list *list)
{
    *list = (struct log_list){.items = NULL};
    arena_init(&list->arena, 0);
}

void log_list_fini(struct log_list *list)
{
    free(list->items);
    arena_fini(&list->arena);
}

static bool
copy_object(struct arena *arena, const struct source_object *object, struct source_object *copy)
{
    *copy = *object;
    copy->name = arena_strdup(arena, object->name);
    copy->folder = arena_strdup(arena, object->folder);
    copy->file = arena_strdup(arena, object->file);
    copy->identity = arena_strdup(arena, object->identity);
    return copy->name != NULL && copy->folder != NULL && copy->file != NULL &&
           copy->identity != NULL;
}

bool log_list_add_other(struct log_list *list,
                        const char *name,
                        enum find_kind kind,
                        const char *reason)
{
    struct ingest_log *log = vector_add(NULL, list);
    if (log == NULL)
        return false;
    *log = (struct ingest_log){.kind = kind, .modified_us = INSTANT_UNKNOWN, .identity = ""};
    log->name = arena_strdup(&list->arena, name);
    log->reason = arena_strdup(&list->arena, reason);
    return log->name != NULL && log->reason != NULL;
}

bool log_list_add_file(struct log_list *list,
                       struct source *source,
                       const struct source_object *object)
{
    struct source_object *part = arena_array(&list->arena, 1, sizeof *part);
    struct ingest_log *log = part == NULL ? NULL : vector_add(NULL, list);
    if (log == NULL || !copy_object(&list->arena, object, part))
        return false;
    *log = (struct ingest_log){.source = source,
                               .name = part->name,
                               .identity = part->identity,
                               .kind = FIND_LOG,
                               .reason = "",
                               .parts = part,
                               .n_parts = 1,
                               .bytes = part->bytes,
                               .modified_us = part->modified_us,
                               .unfinished = part->unfinished};
    return true;
}

/* --- rolling logs --- */

/* Spark marks the folder of an application that runs by a file of this name, and of one that has
 * ended by the same without .inprogress. */
static bool is_status(const char *file)
{
    return strncmp(file, "appstatus_", strlen("appstatus_")) == 0;
}

static bool is_sent(const struct source_object *file)
{
    return find_ignored_name(file->file) == NULL && file->bytes != 0;
}

static void look_at(struct ingest_log *log, const struct source_object *file)
{
    if (is_status(file->file) && source_name_unfinished(file->file))
        log->unfinished = true;
    else if (is_status(file->file))
        log->finished = true;
    if (file->modified_us != INSTANT_UNKNOWN &&
        (log->modified_us == INSTANT_UNKNOWN || file->modified_us > log->modified_us))
        log->modified_us = file->modified_us;
}

static bool
add_part(struct log_list *list, struct ingest_log *log, const struct source_object *file)
{
    struct source_object *part = &log->parts[log->n_parts];
    if (!copy_object(&list->arena, file, part))
        return false;
    log->n_parts++;
    log->bytes = log->bytes < 0 || file->bytes < 0 ? -1 : log->bytes + file->bytes;
    log->unfinished = log->unfinished || file->unfinished;
    return true;
}

/* Of all parts: one that is added, or grows, makes another log of it. */
static const char *identify(struct arena *arena, const struct ingest_log *log)
{
    uint64_t hash = HASH_START;
    for (size_t i = 0; i < log->n_parts; i++) {
        if (log->parts[i].identity[0] == '\0')
            return "";
        hash = hash_text(hash_text(hash, log->parts[i].file), log->parts[i].identity);
    }
    return arena_printf(arena, "%zu-%" PRId64 "-%016" PRIx64, log->n_parts, log->bytes, hash);
}

bool log_list_add_rolling(struct log_list *list,
                          struct source *source,
                          const char *folder,
                          const struct source_object files[],
                          size_t n)
{
    struct ingest_log log = {.source = source,
                             .kind = FIND_LOG,
                             .reason = "",
                             .modified_us = INSTANT_UNKNOWN,
                             .rolling = true};
    log.name = arena_strdup(&list->arena, folder);
    log.parts = arena_array(&list->arena, n == 0 ? 1 : n, sizeof *log.parts);
    if (log.name == NULL || log.parts == NULL)
        return false;
    for (size_t i = 0; i < n; i++) {
        look_at(&log, &files[i]);
        if (is_sent(&files[i]) && !add_part(list, &log, &files[i]))
            return false;
    }
    log.finished = log.finished && !log.unfinished;
    log.identity = identify(&list->arena, &log);
    if (log.n_parts == 0)
        return log_list_add_other(list, folder, FIND_SKIPPED, "empty");
    struct ingest_log *place = log.identity == NULL ? NULL : vector_add(NULL, list);
    if (place == NULL)
        return false;
    *place = log;
    return true;
}

/* --- of a source --- */

struct objects {
    struct arena arena;
    struct source_object *items;
    size_t n;
    size_t capacity;
    const atomic_bool *stop;
    bool no_memory;
};

static bool take_object(void *context, const struct source_object *object)
{
    struct objects *objects = context;
    struct source_object *copy = vector_add(NULL, objects);
    objects->no_memory = copy == NULL || !copy_object(&objects->arena, object, copy);
    return !objects->no_memory && (objects->stop == NULL || !atomic_load(objects->stop));
}

static int compare_objects(const void *a, const void *b)
{
    const struct source_object *x = a;
    const struct source_object *y = b;
    int order = strcmp(x->folder, y->folder);
    return order != 0 ? order : strcmp(x->file, y->file);
}

static bool
add_alone(struct log_list *list, struct source *source, const struct source_object *object)
{
    const char *reason = find_ignored_name(object->file);
    if (reason == NULL && object->bytes == 0)
        reason = "empty";
    return reason == NULL ? log_list_add_file(list, source, object)
                          : log_list_add_other(list, object->name, FIND_SKIPPED, reason);
}

static bool add_folder(struct log_list *list,
                       struct source *source,
                       const struct source_object files[],
                       size_t n)
{
    bool rolling = false;
    for (size_t i = 0; i < n && !rolling; i++)
        rolling = find_is_part(files[i].file);
    if (rolling)
        return log_list_add_rolling(list, source, files[0].folder, files, n);
    bool good = true;
    for (size_t i = 0; i < n && good; i++)
        good = add_alone(list, source, &files[i]);
    return good;
}

static bool group(struct log_list *list, struct source *source, struct objects *objects)
{
    bool good = true;
    if (objects->n > 0)
        qsort(objects->items, objects->n, sizeof *objects->items, compare_objects);
    for (size_t from = 0, to; from < objects->n && good; from = to) {
        const char *folder = objects->items[from].folder;
        for (to = from + 1; to < objects->n && strcmp(objects->items[to].folder, folder) == 0;)
            to++;
        good = add_folder(list, source, objects->items + from, to - from);
    }
    return good;
}

bool log_list_add_source(struct log_list *list,
                         struct source *source,
                         const atomic_bool *stop,
                         struct failure *failure)
{
    struct objects objects = {.stop = stop};
    arena_init(&objects.arena, 0);
    bool listed = source_list(source, take_object, &objects, failure);
    bool memory = !objects.no_memory && group(list, source, &objects);
    free(objects.items);
    arena_fini(&objects.arena);
    return memory ? listed : fail_memory(failure);
}
