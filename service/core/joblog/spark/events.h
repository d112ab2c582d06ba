#ifndef CORE_JOBLOG_SPARK_EVENTS_H
#define CORE_JOBLOG_SPARK_EVENTS_H

#include "core/joblog/spark/state.h"

/*
 * The events that the reader knows. An event is a row of the table in events.c and a function in
 * the file of its group, which reads the members it needs into a struct of its own and applies them
 * only when the whole line was sound: a damaged line changes nothing.
 */
typedef enum pv_code (*event_take)(struct sparklog *log, struct json *line, struct pv_error *err);

/* NULL for an event that is passed over. */
event_take events_find(struct strview name);

/* events_application.c */
enum pv_code event_log_start(struct sparklog *log, struct json *line, struct pv_error *err);
enum pv_code event_metadata(struct sparklog *log, struct json *line, struct pv_error *err);
enum pv_code event_application_start(struct sparklog *log, struct json *line, struct pv_error *err);
enum pv_code event_application_end(struct sparklog *log, struct json *line, struct pv_error *err);
enum pv_code event_environment(struct sparklog *log, struct json *line, struct pv_error *err);
enum pv_code event_clock(struct sparklog *log, struct json *line, struct pv_error *err);
/* events_executor.c */
enum pv_code event_executor_added(struct sparklog *log, struct json *line, struct pv_error *err);
enum pv_code event_executor_removed(struct sparklog *log, struct json *line, struct pv_error *err);
enum pv_code event_executor_excluded(struct sparklog *log, struct json *line, struct pv_error *err);
enum pv_code event_node_excluded(struct sparklog *log, struct json *line, struct pv_error *err);
/* events_profile.c */
enum pv_code event_resource_profile(struct sparklog *log, struct json *line, struct pv_error *err);
/* events_memory.c */
enum pv_code event_stage_memory(struct sparklog *log, struct json *line, struct pv_error *err);
enum pv_code event_heartbeat(struct sparklog *log, struct json *line, struct pv_error *err);
/* events_block.c */
enum pv_code event_block_updated(struct sparklog *log, struct json *line, struct pv_error *err);
enum pv_code event_block_manager(struct sparklog *log, struct json *line, struct pv_error *err);
enum pv_code event_rdd_unpersisted(struct sparklog *log, struct json *line, struct pv_error *err);
/* events_job.c */
enum pv_code event_job_start(struct sparklog *log, struct json *line, struct pv_error *err);
enum pv_code event_job_end(struct sparklog *log, struct json *line, struct pv_error *err);
/* events_sql.c */
enum pv_code event_sql_start(struct sparklog *log, struct json *line, struct pv_error *err);
enum pv_code event_sql_end(struct sparklog *log, struct json *line, struct pv_error *err);
enum pv_code event_streaming_query(struct sparklog *log, struct json *line, struct pv_error *err);
/* Reads the local properties of a job: its streaming query, and properties that the job set. */
enum pv_code
events_job_properties(struct sparklog *log, struct strview properties, struct pv_error *err);
/* events_stage.c */
enum pv_code event_stage_submitted(struct sparklog *log, struct json *line, struct pv_error *err);
enum pv_code event_stage_completed(struct sparklog *log, struct json *line, struct pv_error *err);
/* events_task.c */
enum pv_code event_task_start(struct sparklog *log, struct json *line, struct pv_error *err);
enum pv_code event_task_end(struct sparklog *log, struct json *line, struct pv_error *err);

/* Only the descriptions of stages (an array of them): whether they run is seen by their own events.
 */
enum pv_code
events_describe_stages(struct sparklog *log, struct strview infos, struct pv_error *err);
/* Is every one of them sound? */
bool events_stages_are_sound(struct strview infos);

/* Counts of an executor beyond it are unknown; an amount for a task is at most that. As in the contract. */
enum { EVENTS_COUNT_MAX = 1000000000 };

/* A profile of that id, made when it is new; NULL when there are too many. */
struct profile *sparklog_get_profile(struct sparklog *log, int64_t id);

/* An executor of the profile has these resources. The amounts that executors have count before the
 * amounts that the profile requests. */
void events_see_addresses(struct profile *profile, struct strview resources);
/* Is it the driver's id? */
bool events_is_driver(struct json_text executor);

/* Read the object of a line, to its end. False when the line is damaged. */
bool events_read(struct json *line, const struct json_shape *shape, void *out);

#endif
