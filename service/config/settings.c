#include "config/settings.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const policies[] = {"keep", "hash", "drop", NULL};
static const char *const log_levels[] = {"debug", "info", "warn", "error", NULL};

#define KIB INT64_C(1024)
#define MIB (KIB * 1024)
#define GIB (MIB * 1024)
#define TIB (GIB * 1024)

#define AT(member) .name = #member, .offset = offsetof(struct config, member)
#define SIZE(member) .size = sizeof(((struct config *)0)->member)
#define INTEGER(member, unit_, low_, high_, fallback_, help_)                                      \
    {                                                                                              \
        AT(member), .kind = SETTING_INTEGER, .unit = unit_, .low = low_, .high = high_,            \
                    .fallback = fallback_, .help = help_                                           \
    }
#define BOOLEAN(member, fallback_, help_)                                                          \
    {                                                                                              \
        AT(member), .kind = SETTING_BOOLEAN, .unit = "", .fallback = fallback_, .help = help_      \
    }
#define TEXT(member, secret_, fallback_, help_)                                                    \
    {                                                                                              \
        AT(member), SIZE(member), .kind = SETTING_TEXT, .unit = "", .secret = secret_,             \
                                  .fallback = fallback_, .help = help_                             \
    }
#define WORD(member, words_, fallback_, help_)                                                     \
    {                                                                                              \
        AT(member), SIZE(member), .kind = SETTING_WORD, .unit = "", .words = words_,               \
                                  .fallback = fallback_, .help = help_                             \
    }

