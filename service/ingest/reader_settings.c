#include "ingest/reader_settings.h"

#include <sodium.h>
#include <string.h>

void ingest_limits_read(const struct config *config, struct ingest_limits *limits)
{
    *limits = (struct ingest_limits){
        .sent_bytes = (uint64_t)config->eventlog_bytes_max,
        .framing = {.total_bytes = (uint64_t)config->eventlog_plain_bytes_max,
                    .ratio = (double)config->eventlog_ratio_max,
                    .window_log_max = (unsigned)config->zstd_window_log_max,
                    .block_bytes_max = (size_t)config->eventlog_block_bytes_max},
        .log = {.line_bytes = (size_t)config->eventlog_line_bytes_max,
                .stages = (size_t)config->stages_max,
                .tasks = (size_t)config->tasks_max,
                .memory_bytes = (size_t)config->eventlog_memory_bytes_max},
        .archive_entries = (size_t)config->archive_entries_max,
        .archive_name_bytes = (size_t)config->archive_name_bytes_max,
    };
}

void ingest_limits_set_account(struct ingest_limits *limits, struct ledger_account *account)
{
    limits->framing.account = account;
    limits->log.account = account;
}

static enum joblog_policy policy_of(const char *word)
{
    if (strcmp(word, "keep") == 0)
        return JOBLOG_KEEP;
    return strcmp(word, "hash") == 0 ? JOBLOG_HASH : JOBLOG_DROP;
}

/* 64 bits of keyed BLAKE2b. */
static void limits_hash(const unsigned char key[32], struct strview text, char digits[17])
{
    unsigned char bytes[crypto_generichash_BYTES_MIN];
    (void)crypto_generichash(bytes, sizeof bytes, (const unsigned char *)text.at, text.n, key, 32);
    (void)sodium_bin2hex(digits, 17, bytes, 8);
}

void ingest_limits_set_privacy(struct ingest_limits *limits,
                               const struct config *config,
                               const unsigned char service_key[32],
                               const char *team_id)
{
    static const char purpose[] = "texts of event logs";
    struct joblog_privacy *privacy = &limits->log.privacy;
    *privacy = (struct joblog_privacy){.sql_text = policy_of(config->eventlog_sql_text),
                                       .paths = policy_of(config->eventlog_paths),
                                       .host_names = policy_of(config->eventlog_host_names),
                                       .hash = limits_hash};
    crypto_generichash_state state;
    (void)crypto_generichash_init(&state, service_key, 32, sizeof privacy->key);
    (void)crypto_generichash_update(&state, (const unsigned char *)purpose, sizeof purpose);
    (void)crypto_generichash_update(&state, (const unsigned char *)team_id, strlen(team_id));
    (void)crypto_generichash_final(&state, privacy->key, sizeof privacy->key);
}
