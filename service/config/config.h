#ifndef CONFIG_CONFIG_H
#define CONFIG_CONFIG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

/*
 * Every setting of provisord, read once and passed down as const. The table in settings.c describes
 * each: name, type, unit, range, default, help. File ("name = value" lines), environment
 * (PROVISOR_<NAME>) and command line (--name=value) are read from it in this order, later ones win;
 * docs/configuration.md and --help are printed from it. All values are checked before any is used.
 */
struct config {
    /* network */
    char listen_address[64];
    int64_t listen_port; /* 0: any free one */
    char health_address[64];
    int64_t health_port; /* 0: no second listener */
    int64_t health_connections_max;
    int64_t metrics_cache_ms; /* 0: made anew for each call */
    int64_t http_threads;
    int64_t connections_max;
    int64_t connection_idle_s;
    int64_t upload_grace_s;
    int64_t upload_bytes_per_s_min;
    int64_t reply_bytes_per_s_min;
    int64_t reply_large_bytes_per_s_min;
    int64_t connection_first_idle_s; /* before the first request */
    int64_t request_timeout_ms;      /* from the first header to the reply */
    int64_t drain_delay_ms;          /* SIGTERM: not ready, but still answering, for this long */
    int64_t drain_s;                 /* then: how long requests may finish */
    /* workers */
    int64_t io_workers;
    int64_t worker_burst_ms;
    int64_t worker_niceness;
    int64_t io_queue;
    int64_t io_wait_ms; /* 0: no bound */
    int64_t compute_workers;
    int64_t compute_queue;
    int64_t compute_wait_ms; /* 0: no bound */
    int64_t spare_workers;   /* of either kind */
    int64_t light_workers;   /* of either kind */
    /* database */
    char database_url[1024];
    char database_owner_url[1024]; /* for migrations; "" = database_url */
    bool migrate_on_start;
    int64_t migrate_lock_timeout_ms;
    int64_t migrate_lock_wait_s;
    int64_t database_connections;
    int64_t database_wait_ms;
    int64_t statement_timeout_ms;
    int64_t clock_skew_warn_ms;
    /* limits of a request */
    int64_t headers_max; /* fields */
    int64_t query_parameters_max;
    int64_t header_bytes_max; /* all fields */
    int64_t body_bytes_max;
    int64_t memory_bytes_max; /* of all requests together */
    int64_t request_memory_bytes_max;
    int64_t json_depth_max;
    int64_t json_values_max;
    int64_t jobs_max;
    int64_t advice_batch_max; /* questions of a batch */
    int64_t advised_jobs_max; /* that advice is given beside */
    int64_t memory_plan_applications_max;
    int64_t slowdown_jobs_max;
    int64_t slot_decision_jobs_max;
    int64_t decision_log_bytes_max;
    int64_t decision_log_line_bytes_max;
    int64_t decision_log_lines_max;
    int64_t slot_splits_max; /* slots x jobs of a plan */
    int64_t speculation_nodes_max;
    int64_t speculation_tasks_max; /* that run, on all nodes together */
    int64_t speculation_types_max;
    int64_t straggler_replay_steps_max;
    int64_t straggler_replay_looks_max;
    int64_t speculation_auto_nodes_max;
    int64_t plan_clusters_max;
    int64_t plan_tasks_max;
    int64_t distribution_points_max;
    int64_t stages_max; /* per job or run */
    int64_t tasks_max;  /* per request or run */
    int64_t labels_max;
    int64_t cores_max;    /* executors x cores of a cluster */
    int64_t clusters_max; /* of a team */
    int64_t price_books_max;
    int64_t prices_max;    /* of a price book */
    int64_t executors_max; /* that advice considers */
    int64_t remedy_task_budget;
    int64_t advice_task_budget;
    int64_t advice_extrapolation_max;
    int64_t advice_error_percent_max;
    int64_t advice_memory_per_core_bytes;
    int64_t advice_memory_cut_runs;
    int64_t inline_body_bytes;
    int64_t reply_pack_bytes_min;
    int64_t feasibility_inline_tasks;
    int64_t nearest_runs;          /* advice replays */
    int64_t observations_max;      /* of a fit */
    int64_t points_max;            /* of a prediction */
    int64_t experiment_points_max; /* among which next experiments are chosen */
    int64_t page_default;
    int64_t page_max;
    int64_t fields_max; /* names of ?fields= */
    /* event logs */
    int64_t eventlog_bytes_max;       /* as sent */
    int64_t eventlog_plain_bytes_max; /* decompressed */
    int64_t eventlog_ratio_max;
    int64_t eventlog_line_bytes_max;
    int64_t eventlog_memory_bytes_max;
    int64_t eventlog_block_bytes_max; /* lz4, snappy */
    char eventlog_sql_text[8];        /* keep hash drop, as the two below */
    char eventlog_paths[8];
    char eventlog_host_names[8];
    int64_t zstd_window_log_max;
    int64_t archive_entries_max;
    int64_t archive_name_bytes_max;
    char spool_directory[1024];
    int64_t spool_bytes_max;
    int64_t spool_total_bytes_max;
    /* runs as NDJSON */
    int64_t exports_max; /* at once */
    int64_t export_spool_bytes;
    int64_t export_reader_bytes_per_s;
    int64_t export_grace_s; /* before that rate counts */
    int64_t export_timeout_s;
    int64_t imports_max; /* being stored at once */
    int64_t import_timeout_s;
    int64_t import_bytes_max; /* decompressed */
    int64_t import_line_bytes_max;
    int64_t import_runs_max;
    /* housekeeping; days and runs: 0 is no limit */
    int64_t quota_applications; /* of a team that has none of its own; 0: no bound */
    int64_t quota_runs;
    int64_t quota_advice;
    int64_t quota_tokens;
    int64_t quota_operations;
    int64_t quota_replies;
    int64_t quota_bytes;
    int64_t usage_recount_s;