/* clang-format off */
const struct setting settings[] = {
    TEXT(listen_address, false, "127.0.0.1", "address to listen on, IPv4 or IPv6; TLS is the business of the proxy in front"),
    INTEGER(listen_port, "", 0, 65535, "8080", "port to listen on; 0 selects a free one and logs it"),
    TEXT(health_address, false, "127.0.0.1", "address of the second listener, which answers /healthz, /readyz and /metrics however busy the first one is; it asks for no token"),
    INTEGER(health_port, "", 0, 65535, "0", "port of the second listener; 0: there is none"),
    INTEGER(health_connections_max, "", 4, 100000, "64", "open connections of the second listener"),
    INTEGER(metrics_cache_ms, "ms", 0, 60000, "1000", "how long the text of /metrics is answered again before it is made anew; 0: not at all"),
    INTEGER(http_threads, "", 1, 256, "2", "threads that read and write sockets"),
    INTEGER(connections_max, "", 1, 1000000, "10000", "open connections, shared by the teams that have some; when only a sixteenth of them (256 at most) is left, an idle one is closed for each new one: first those that never sent a valid token, then the longest idle of the team that has the most"),
    INTEGER(connection_idle_s, "s", 1, 86400, "75", "a connection without traffic is closed after this time"),
    INTEGER(connection_first_idle_s, "s", 1, 86400, "10", "the same before the first request; never longer than connection_idle_s"),
    INTEGER(upload_grace_s, "s", 1, 86400, "60", "time that an upload (event log, import) has whatever its size, not counting what the service itself takes to read it"),
    INTEGER(upload_bytes_per_s_min, "bytes/s", 1, GIB, "16384", "least average rate of an upload: its time is upload_grace_s and what its bytes take at this rate; a slower one is answered 408 and cut"),
    INTEGER(reply_bytes_per_s_min, "bytes/s", 1, GIB, "16384", "a reply is to be read within connection_idle_s and what its first MiB takes at this rate"),
    INTEGER(reply_large_bytes_per_s_min, "bytes/s", 1, GIB, "1048576", "and what is beyond its first MiB at this rate, for it holds memory until it is read; else the connection is cut"),
    INTEGER(request_timeout_ms, "ms", 100, 3600000, "30000", "time within which a request is answered; after that the reply is 503"),
    INTEGER(drain_delay_ms, "ms", 0, 600000, "0", "after SIGTERM, time during which new requests are still accepted while /readyz fails, so that a load balancer notices"),
    INTEGER(drain_s, "s", 0, 3600, "25", "after SIGTERM, time that requests in progress have to finish"),

    INTEGER(io_workers, "", 1, 1024, "16", "threads that wait for PostgreSQL"),
    INTEGER(io_queue, "", 1, 1000000, "1024", "requests that may wait for an io worker; further ones get 503, or 429 where other teams wait"),
    INTEGER(io_wait_ms, "ms", 0, 3600000, "250", "a team whose oldest request has waited longer for an io worker gets 503 or 429 for further ones; 0: no bound"),
    INTEGER(worker_burst_ms, "ms", 0, 1000, "1", "how long an io or compute worker computes before it leaves its core to others for a moment; 0: it never does"),
    INTEGER(worker_niceness, "", 0, 19, "10", "by how much the priority of io and compute workers is lower than that of the threads that accept and refuse requests"),
    INTEGER(compute_workers, "", 0, 1024, "0", "threads that compute; 0: one per core, at least 2"),
    INTEGER(compute_queue, "", 1, 1000000, "256", "requests that may wait for a compute worker; further ones get 503, or 429 where other teams wait"),
    INTEGER(compute_wait_ms, "ms", 0, 3600000, "15000", "the same for compute workers"),
    INTEGER(spare_workers, "", 0, 256, "2", "further io workers, and as many compute workers, for requests of teams that have none running"),
    INTEGER(light_workers, "", 0, 256, "2", "further io workers, and as many compute workers, of undiminished priority, for requests that take little (5 ms, as estimated) of teams that have none running, few waiting and lately used less than a quarter of a thread"),

    TEXT(database_url, true, "postgresql:///provisor", "PostgreSQL, as the role of the service (libpq URI or key=value text)"),
    TEXT(database_owner_url, true, "", "PostgreSQL, as the role that owns the schema: migrations, `provisord token`, `quotas` and `operations`; empty: database_url"),
    BOOLEAN(migrate_on_start, "true", "apply missing migrations when the service starts"),
    INTEGER(migrate_lock_timeout_ms, "ms", 1, 60000, "300", "a migration that has waited longer for a table lets go and tries again, so that nobody waits behind it for longer"),
    INTEGER(migrate_lock_wait_s, "s", 0, 86400, "600", "a migration is tried again for this time while others use its table; after that `provisord migrate` fails, and the service reports it and begins anew"),
    INTEGER(database_connections, "", 1, 1000, "32", "most connections to PostgreSQL"),
    INTEGER(database_wait_ms, "ms", 1, 60000, "2000", "time to wait for a free connection; after that the reply is 503"),
    INTEGER(statement_timeout_ms, "ms", 10, 600000, "10000", "a statement that takes longer is cancelled"),
    INTEGER(clock_skew_warn_ms, "ms", 0, 86400000, "1000", "a clock that differs by more from the database's is reported in the log; 0: never"),

    INTEGER(headers_max, "", 8, 1000, "100", "header fields of a request; more are 431"),
    INTEGER(header_bytes_max, "bytes", KIB, 28 * KIB, "16384", "size of all header fields together; more is 431"),
    INTEGER(query_parameters_max, "", 1, 400, "100", "parameters in the query of a request; more are 400"),
    INTEGER(body_bytes_max, "bytes", KIB, GIB, "8388608", "size of a JSON body; a larger one is 413"),
    INTEGER(memory_bytes_max, "bytes", 0, 65536 * GIB, "0", "memory that requests and operations may hold together, shared by the teams that have any; 0: half of the machine's, or of the least that its cgroup or one around it allows"),
    INTEGER(request_memory_bytes_max, "bytes", MIB, 64 * GIB, "536870912", "memory that one request may use for its reply"),
    INTEGER(json_depth_max, "", 4, 512, "64", "nesting of a JSON body; deeper is 400"),
    INTEGER(json_values_max, "", 100, 100000000, "2000000", "members and items of a JSON body; more are 422"),
    INTEGER(jobs_max, "", 1, 100000, "1000", "jobs of a request"),
    INTEGER(advice_batch_max, "", 1, 100000, "1000", "questions of a batch for advice"),
    INTEGER(advised_jobs_max, "", 1, 10000, "100", "jobs that were advised and have not reported back, beside which advice is given (running_from); the newest count"),
    INTEGER(memory_plan_applications_max, "", 1, 1000000, "10000", "applications of a memory plan"),
    INTEGER(slot_decision_jobs_max, "", 1, 1000000, "10000", "jobs of a state in which a slot has come free"),
    INTEGER(decision_log_bytes_max, "bytes", KIB, 16 * TIB, "1073741824", "size of a log of decisions, decompressed; a larger one is 413"),
    INTEGER(decision_log_line_bytes_max, "bytes", KIB, GIB, "8388608", "length of one line of a log of decisions; a longer one is 422"),
    INTEGER(decision_log_lines_max, "", 1, 1000000000, "1000000", "lines of a log of decisions; more are 422"),
    INTEGER(slot_splits_max, "", 1, INT64_C(1000000000000), "10000000", "slots x jobs of a slot plan, once more for each concurrency of its sweep, and of a simulation of `fresh_static`; more are 422"),
    INTEGER(slowdown_jobs_max, "", 1, 10000000, "1000000", "jobs of a request for slowdowns"),
    INTEGER(speculation_nodes_max, "", 1, 100000, "10000", "nodes of a decision on copies of slow tasks"),
    INTEGER(speculation_tasks_max, "", 1, 10000000, "200000", "running tasks of a decision on copies of slow tasks"),
    INTEGER(speculation_types_max, "", 1, 10000, "1000", "types of tasks of a decision on copies of slow tasks"),
    INTEGER(speculation_auto_nodes_max, "", 2, 20000, "2000", "nodes of which a decision on copies of slow tasks chooses the number of levels (`auto`): that compares each node with every other. A number of levels that is given makes no more comparisons: above 8, nodes x levels are at most the square of this"),
    INTEGER(straggler_replay_steps_max, "", 1, INT64_C(1000000000000), "200000000", "tasks x (nodes + tasks at a time), summed over the stages of the last run, for which copies of slow tasks are replayed (`GET /v1/applications/{name}/stragglers`); a run with more has the warning too_many_tasks. A core does some 100,000,000 a second"),
    INTEGER(straggler_replay_looks_max, "", 1, INT64_C(1000000000000), "50000000", "how often decisions on copies look at a node or a running task in the replays of that run; where they come to more, likewise. A core does some 50,000,000 a second"),
    INTEGER(plan_clusters_max, "", 1, 10000, "1000", "clusters of a copy plan"),
    INTEGER(plan_tasks_max, "", 1, 10000000, "20000", "tasks of a copy plan"),
    INTEGER(distribution_points_max, "", 1, 100000, "1000", "points of a distribution of speeds in a request"),
    INTEGER(stages_max, "", 1, 1000000, "10000", "stages of a job or run"),
    INTEGER(tasks_max, "", 1, 100000000, "1000000", "tasks of a request or run"),
    INTEGER(labels_max, "", 0, 1000, "64", "labels of an application or run"),
    INTEGER(cores_max, "", 1, 100000000, "1000000", "cores of a cluster, and of a run as it is corrected or stated with a log: executors x cores_per_executor"),
    INTEGER(clusters_max, "", 1, 1000000, "1000", "clusters of a team; more are 422"),
    INTEGER(price_books_max, "", 1, 100000, "100", "price books of a team; more are 422"),
    INTEGER(prices_max, "", 1, 1000000, "10000", "rows of a price book; more are 422"),
    INTEGER(executors_max, "", 1, 100000, "1000", "most executors that advice considers"),
    INTEGER(remedy_task_budget, "", 0, INT64_C(10000000000), "5000000", "tasks simulated in each search for remedies; a search that was cut short says so"),
    INTEGER(advice_task_budget, "", 1000, INT64_C(10000000000), "2000000", "tasks simulated to predict a job over its executor counts; beyond it the grid of counts becomes coarser, then distant runs are left out"),
    INTEGER(advice_extrapolation_max, "", 1, 1000, "4", "times the most executors that ran (by cores) that advice goes to where a request sets no `max_executors`; also how many times away the problem size asked about may lie from a single run's; from those of several its square"),
    INTEGER(advice_error_percent_max, "", 1, 1000, "50", "percent by which predictions of runs left out may be off; beyond it advice has the verdict `unknown` and no recommendation, and beyond half of it the warning `poor_model`"),
    INTEGER(advice_memory_per_core_bytes, "bytes", 256 * MIB, TIB, "17179869184", "memory of an executor (heap, overhead, off-heap and Python) per core to which advice lets it grow; an executor that ran with more is not changed for that"),
    INTEGER(advice_memory_cut_runs, "", 1, 20, "5", "runs, of at least the same size per executor, that must have sufficed with as much memory as now or less before advice cuts the memory of executors"),
    INTEGER(inline_body_bytes, "bytes", 0, MIB, "65536", "a body of at most this size is parsed where the request is; larger ones wait for a compute worker"),
    INTEGER(reply_pack_bytes_min, "bytes", 0, GIB, "1024", "replies of at least this size are compressed with gzip if the request accepts it (Accept-Encoding)"),
    INTEGER(feasibility_inline_tasks, "", 0, 1000000, "10000", "a feasibility request of at most this many tasks is answered at once; larger ones wait for a compute worker"),
    INTEGER(nearest_runs, "", 1, 100, "5", "runs of the history that advice replays"),
    INTEGER(observations_max, "", 1, 100000, "1000", "observations of a fit"),
    INTEGER(points_max, "", 1, 1000000, "10000", "points of a request for predictions"),
    INTEGER(experiment_points_max, "", 1, 100000, "2000", "points (problem sizes times executor counts) among which next experiments are chosen"),
    INTEGER(page_default, "", 1, 1000, "50", "items of a page when `limit` is not given"),
    INTEGER(page_max, "", 1, 1000, "200", "most items of a page; a larger `limit` is 422"),
    INTEGER(fields_max, "", 1, 1000, "64", "names that the parameter `fields` of a request may list; more are 422"),

    INTEGER(eventlog_bytes_max, "bytes", MIB, 16 * TIB, "17179869184", "size of an event log as sent; a larger one is 413"),
    INTEGER(eventlog_plain_bytes_max, "bytes", MIB, 16 * TIB, "274877906944", "size of an event log when decompressed"),
    INTEGER(eventlog_ratio_max, "", 2, 1000000, "1000", "decompressed bytes per compressed byte; more is treated as an attack"),
    INTEGER(eventlog_line_bytes_max, "bytes", 64 * KIB, GIB, "67108864", "length of one line of an event log; a longer one counts as damaged"),
    INTEGER(eventlog_memory_bytes_max, "bytes", MIB, 64 * GIB, "1073741824", "memory that one event log may use while it is read"),
    INTEGER(eventlog_block_bytes_max, "bytes", 64 * KIB, 512 * MIB, "8388608", "largest block of an lz4 or snappy stream, decompressed; a decoder holds up to two"),
    WORD(eventlog_sql_text, policies, "hash", "stage names that are not call sites (SQL, what users wrote): keep, hash (with the service's key) or drop"),
    WORD(eventlog_paths, policies, "drop", "directories of call sites, paths in texts: keep, hash or drop"),
    WORD(eventlog_host_names, policies, "hash", "host names and addresses in texts: keep, hash or drop"),
    INTEGER(zstd_window_log_max, "", 10, 31, "27", "largest zstd window, as a power of two; a decoder holds it in memory"),
    INTEGER(archive_entries_max, "", 1, 1000000, "10000", "files of a tar, zip or folder that contains a log; more are 422"),
    INTEGER(archive_name_bytes_max, "bytes", 64, 65536, "1024", "length of a file's name in an archive; a longer one is 422"),
    TEXT(spool_directory, false, "/var/tmp", "directory where uploaded archives, imports of runs and workloads wait until they are complete, as unnamed files that vanish with the process"),
    INTEGER(spool_bytes_max, "bytes", MIB, 16 * TIB, "17179869184", "space that one of them may use there (decompressed, except for the files in a zip); more is 413"),
    INTEGER(spool_total_bytes_max, "bytes", MIB, 16 * TIB, "34359738368", "space that all of them together may use there, shared by the teams that use some; more is 503, or 429 where others use some, too"),

    INTEGER(exports_max, "", 1, 1000, "4", "simultaneous exports of runs, shared by the teams that make any; more get 503"),
    INTEGER(imports_max, "", 1, 1000, "4", "imports of runs and workloads being stored at the same time, each with a connection to PostgreSQL, shared by the teams that make any; more get 503"),
    INTEGER(import_timeout_s, "s", 1, 86400, "900", "time to store an import or a workload whose body has arrived; after that the reply is 503"),
    INTEGER(import_bytes_max, "bytes", KIB, 16 * TIB, "4294967296", "size of an import, decompressed; a larger one is 413"),
    INTEGER(import_line_bytes_max, "bytes", KIB, GIB, "67108864", "length of one line of an import; a longer one is 422"),
    INTEGER(import_runs_max, "", 1, 1000000000, "1000000", "runs of an import; more are 422"),
    INTEGER(export_spool_bytes, "bytes", MIB, 16 * TIB, "67108864", "what an export writes to spool_directory in one transaction before it is sent; a larger history is read in several"),
    INTEGER(export_reader_bytes_per_s, "bytes/s", 0, GIB, "65536", "rate at which the reader of an export must read on average, after export_grace_s; a slower one is cut off"),
    INTEGER(export_grace_s, "s", 0, 86400, "30", "time before the rate of an export's reader counts"),
    INTEGER(export_timeout_s, "s", 1, 86400, "3600", "an export that its reader has not received by then is cut off"),

    INTEGER(quota_applications, "", 0, 1000000000, "10000", "applications that a team may have, unless its own quota says otherwise; more are 422; 0: no bound"),
    INTEGER(quota_runs, "", 0, 1000000000000, "10000000", "runs that a team may store, likewise"),
    INTEGER(quota_advice, "", 0, 1000000000000, "5000000", "stored advice of a team, likewise"),
    INTEGER(quota_tokens, "", 0, 1000000000, "10000", "tokens of a team, likewise; expired and revoked ones count until token_retention_days have passed"),
    INTEGER(quota_operations, "", 0, 1000000000, "100000", "operations of a team that are kept; more are 429, since they go with time; 0: no bound"),
    INTEGER(quota_replies, "", 0, 1000000000000, "2000000", "replies of a team that are kept for a day under an Idempotency-Key, likewise"),
    INTEGER(quota_bytes, "bytes", 0, 1024 * TIB, "107374182400", "estimate of what runs, advice, models, kept replies and operations of a team take in the database; more is 422; 0: no bound"),
    INTEGER(usage_recount_s, "s", 60, 31536000, "86400", "time between two counts of what a team stores, which correct what was counted along the way"),

    INTEGER(maintenance_interval_s, "s", 0, 604800, "3600", "time between two passes of maintenance, of all replicas together; 0: only `provisord maintain` does it"),
    INTEGER(maintenance_batch_rows, "", 1, 100000, "500", "rows that maintenance deletes in one transaction"),
    INTEGER(retention_days, "d", 0, 36500, "0", "runs older than this are deleted, unless their application specifies a limit; 0: none are"),
    INTEGER(retention_runs, "", 0, 1000000000, "0", "runs kept per application, unless it specifies a limit; 0: all"),
    INTEGER(advice_retention_days, "d", 0, 36500, "0", "advice older than this is deleted; 0: none is"),
    INTEGER(audit_retention_days, "d", 0, 36500, "400", "audit entries older than this are deleted, but none younger than 30 days; 0: none are"),
    INTEGER(ingestions_refused_max, "", 1, 1000000, "10000", "records of refused and doubled logs kept of a team, the newest ones; the others are deleted at the next refusal"),
    INTEGER(outbox_retention_days, "d", 0, 36500, "7", "events older than this are deleted, delivered or not; 0: none are"),
    INTEGER(outbox_events_max, "", 0, 1000000000, "100000", "events kept of a team, the newest ones; maintenance deletes the others, delivered or not; 0: all"),
    INTEGER(token_retention_days, "d", 0, 36500, "30", "tokens that expired or were revoked longer ago than this are deleted; 0: none are"),
    INTEGER(task_summary_after_days, "d", 0, 36500, "0", "task times of runs older than this are replaced by a summary of their distribution; 0: never"),
    INTEGER(partition_months_ahead, "", 0, 24, "3", "months for which partitions are created ahead of time"),

    INTEGER(samples_max, "", 1, 1000000, "1000", "items of a report of a cluster (speeds and outages); more are 422"),
    INTEGER(samples_ahead_s, "s", 0, 86400, "60", "how far ahead of the service's clock the time of a sample may be; more is 422"),
    INTEGER(sampled_operations_max, "", 1, 100000, "1000", "operations of a cluster whose speeds are kept; more are 422"),
    INTEGER(sampled_senders_max, "", 1, 100000, "1000", "clusters from which the speed of transfers into a cluster is kept; more are 422"),
    INTEGER(performance_points, "", 2, 32, "16", "points of a stored distribution of speeds"),
    INTEGER(performance_half_life_s, "s", 1, 315360000, "604800", "time after which the weight of a speed sample has halved"),
    INTEGER(outages_max, "", 1, 10000, "200", "outages kept per cluster, the newest ones"),
    INTEGER(outage_half_life_s, "s", 1, 315360000, "2592000", "time after which the weight of an outage, and of time without one, has halved"),
    INTEGER(outage_prior_mean_time_between_s, "s", 1, INT64_C(3153600000), "2592000", "prior for the time between outages, until a cluster's own reports outweigh it"),
    INTEGER(outage_prior_mean_outage_s, "s", 0, 315360000, "600", "prior for the duration of an outage; less than outage_prior_mean_time_between_s"),
    INTEGER(outage_prior_weight_s, "s", 1, 315360000, "604800", "time of observation that this prior is worth"),

    INTEGER(token_cache_ms, "ms", 0, 5000, "2000", "how long a token's rights are cached; a revoked token stops working within this time"),
    INTEGER(token_warning_days, "d", 0, 3650, "14", "from how long before a token's end replies to it have the header Provisor-Token-Expires; 0: never"),
    INTEGER(token_refusal_cache_ms, "ms", 0, 5000, "2000", "how long it is remembered that a token is not valid"),
    INTEGER(token_lookups_per_s, "", 0, 1000000, "500", "tokens a second that are looked up although nobody has used them before; requests with further ones get 503; 0: no bound"),
    INTEGER(prediction_cache_ms, "ms", 0, 5000, "2000", "how long the version of a history is cached"),
    INTEGER(prediction_cache_entries, "", 1, 1000000, "256", "predicted curves kept in memory"),

    INTEGER(fit_queue, "", 0, 100000, "1000", "applications that may wait for a fit after runs have arrived; the first reader fits those beyond, or all if this is 0"),
    INTEGER(fit_settle_ms, "ms", 0, 60000, "1000", "how long an application waits in that queue, so that runs that arrive meanwhile share one fit"),

    INTEGER(refit_resamples, "", 20, 1000000, "1000", "resamples of a refit that does not specify a number"),
    INTEGER(refit_resamples_max, "", 20, 1000000, "100000", "most resamples of a refit; more are 422"),
    INTEGER(refit_points_max, "", 0, 10000, "100", "most points for which a refit gives intervals; more are 422"),

    INTEGER(simulation_workflows_max, "", 1, 1000000, "10000", "workflows of a simulation; more are 422"),
    INTEGER(simulation_tasks_max, "", 1, 100000000, "1000000", "tasks of all jobs, or as many as are expected of all workflows, together; more are 422"),
    INTEGER(simulation_workflow_tasks_max, "", 1, 1000000, "10000", "tasks of one workflow or template; more are 422"),
    INTEGER(simulation_clusters_max, "", 1, 10000, "500", "clusters of a simulation; more are 422"),
    INTEGER(simulation_runs_max, "", 1, 1000000, "1000", "policies x loads x repetitions of a simulation; more are 422"),
    INTEGER(simulation_task_runs_max, "", 1, 1000000000000, "50000000", "policies x loads x repetitions x expected tasks of a simulation; more are 422. A core does 1,000 to 10,000 a second"),
    INTEGER(simulation_templates_max, "", 0, 10000, "20", "recorded executions given to a simulation; more are 422"),
    INTEGER(simulation_operations_max, "", 1, 10000, "100", "different programs that they run together; more are 422"),
    INTEGER(simulation_jobs_max, "", 1, 1000000, "10000", "jobs of a simulation of slots or tasks; more are 422"),
    INTEGER(simulation_job_task_runs_max, "", 1, 1000000000000, "1000000000", "tasks of all jobs x policies x loads x repetitions of a simulation of slots or tasks, each time with the workers and groups of tasks, a task of a policy that probes counted once for each probe (of eagle 20 a short job at least), of fresh max(1, jobs in a phase/200) times, of omo with batch_finish max(1, min(jobs, slots)/700) times, of containers max(1, sizes of containers/16) times (of capacity sizes x queues), for each incident twice the tasks that its node has slots for, and a job with shuffle_bytes besides (maps + reduces) x min(nodes, maps) x min(nodes, reduces)/8 times; more are 422. A core does 1,000,000 to 5,000,000 a second, and more workers"),
    INTEGER(simulation_probes_per_task_max, "", 1, 1000, "100", "probes_per_task of the policies sparrow and eagle; more are 422"),
    INTEGER(simulation_job_rows_max, "", 1, 100000000, "500000", "jobs x policies x loads of a simulation of slots or tasks whose result includes jobs; more are 422"),
    INTEGER(simulation_speculation_looks_max, "", 1, INT64_C(1000000000000000), "10000000000", "how often decisions on copies of slow tasks look at a node, a running task, the mean of what a node has finished, or a copy that waits (32 times more each decision; where levels are found, once for each type, node and other node), over all simulations of a request, which have equal shares; a simulation that comes to more fails. A core does 20,000,000 to 100,000,000 a second"),
    INTEGER(simulation_network_steps_max, "", 1, 1000000000000, "10000000000", "steps in which simulations of slots share the network among shuffles (pairs of nodes that are looked at), of all policies x loads x repetitions together; one that takes more than its share fails. A core does about 100,000,000 a second"),
    INTEGER(simulation_search_task_runs, "", 1, 1000000000000, "200000000", "tasks that a search for the best terms simulates at most where the request does not say so, over all loads, counted as for simulation_job_task_runs_max"),
    INTEGER(simulation_search_task_runs_max, "", 1, 1000000000000, "1000000000", "most that a request may say; more is 422. A core does 1,000,000 to 5,000,000 a second"),
    INTEGER(simulation_threads, "", 1, 256, "2", "threads of an operation that simulates slots or tasks: policies, loads and repetitions side by side, each in memory of its own"),
    INTEGER(simulation_memory_bytes_max, "bytes", 1024 * KIB, 64 * GIB, "1073741824", "memory that simulating one policy of slots or tasks may take, together with the jobs of the workload; more is 422"),
    INTEGER(control_inline_steps, "", 0, INT64_C(1000000000), "200000", "a control simulation of about this many steps (samples of executors and tasks, over all strategies and gammas) is answered at once; larger ones become operations"),
    INTEGER(control_steps_max, "", 1000, INT64_C(1000000000000), "500000000", "steps of a control simulation; one that is expected to take more is 422, one that does fails. A core does about 5,000,000 a second"),
    INTEGER(control_repetitions_max, "", 1, 10000, "100", "repetitions of a control simulation with penalties; more are 422"),
    INTEGER(control_search_simulations_max, "", 1, 100000, "2000", "simulations that the search for a configuration may ask for; more are 422"),
    INTEGER(control_executors_max, "", 1, 10000000, "100000", "stages x executors of a control simulation; more are 422"),
    INTEGER(control_trace_intervals, "", 2, 100000, "500", "intervals of a trace; they become longer with the time that is simulated"),
    INTEGER(control_trace_numbers_max, "", 1000, INT64_C(1000000000), "2000000", "numbers in the traces of a control simulation: strategies x gammas x (jobs x 2 x control_trace_intervals + stages x 4); more are 422"),

    INTEGER(workloads_max, "", 0, 1000000, "1000", "workloads of a team; more are 422"),
    INTEGER(workload_bytes_max, "bytes", 0, 16 * TIB, "10737418240", "what the workloads of a team take in the database together; more is 422"),
    INTEGER(workload_trace_bytes_max, "bytes", KIB, 16 * TIB, "68719476736", "size of a trace, decompressed; a larger one is 413"),
    INTEGER(workload_jobs_max, "", 1, 1000000000, "10000000", "jobs of a workload; more are 422"),
    INTEGER(workload_tasks_max, "", 1, 1000000000, "20000000", "tasks of a workload; more are 422"),
    INTEGER(workload_job_tasks_max, "", 1, 1000000000, "1000000", "tasks of one job; more are 422"),
    INTEGER(workload_open_tasks_max, "", 1, 1000000000, "4194304", "tasks of jobs that have begun and not ended, at any instant of a trace of Google; more are 422. The reader holds them in memory"),
    INTEGER(workload_line_bytes_max, "bytes", KIB, GIB, "16777216", "length of one line of a trace; a longer one is 422"),

    INTEGER(quota_loops_max, "", 0, 1000000, "1000", "quota loops of a team; more are 422"),
    INTEGER(quota_loop_workers_max, "", 1, 100000, "500", "workers of a quota loop; more are 422"),
    INTEGER(quota_loop_applications_max, "", 1, 100000, "200", "applications of a quota loop; more are 422"),
    INTEGER(quota_loop_executors_max, "", 1, 100000, "2000", "executors in a sample of a quota loop; more are 422"),
    INTEGER(quota_loop_retention_days, "d", 0, 36500, "1", "quota loops that have had no sample for this long are deleted; 0: none are"),

    INTEGER(operation_workers, "", 0, 256, "2", "operations this process works on at the same time, each on a thread of low priority; 0: it leaves them to other replicas"),
    INTEGER(operation_slice_ms, "ms", 10, 3600000, "2000", "how long an operation works while others wait for a worker; then it gives way, and goes on later from where it was"),
    INTEGER(operation_paused_max, "", 0, 4096, "30", "operations that this process holds beyond its workers, so that they take turns; half of all these places are for teams that have none yet; 0: each works until its end"),
    INTEGER(operation_paused_bytes_max, "bytes", MIB, 16 * TIB, "1073741824", "memory of operations that have given way; beyond it they work until their end, but one may always give way"),
    INTEGER(operation_team_running_max, "", 1, 100000, "8", "operations of a team that run or take turns at the same time, over all replicas; more stay queued"),
    INTEGER(operation_team_queued_max, "", 1, 1000000, "200", "queued operations of a team; more are 429"),
    INTEGER(operation_lease_s, "s", 1, 600, "5", "duration of a lease; an operation whose process has died is reassigned after this time"),
    INTEGER(operation_attempts_max, "", 1, 1000, "10", "an operation fails after this many of its processes have died or lacked memory for it; the pause before another attempt doubles each time, up to five minutes"),
    INTEGER(operation_retention_s, "s", 1, 315360000, "604800", "how long the result of an operation is kept; after that the reply is 410"),
    INTEGER(operation_tombstone_days, "d", 0, 36500, "30", "how long an expired operation is answered with 410; after that with 404"),
    INTEGER(operation_wait_max_s, "s", 0, 3600, "20", "longest time that `Prefer: wait` holds a reply; never longer than request_timeout_ms"),
    INTEGER(operation_waits_max, "", 1, 1000000, "1000", "replies held by `Prefer: wait`, shared by the teams that wait; more are answered at once"),
    INTEGER(operation_streams_max, "", 1, 1000000, "1000", "open event streams, shared by the teams that have any; more get 503"),
    INTEGER(operation_team_streams_max, "", 1, 1000000, "50", "open event streams of one team; more get 429"),

    INTEGER(admissions_max, "", 1, 100000, "10000", "admissions of a cluster that are held at a time; more are 422"),
    INTEGER(admission_ahead_max_s, "s", 0, 315360000, "2678400", "how far ahead an admission may start; more is 422"),
    INTEGER(admission_length_max_s, "s", 1, 31536000, "604800", "time for which an admission may hold cores; more is 422"),
    INTEGER(admission_poll_ms, "ms", 10, 3600000, "1000", "time between two looks for admissions whose time is over, which are reported then (`admission.expired`) by processes that have webhook_delivery"),
    INTEGER(admission_retention_days, "d", 0, 36500, "30", "admissions that ended longer ago than this are deleted; 0: none are"),

    BOOLEAN(webhook_delivery, "true", "whether this process delivers events to webhooks; without any that does, they wait"),
    TEXT(webhook_private_targets, false, "", "private and special networks to which events may be sent, separated by commas, such as `10.2.0.0/16,fd00::/8`, or `all`; empty: none"),
    BOOLEAN(webhook_plain_http, "false", "whether webhooks may have URLs with http"),
    TEXT(webhook_ca_file, false, "", "certificates of the authorities that receivers' certificates are verified against (PEM); empty: those of the system"),
    INTEGER(webhook_connections_max, "", 1, 4096, "256", "deliveries that this process has under way at a time; at most half of them to endpoints that are failing"),
    INTEGER(webhook_timeout_ms, "ms", 100, 120000, "20000", "time within which an endpoint has to answer, to the end of its answer"),
    INTEGER(webhook_connect_timeout_ms, "ms", 100, 120000, "5000", "time within which a connection to it has to be made, TLS included"),
    INTEGER(webhook_retry_first_ms, "ms", 10, 3600000, "5000", "time until the second attempt of a delivery; three times as long before each further one, longer or shorter by up to 20 percent"),
    INTEGER(webhook_retry_max_s, "s", 1, 86400, "14400", "the longest such time"),
    INTEGER(webhook_give_up_s, "s", 1, 2592000, "86400", "time after which a delivery that has not succeeded is given up; it can be asked for again"),
    INTEGER(webhook_pause_after, "", 1, 1000000, "10", "attempts of a webhook that fail in a row, after which it is paused"),
    INTEGER(webhook_pause_first_s, "s", 1, 86400, "30", "time of the first pause, after which one delivery is tried; twice as long after each further failure"),
    INTEGER(webhook_pause_max_s, "s", 1, 86400, "3600", "the longest pause"),
    INTEGER(webhook_poll_ms, "ms", 10, 60000, "1000", "time between two questions for events and deliveries that are due, besides being notified of them"),
    INTEGER(webhooks_max, "", 0, 100000, "50", "webhooks of a team; more are 422"),
    INTEGER(webhook_pending_max, "", 1, 10000000, "20000", "deliveries that wait for one webhook; further ones are dead at once, and can be asked for again"),
    INTEGER(webhook_delivery_retention_days, "d", 0, 36500, "7", "deliveries that ended longer ago than this are deleted; 0: none are"),

    WORD(log_level, log_levels, "info", "lowest level that is logged: debug, info, warn or error"),
    INTEGER(log_unauthenticated_per_s, "", 0, 1000000, "20", "lines a second about requests that nobody with a valid token made; further ones are counted in a line of their own; 0: no bound"),
};
/* clang-format on */
const size_t settings_n = sizeof settings / sizeof *settings;

