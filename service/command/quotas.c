#include "command/quotas.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_writer.h"
#include "codec/access/access.h"
#include "codec/json/reader.h"
#include "command/args.h"
#include "command/command.h"
#include "core/history/run.h"
#include "store/usage/usage.h"

/* How much teams may store, by the hand of whoever owns the database: no service need run. */

void quotas_of_config(const struct config *config, int64_t quotas[QUOTAS])
{
    quotas[QUOTA_APPLICATIONS] = config->quota_applications;
    quotas[QUOTA_RUNS] = config->quota_runs;
    quotas[QUOTA_ADVICE] = config->quota_advice;
    quotas[QUOTA_TOKENS] = config->quota_tokens;
    quotas[QUOTA_OPERATIONS] = config->quota_operations;
    quotas[QUOTA_REPLIES] = config->quota_replies;
    quotas[QUOTA_BYTES] = config->quota_bytes;
}

static int quotas_usage(const char *why)
{
    fprintf(stderr,
            "provisord: quotas: %s\n"
            "usage: provisord quotas [list] [--team T] [--json]\n"
            "       provisord quotas set TEAM NAME=NUMBER... [--json]\n"
            "       provisord quotas reset TEAM [NAME...] [--json]\n",
            why);
    return COMMAND_USAGE;
}

static int quotas_fail(const struct config *config, const char *what, const struct pv_error *err)
{
    fprintf(stderr, "provisord: quotas %s: %s\n", what, err->detail);
    args_explain_unreachable(config, true, err);
    return COMMAND_FAILED;
}

/* --- list --- */

static void print_team(const struct team_usage *team)
{
    for (size_t i = 0; i < team->usage.n; i++) {
        const struct usage *u = &team->usage.items[i];
        printf("%.*s\t%.*s\t%" PRId64 "\t", (int)team->team.n, team->team.at, (int)u->name.n,
               u->name.at, u->used);
        if (u->limit == RUN_UNKNOWN)
            fputs("-", stdout);
        else
            printf("%" PRId64, u->limit);
        printf("\t%.*s\t%s\n", (int)u->unit.n, u->unit.at, u->own ? "team" : "settings");
    }
}

static int print_rows(const struct team_usage_list *list)
{
    puts("team\tquota\tused\tlimit\tunit\tset by");
    for (size_t i = 0; i < list->n; i++)
        print_team(&list->items[i]);
    return COMMAND_DONE;
}

static int print_json(struct arena *arena, const struct team_usage_list *list)
{
    struct writer w;
    size_t length;
    writer_init(&w, arena);
    writer_begin_object(&w);
    writer_key(&w, "items");
    writer_begin_array(&w);
    for (size_t i = 0; i < list->n; i++) {
        writer_begin_object(&w);
        writer_member_text(&w, "team", list->items[i].team);
        writer_key(&w, "usage");
        codec_usage_encode(&w, &list->items[i].usage);
        writer_end_object(&w);
    }
    writer_end_array(&w);
    writer_end_object(&w);
    const char *text = writer_finish(&w, &length);
    return text != NULL && puts(text) >= 0 ? COMMAND_DONE : COMMAND_FAILED;
}

static int show_quotas(const struct config *config, const char *team, bool json)
{
    struct pv_error err = {.code = PV_OK};
    struct team_usage_list list = {.n = 0};
    struct usage_bounds bounds = {.most = {.clusters = config->clusters_max,
                                           .price_books = config->price_books_max,
                                           .workloads = config->workloads_max,
                                           .workload_bytes = config->workload_bytes_max}};
    struct arena arena;
    int status;
    quotas_of_config(config, bounds.quotas);
    arena_init(&arena, 0);
    if (store_owner_usage_list(args_owner_url(config), &arena, team, &bounds, &list, &err) != PV_OK)
        status = quotas_fail(config, "list", &err);
    else
        status = json ? print_json(&arena, &list) : print_rows(&list);
    arena_fini(&arena);
    return status;
}

/* --- set, reset --- */

static bool complain(const char *word, const char *why)
{
    fprintf(stderr, "provisord: quotas: %s: %s", word, why);
    return false;
}