    int64_t maintenance_interval_s; /* 0: never by itself */
    int64_t maintenance_batch_rows; /* rows a transaction */
    int64_t retention_days;         /* of runs whose application does not say */
    int64_t retention_runs;
    int64_t advice_retention_days;
    int64_t audit_retention_days;
    int64_t ingestions_refused_max; /* of a team */
    int64_t outbox_retention_days;
    int64_t outbox_events_max; /* of a team */
    int64_t token_retention_days;
    int64_t task_summary_after_days;
    int64_t partition_months_ahead;
    /* what clusters report */
    int64_t samples_max;
    int64_t samples_ahead_s;
    int64_t sampled_operations_max; /* of a cluster */
    int64_t sampled_senders_max;
    int64_t performance_points; /* of a distribution that is kept */
    int64_t performance_half_life_s;
    int64_t outages_max; /* of a cluster */
    int64_t outage_half_life_s;
    int64_t outage_prior_mean_time_between_s; /* > outage_prior_mean_outage_s */
    int64_t outage_prior_mean_outage_s;
    int64_t outage_prior_weight_s;
    /* caches */
    int64_t token_cache_ms;         /* at most 5000 */
    int64_t token_warning_days;     /* 0: never */
    int64_t token_refusal_cache_ms; /* at most 5000 */
    int64_t token_lookups_per_s;    /* 0: no bound */
    int64_t prediction_cache_ms;    /* at most 5000 */
    int64_t prediction_cache_entries;
    /* models fitted when runs arrive */
    int64_t fit_queue;
    int64_t fit_settle_ms;
    /* long work */
    int64_t refit_resamples;
    int64_t refit_resamples_max;
    int64_t refit_points_max;