/* --- names --- */

static bool same_name(const char *name, const char *text, size_t n)
{
    if (strlen(name) != n)
        return false;
    for (size_t i = 0; i < n; i++)
        if (name[i] != (text[i] == '-' ? '_' : text[i]))
            return false;
    return true;
}

const struct setting *setting_find(const char *name, size_t n)
{
    for (size_t i = 0; i < settings_n; i++)
        if (same_name(settings[i].name, name, n))
            return &settings[i];
    return NULL;
}

void setting_variable(const struct setting *setting, const char *suffix, char *out)
{
    (void)snprintf(out, SETTING_VARIABLE, "PROVISOR_%s%s", setting->name, suffix);
    for (char *c = out; *c != '\0'; c++)
        *c = (char)toupper((unsigned char)*c);
}

/* --- values --- */

static enum pv_code settings_refuse(const struct setting *setting,
                                    const char *text,
                                    const char *where,
                                    const char *wanted,
                                    struct pv_error *err)
{
    const char *shown = setting->secret ? "(not shown)" : text;
    return pv_fail(err, PV_E_INVALID, "%s: %s = \"%.64s\" must be %s", where, setting->name, shown,
                   wanted);
}

static enum pv_code assign_integer(const struct setting *setting,
                                   const char *text,
                                   const char *where,
                                   int64_t *member,
                                   struct pv_error *err)
{
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    bool number = isdigit((unsigned char)text[text[0] == '-']) && *end == '\0';
    if (!number || errno != 0 || value < setting->low || value > setting->high) {
        char wanted[96];
        (void)snprintf(wanted, sizeof wanted, "an integer from %" PRId64 " to %" PRId64 "%s%s",
                       setting->low, setting->high, setting->unit[0] == '\0' ? "" : " ",
                       setting->unit);
        return settings_refuse(setting, text, where, wanted, err);
    }
    *member = value;
    return PV_OK;
}

