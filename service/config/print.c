#include "config/config.h"

#include <inttypes.h>

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

void config_print_markdown(FILE *out)
{
    fputs("| setting | default | range | what it is |\n|---|---|---|---|\n", out);
    for (size_t i = 0; i < settings_n; i++) {
        const struct setting *setting = &settings[i];
        const char *quote = setting->fallback[0] == '\0' ? "" : "`";
        fprintf(out, "| `%s` | %s%s%s | ", setting->name, quote, setting->fallback, quote);
        print_range(out, setting);
        fprintf(out, " | %s |\n", setting->help);
    }
}