    int64_t simulation_workflows_max;
    int64_t simulation_tasks_max;
    int64_t simulation_workflow_tasks_max;
    int64_t simulation_clusters_max;
    int64_t simulation_runs_max;
    int64_t simulation_task_runs_max;
    int64_t simulation_templates_max;
    int64_t simulation_operations_max;
    int64_t simulation_jobs_max;
    int64_t simulation_job_task_runs_max;
    int64_t simulation_probes_per_task_max;
    int64_t simulation_job_rows_max;
    int64_t simulation_speculation_looks_max;
    int64_t simulation_network_steps_max;
    int64_t simulation_search_task_runs;
    int64_t simulation_search_task_runs_max;
    int64_t simulation_threads;
    int64_t simulation_memory_bytes_max; /* of slots and tasks */
    int64_t control_inline_steps; /* of control simulations: samples of executors and tasks */
    int64_t control_steps_max;
    int64_t control_repetitions_max;
    int64_t control_search_simulations_max;
    int64_t control_executors_max;
    int64_t control_trace_intervals;
    int64_t control_trace_numbers_max;

    int64_t operation_workers; /* 0: this process does none */
    int64_t operation_slice_ms;
    int64_t operation_paused_max;
    int64_t operation_paused_bytes_max;
    int64_t operation_team_running_max;
    int64_t operation_team_queued_max;
    int64_t operation_lease_s;
    int64_t operation_attempts_max;
    int64_t operation_retention_s;
    int64_t operation_tombstone_days;
    int64_t operation_wait_max_s;
    int64_t operation_waits_max;
    int64_t operation_streams_max;
    int64_t operation_team_streams_max;
    /* quota loops */
    int64_t workloads_max;      /* of a team */
    int64_t workload_bytes_max; /* of all of them, as stored */
    int64_t workload_trace_bytes_max;
    int64_t workload_jobs_max;
    int64_t workload_tasks_max;
    int64_t workload_job_tasks_max;
    int64_t workload_open_tasks_max;
    int64_t workload_line_bytes_max;

    int64_t quota_loops_max;             /* of a team */
    int64_t quota_loop_workers_max;      /* of one */
    int64_t quota_loop_applications_max; /* likewise */
    int64_t quota_loop_executors_max;    /* in a sample */
    int64_t quota_loop_retention_days;   /* without a sample */

    /* admissions */
    int64_t admissions_max;        /* held of a cluster at a time */
    int64_t admission_ahead_max_s; /* of its start */
    int64_t admission_length_max_s;
    int64_t admission_poll_ms;
    int64_t admission_retention_days;

    /* webhooks */
    bool webhook_delivery;              /* by this process */
    char webhook_private_targets[1024]; /* networks (dispatch/target.h) */
    bool webhook_plain_http;
    char webhook_ca_file[1024]; /* "": those of the system */
    int64_t webhook_connections_max;
    int64_t webhook_timeout_ms;
    int64_t webhook_connect_timeout_ms;
    int64_t webhook_retry_first_ms;
    int64_t webhook_retry_max_s;
    int64_t webhook_give_up_s;
    int64_t webhook_pause_after; /* failures in a row */
    int64_t webhook_pause_first_s;
    int64_t webhook_pause_max_s;
    int64_t webhook_poll_ms;
    int64_t webhooks_max;        /* of a team */
    int64_t webhook_pending_max; /* deliveries of one */
    int64_t webhook_delivery_retention_days;
    /* logging */
    char log_level[8];                 /* debug info warn error */
    int64_t log_unauthenticated_per_s; /* 0: no bound */
};

/* file NULL: none. argv holds only --name=value words. PV_E_INVALID: err->detail says which and
 * why. */
enum pv_code config_read(const char *file,
                         int argc,
                         char *const argv[],
                         struct config *config,
                         struct pv_error *err) PV_MUSTCHECK;

/*
 * Tell each variable PROVISOR_... that is no setting: worth a warning, not a refusal, since an
 * environment is often shared.
 */
void config_unknown_variables(void (*report)(const char *name));

/* Default values. */
void config_defaults(struct config *config);

/* Text for --help and `provisord settings`; the tables of docs/configuration.md, by section. */
void config_print_help(FILE *out);
void config_print_markdown(FILE *out);

#endif
