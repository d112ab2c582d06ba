#include "config/config.h"

#include <inttypes.h>
#include <string.h>

#include "config/settings.h"

/* "1..1024", "true or false", "text"; texts show no range. */
static void print_range(FILE *out, const struct setting *setting)
{
    switch (setting->kind) {
    case SETTING_INTEGER:
        fprintf(out, "%" PRId64 "..%" PRId64, setting->low, setting->high);
        if (setting->unit[0] != '\0')
            fprintf(out, " %s", setting->unit);
        return;
    case SETTING_BOOLEAN:
        fputs("true, false", out);
        return;
    case SETTING_TEXT:
        fprintf(out, "text, %zu bytes", setting->size - 1);
        return;
    case SETTING_WORD:
        for (size_t i = 0; setting->words[i] != NULL; i++)
            fprintf(out, "%s%s", i == 0 ? "" : ", ", setting->words[i]);
        return;
    }
}

void config_print_help(FILE *out)
{
    for (size_t i = 0; i < settings_n; i++) {
        const struct setting *setting = &settings[i];
        fprintf(out, "  --%s=%s  (", setting->name, setting->fallback);
        print_range(out, setting);
        fprintf(out, ")\n      %s\n", setting->help);
    }
}

/* A section of the documentation begins at the setting named; its rows follow in the table's order.
 */
static const struct {
    const char *first;
    const char *title;
} sections[] = {
    {"listen_address", "Server"},
    {"io_workers", "Workers"},
    {"database_url", "Database"},
    {"headers_max", "Requests and their sizes"},
    {"remedy_task_budget", "Advice, models and pages"},
    {"eventlog_bytes_max", "Event logs and archives"},
    {"exports_max", "Imports and exports of runs"},
    {"quota_applications", "Quotas of teams"},
    {"maintenance_interval_s", "Maintenance and retention"},
    {"samples_max", "What clusters report"},
    {"token_cache_ms", "Caches"},
    {"fit_queue", "Fits and refits"},
    {"simulation_workflows_max", "Simulations"},
    {"workloads_max", "Workloads"},
    {"quota_loops_max", "Quota loops"},
    {"operation_workers", "Operations"},
    {"admissions_max", "Admissions"},
    {"webhook_delivery", "Webhooks"},
    {"log_level", "Log"},
};
enum { N_SECTIONS = sizeof sections / sizeof *sections };

static const char *section_at(const struct setting *setting)
{
    for (size_t i = 0; i < N_SECTIONS; i++)
        if (strcmp(sections[i].first, setting->name) == 0)
            return sections[i].title;
    return NULL;
}

void config_print_markdown(FILE *out)
{
    for (size_t i = 0; i < settings_n; i++) {
        const struct setting *setting = &settings[i];
        const char *title = section_at(setting);
        if (title != NULL)
            fprintf(out,
                    "%s## %s\n\n| setting | default | range | what it is |\n|---|---|---|---|\n",
                    i == 0 ? "" : "\n", title);
        const char *quote = setting->fallback[0] == '\0' ? "" : "`";
        fprintf(out, "| `%s` | %s%s%s | ", setting->name, quote, setting->fallback, quote);
        print_range(out, setting);
        fprintf(out, " | %s |\n", setting->help);
    }
}
