#include "cli/output/report.h"

#include "cli/output/json_text.h"

/* Returns true if the section is a record with a known value in some column. */
static bool has_members(const struct section *section)
{
    for (size_t i = 0; json_is_object(section->value) && i < section->n_columns; i++) {
        const json_t *cell = json_at(section->value, section->columns[i].path);
        if (cell != NULL && !json_is_null(cell))
            return true;
    }
    return false;
}

static bool is_shown(const struct section *section, enum output_form form)
{
    if ((section->draw != NULL && form == FORM_TABLE) ||
        (section->mark != NULL && form == FORM_MARKDOWN))
        return true;
    if (section->text != NULL)
        return section->text[0] != '\0';
    return json_array_size(section->value) > 0 || has_members(section);
}

static void
write_title(FILE *out, enum output_form form, const struct terminal *terminal, const char *title)
{
    if (form == FORM_MARKDOWN) {
        fprintf(out, "### %s\n\n", title);
        return;
    }
    fputs(style_begin(terminal->color_out, STYLE_BOLD), out);
    table_write_wrapped(out, terminal, 0, title);
    fputs(style_end(terminal->color_out), out);
}

static bool write_section(FILE *out,
                          enum output_form form,
                          const struct terminal *terminal,
                          const struct section *section,
                          struct failure *failure)
{
    if (section->draw != NULL && form == FORM_TABLE)
        section->draw(out, terminal, section->context);
    else if (section->mark != NULL && form == FORM_MARKDOWN)
        section->mark(out, section->context);
    else if (section->text != NULL)
        table_write_wrapped(out, terminal, 0, section->text);
    else if (json_is_array(section->value))
        return table_write_list(out, form, terminal, section->value, section->columns,
                                section->n_columns, section->value, failure);
    else
        return table_write_record(out, form, terminal, section->value, section->columns,
                                  section->n_columns, section->value, failure);
    return true;
}

/* The first list, or else the first record. */
static bool write_csv(FILE *out,
                      const struct terminal *terminal,
                      const struct section sections[],
                      size_t n,
                      struct failure *failure)
{
    for (size_t i = 0; i < n; i++)
        if (json_is_array(sections[i].value))
            return write_section(out, FORM_CSV, terminal, &sections[i], failure);
    for (size_t i = 0; i < n; i++)
        if (json_is_object(sections[i].value))
            return write_section(out, FORM_CSV, terminal, &sections[i], failure);
    return true;
}

bool report_write(FILE *out,
                  enum output_form form,
                  const struct terminal *terminal,
                  const struct section sections[],
                  size_t n,
                  const json_t *all,
                  struct failure *failure)
{
    if (form == FORM_JSON)
        return json_text_write(out, all, failure);
    if (form == FORM_YAML)
        return yaml_text_write(out, all, failure);
    if (form == FORM_CSV)
        return write_csv(out, terminal, sections, n, failure);
    bool first = true;
    for (size_t i = 0; i < n; i++) {
        if (!is_shown(&sections[i], form))
            continue;
        if (!first)
            fputc('\n', out);
        first = false;
        if (sections[i].title != NULL)
            write_title(out, form, terminal, sections[i].title);
        if (!write_section(out, form, terminal, &sections[i], failure))
            return false;
    }
    return true;
}
