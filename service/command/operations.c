#include <stdio.h>
#include <string.h>

#include "api/operations/operation_document.h"
#include "base/uuid.h"
#include "command/args.h"
#include "command/command.h"
#include "operation/operation.h"

/* Long work by the hand of whoever owns the database: no service need run. */

enum { LISTED = 100, LISTED_MAX = 10000, IDS_MAX = 64 };

static int operations_usage(const char *why)
{
    fprintf(stderr,
            "provisord: operations: %s\n"
            "usage: provisord operations list [--team T] [--status S] [--kind K]"
            " [--application A] [--limit N] [--json]\n"
            "       provisord operations cancel ID... [--json]\n",
            why);
    return COMMAND_USAGE;
}

static int
operations_fail(const struct config *config, const char *what, const struct pv_error *err)
{
    fprintf(stderr, "provisord: operations %s: %s\n", what, err->detail);
    args_explain_unreachable(config, true, err);
    return COMMAND_FAILED;
}

/* --- list --- */

static void print_text(struct strview text)
{
    if (text.at == NULL)
        fputs("\t-", stdout);
    else
        printf("\t%.*s", (int)text.n, text.at);
}

static void print_progress(const struct operation_row *o)
{
    printf("\t%lld", (long long)o->done);
    if (o->total != RUN_UNKNOWN)
        printf("/%lld", (long long)o->total);
    if (o->unit.at != NULL)
        printf(" %.*s", (int)o->unit.n, o->unit.at);
}

static void print_row(const struct operation_listed *item)
{
    const struct operation_row *o = &item->operation;
    bool stopping = o->status == OPERATION_RUNNING && o->cancel_asked_us != RUN_NO_INSTANT;
    fputs(o->id, stdout);
    print_text(item->team_name);
    print_text(o->kind);
    print_text(o->application_name);
    printf("\t%s", stopping ? "stopping" : operation_status_word(o->status));
    print_progress(o);
    printf("\t%lld", (long long)o->attempt);
    args_print_instant(o->created_us);
    args_print_instant(o->started_us);
    args_print_instant(o->finished_us);
    print_text(item->worker);
    (void)putchar('\n');
}

static void write_item(struct writer *w, const struct operation_listed *item)
{
    writer_begin_object(w);
    writer_member_text(w, "team", item->team_name);
    writer_member_text(w, "worker", item->worker);
    writer_key(w, "operation");
    operation_document_write(w, &item->operation, false);
    writer_end_object(w);
}

static int print_json(struct arena *arena, const struct operation_listed *items, size_t n)
{
    struct writer w;
    size_t length;
    writer_init(&w, arena);
    writer_begin_object(&w);
    writer_key(&w, "items");
    writer_begin_array(&w);
    for (size_t i = 0; i < n; i++)
        write_item(&w, &items[i]);
    writer_end_array(&w);
    writer_end_object(&w);
    const char *text = writer_finish(&w, &length);
    return text != NULL && puts(text) >= 0 ? COMMAND_DONE : COMMAND_FAILED;
}

static int print_rows(const struct operation_listed *items, size_t n)
{
    puts("id\tteam\tkind\tapplication\tstatus\tprogress\tattempt\tcreated\tstarted\tfinished"
         "\tworker");
    for (size_t i = 0; i < n; i++)
        print_row(&items[i]);
    return COMMAND_DONE;
}

static int command_operations_list(const struct config *config,
                                   const char *team,
                                   struct operation_filter *filter,
                                   bool json)
{
    struct pv_error err = {.code = PV_OK};
    struct arena arena;
    struct operation_listed *items = NULL;
    size_t n = 0;
    arena_init(&arena, 0);
    enum pv_code code =
        store_owner_operation_list(args_owner_url(config), &arena, team, filter, &items, &n, &err);
    int status = COMMAND_FAILED;
    if (code != PV_OK)
        status = operations_fail(config, "list", &err);
    else
        status = json ? print_json(&arena, items, n) : print_rows(items, n);
    arena_fini(&arena);
    return status;
}

/* 0: it is no number from 1 to LISTED_MAX. */
static size_t read_limit(const char *text)
{
    size_t number = 0;
    if (text == NULL)
        return LISTED;
    for (; *text >= '0' && *text <= '9' && number <= LISTED_MAX; text++)
        number = number * 10 + (size_t)(*text - '0');
    return *text == '\0' && number <= LISTED_MAX ? number : 0;
}

/* --- cancel --- */

static bool cancel_one(const struct config *config, const char *text, bool json)
{
    struct pv_error err = {.code = PV_OK};
    struct operation_row operation;
    struct arena arena;
    char id[37];
    arena_init(&arena, 0);
    enum pv_code code = uuid_parse(text, id)
                            ? store_owner_operation_cancel(args_owner_url(config), &arena, id,
                                                           config->operation_retention_s,
                                                           operation_event_data, &operation, &err)
                            : pv_fail(&err, PV_E_NOT_FOUND, "there is no such operation");
    if (code != PV_OK) {
        fprintf(stderr, "provisord: operations cancel: %s: %s\n", text, err.detail);
        args_explain_unreachable(config, true, &err);
    } else if (json) {
        struct writer w;
        size_t n;
        writer_init(&w, &arena);
        operation_document_write(&w, &operation, true);
        const char *document = writer_finish(&w, &n);
        puts(document == NULL ? "null" : document);
    } else {
        printf("%s\t%s\n", id,
               operation_has_ended(operation.status) ? operation_status_word(operation.status)
                                                     : "stopping");
    }
    arena_fini(&arena);
    return code == PV_OK;
}

/* Each is tried; one that cannot be cancelled keeps no other. */
static int
command_operations_cancel(const struct config *config, const char *const ids[], size_t n, bool json)
{
    int status = COMMAND_DONE;
    for (size_t i = 0; i < n; i++)
        if (!cancel_one(config, ids[i], json))
            status = COMMAND_FAILED;
    return status;
}

int command_operations(int argc, char *argv[])
{
    enum { TEAM, STATUS, KIND, APPLICATION, LIMIT, JSON };
    struct arg_option options[] = {[TEAM] = {.name = "team"},
                                   [STATUS] = {.name = "status"},
                                   [KIND] = {.name = "kind"},
                                   [APPLICATION] = {.name = "application"},
                                   [LIMIT] = {.name = "limit"},
                                   [JSON] = {.name = "json", .flag = true},
                                   {0}};
    const char *words[IDS_MAX + 1] = {""};
    enum operation_status known;
    size_t n;
    struct config config;
    if (!args_read(argc, argv, options, words, IDS_MAX + 1, &n, &config))
        return COMMAND_USAGE;
    bool json = options[JSON].value != NULL;
    struct operation_filter filter = {.status = options[STATUS].value,
                                      .kind = options[KIND].value,
                                      .application_name = options[APPLICATION].value,
                                      .since_us = RUN_NO_INSTANT,
                                      .limit = read_limit(options[LIMIT].value)};
    if (n >= 2 && strcmp(words[0], "cancel") == 0)
        return command_operations_cancel(&config, words + 1, n - 1, json);
    if (n != 1 || strcmp(words[0], "list") != 0)
        return operations_usage("say list, or cancel and which");
    if (filter.status != NULL && !operation_status_parse(filter.status, &known))
        return operations_usage("--status is queued, running, succeeded, failed or cancelled");
    if (filter.limit == 0)
        return operations_usage("--limit is a number from 1 to 10000");
    return command_operations_list(&config, options[TEAM].value, &filter, json);
}