/* "runs", or the part of "runs=5" before the sign; once each. */
static bool take_name(const char *word, size_t n, unsigned *changed, enum quota *quota)
{
    if (!quota_parse((struct strview){word, n}, quota)) {
        complain(word, "no quota of teams has that name. There are");
        for (enum quota i = 0; i < QUOTAS; i++)
            fprintf(stderr, "%s %s", i == 0 ? "" : ",", quota_name(i));
        fputs("\n", stderr);
        return false;
    }
    if ((*changed & 1u << *quota) != 0)
        return complain(word, "is given twice\n");
    *changed |= 1u << *quota;
    return true;
}

static bool take_setting(const char *word, unsigned *changed, struct team_quotas *quotas)
{
    enum quota quota;
    size_t n = strcspn(word, "=");
    const char *digits = word + n + (word[n] == '=');
    size_t length = strspn(digits, "0123456789");
    if (!take_name(word, n, changed, &quota))
        return false;
    int64_t number = length == 0 || length > 16 ? QUOTA_MAX + 1 : strtoll(digits, NULL, 10);
    if (number > QUOTA_MAX || digits[length] != '\0') {
        fprintf(stderr,
                "provisord: quotas: %s: %s is a whole number from 0, which is no bound, to %" PRId64
                "\n",
                word, quota_name(quota), QUOTA_MAX);
        return false;
    }
    quotas->of[quota] = number;
    return true;
}

static int change_quotas(const struct config *config,
                         const char *what,
                         const char *team,
                         unsigned changed,
                         const struct team_quotas *quotas,
                         bool json)
{
    struct pv_error err = {.code = PV_OK};
    if (store_owner_quotas_set(args_owner_url(config), team, changed, quotas, &err) != PV_OK)
        return quotas_fail(config, what, &err);
    quotas_log(team, NULL, changed, quotas);
    return show_quotas(config, team, json);
}

static int command_quotas_set(
    const struct config *config, const char *team, const char *const words[], size_t n, bool json)
{
    struct team_quotas quotas;
    unsigned changed = 0;
    for (size_t i = 0; i < n; i++)
        if (!take_setting(words[i], &changed, &quotas))
            return COMMAND_USAGE;
    return change_quotas(config, "set", team, changed, &quotas, json);
}

static int command_quotas_reset(
    const struct config *config, const char *team, const char *const words[], size_t n, bool json)
{
    struct team_quotas quotas;
    unsigned changed = 0;
    enum quota quota;
    for (size_t i = 0; i < QUOTAS; i++)
        quotas.of[i] = RUN_UNKNOWN;
    for (size_t i = 0; i < n; i++)
        if (!take_name(words[i], strlen(words[i]), &changed, &quota))
            return COMMAND_USAGE;
    return change_quotas(config, "reset", team, n == 0 ? QUOTAS_ALL : changed, &quotas, json);
}

int command_quotas(int argc, char *argv[])
{
    enum { TEAM, JSON, WORDS_MAX = 2 + QUOTAS };
    struct arg_option options[] = {
        [TEAM] = {.name = "team"}, [JSON] = {.name = "json", .flag = true}, {0}};
    const char *words[WORDS_MAX] = {"list", ""};
    size_t n;
    struct config config;
    if (!args_read(argc, argv, options, words, WORDS_MAX, &n, &config))
        return COMMAND_USAGE;
    bool json = options[JSON].value != NULL;
    if (n <= 1 && strcmp(words[0], "list") == 0)
        return show_quotas(&config, options[TEAM].value, json);
    if (options[TEAM].value != NULL && strcmp(words[0], "list") != 0)
        return quotas_usage("--team is for list; set and reset have the team behind them");
    if (n >= 2 && !codec_is_name(strview_of(words[1])))
        return quotas_usage("a team has a name of 1 to 255 characters");
    if (n >= 3 && strcmp(words[0], "set") == 0)
        return command_quotas_set(&config, words[1], words + 2, n - 2, json);
    if (n >= 2 && strcmp(words[0], "reset") == 0)
        return command_quotas_reset(&config, words[1], words + 2, n - 2, json);
    return quotas_usage("say list, or set or reset with a team, and what to set");
}
