#include "cli/commands/commands.h"

#include <stddef.h>

/* clang-format off */
const struct command *const all_commands[] = {
    &command_login,       &command_advise,     &command_gate,       &command_submit,
    &command_ingest,      &command_ingestions, &command_apps,       &command_runs,
    &command_models,      &command_profile,
    &command_speedup,     &command_diagnose,   &command_stragglers, &command_accuracy,
    &command_next_experiments,
    &command_batch,       &command_feasible,   &command_copies,     &command_contention,
    &command_memory,      &command_admit,      &command_admissions, &command_operations,
    &command_workloads,   &command_simulate,   &command_slots,      &command_slot_decisions,
    &command_speculation, &command_control,    &command_stage_plan, &command_pigeon_plan,
    &command_slowdowns,   &command_quota_loops, &command_clusters,
    &command_price_books, &command_name_rules, &command_tokens,     &command_usage,
    &command_audit,       &command_webhooks,   &command_call,       &command_completion,
    &command_help,        &command_man,        NULL};
/* clang-format on */