static enum pv_code assign_boolean(const struct setting *setting,
                                   const char *text,
                                   const char *where,
                                   bool *member,
                                   struct pv_error *err)
{
    bool yes = strcmp(text, "true") == 0;
    if (!yes && strcmp(text, "false") != 0)
        return settings_refuse(setting, text, where, "true or false", err);
    *member = yes;
    return PV_OK;
}

static enum pv_code assign_text(const struct setting *setting,
                                const char *text,
                                const char *where,
                                char *member,
                                struct pv_error *err)
{
    size_t n = strlen(text);
    char wanted[64];
    (void)snprintf(wanted, sizeof wanted, "at most %zu bytes without control characters",
                   setting->size - 1);
    if (n >= setting->size)
        return settings_refuse(setting, text, where, wanted, err);
    for (size_t i = 0; i < n; i++)
        if (iscntrl((unsigned char)text[i]))
            return settings_refuse(setting, text, where, wanted, err);
    memcpy(member, text, n + 1);
    return PV_OK;
}

static enum pv_code assign_word(const struct setting *setting,
                                const char *text,
                                const char *where,
                                char *member,
                                struct pv_error *err)
{
    char wanted[96] = "one of";
    for (size_t i = 0; setting->words[i] != NULL; i++) {
        if (strcmp(setting->words[i], text) == 0)
            return assign_text(setting, text, where, member, err);
        size_t used = strlen(wanted);
        (void)snprintf(wanted + used, sizeof wanted - used, "%s %s", i == 0 ? "" : ",",
                       setting->words[i]);
    }
    return settings_refuse(setting, text, where, wanted, err);
}

enum pv_code setting_assign(const struct setting *setting,
                            const char *text,
                            const char *where,
                            struct config *config,
                            struct pv_error *err)
{
    void *member = (char *)config + setting->offset;
    switch (setting->kind) {
    case SETTING_INTEGER:
        return assign_integer(setting, text, where, member, err);
    case SETTING_BOOLEAN:
        return assign_boolean(setting, text, where, member, err);
    case SETTING_TEXT:
        return assign_text(setting, text, where, member, err);
    case SETTING_WORD:
        return assign_word(setting, text, where, member, err);
    }
    return pv_fail(err, PV_E_INTERNAL, "setting %s has no kind", setting->name);
}
