#ifndef CLI_COMMANDS_COMMANDS_H
#define CLI_COMMANDS_COMMANDS_H

#include "cli/arguments/command.h"

/* The commands of the program, in the order of the help; ended by NULL. One file each. */
extern const struct command *const all_commands[];

extern const struct command command_accuracy;
extern const struct command command_admissions;
extern const struct command command_admit;
extern const struct command command_advise;
extern const struct command command_apps;
extern const struct command command_batch;
extern const struct command command_clusters;
extern const struct command command_completion;
extern const struct command command_contention;
extern const struct command command_memory;
extern const struct command command_copies;
extern const struct command command_diagnose;
extern const struct command command_stragglers;
extern const struct command command_feasible;
extern const struct command command_gate;
extern const struct command command_help;
extern const struct command command_ingest;
extern const struct command command_ingestions;
extern const struct command command_login;
extern const struct command command_man;
extern const struct command command_models;
extern const struct command command_next_experiments;
extern const struct command command_operations;
extern const struct command command_price_books;
extern const struct command command_runs;
extern const struct command command_simulate;
extern const struct command command_slot_decisions;
extern const struct command command_slots;
extern const struct command command_speculation;
extern const struct command command_speedup;
extern const struct command command_submit;
extern const struct command command_tokens;
extern const struct command command_webhooks;
extern const struct command command_workloads;
extern const struct command command_audit;
extern const struct command command_call;
extern const struct command command_control;
extern const struct command command_name_rules;
extern const struct command command_pigeon_plan;
extern const struct command command_profile;
extern const struct command command_quota_loops;
extern const struct command command_slowdowns;
extern const struct command command_stage_plan;
extern const struct command command_usage;

/* Inside `runs`; in a file of their own. */
extern const struct command command_runs_export;
extern const struct command command_runs_import;

#endif
