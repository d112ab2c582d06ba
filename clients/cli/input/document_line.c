#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

#include "cli/input/document.h"

/* JSON is YAML as well, so one reader of events finds places in both. */
struct search {
    yaml_parser_t parser;
    const char *pointer; /* what is left of it, "/items/1" */
    size_t line;         /* of the deepest place found; 0: none */
};

static bool next(struct search *search, yaml_event_t *event)
{
    return yaml_parser_parse(&search->parser, event) != 0;
}

/* Reads events up to the end of the value that `event` began. */
static bool skip_value(struct search *search, yaml_event_type_t begun)
{
    size_t depth = begun == YAML_MAPPING_START_EVENT || begun == YAML_SEQUENCE_START_EVENT;
    while (depth > 0) {
        yaml_event_t event;
        if (!next(search, &event))
            return false;
        depth += event.type == YAML_MAPPING_START_EVENT || event.type == YAML_SEQUENCE_START_EVENT;
        depth -= event.type == YAML_MAPPING_END_EVENT || event.type == YAML_SEQUENCE_END_EVENT;
        yaml_event_delete(&event);
    }
    return true;
}

/* Takes the first segment off the pointer, unescaped (RFC 6901). False: there is none. */
static bool take_segment(struct search *search, char *segment, size_t room)
{
    size_t n = 0;
    if (search->pointer[0] != '/')
        return false;
    const char *c = search->pointer + 1;
    for (; *c != '\0' && *c != '/'; c++) {
        bool escaped = *c == '~' && (c[1] == '0' || c[1] == '1');
        char plain = *c;
        if (escaped)
            plain = *++c == '1' ? '/' : '~';
        if (n + 1 < room)
            segment[n++] = plain;
    }
    segment[n] = '\0';
    search->pointer = c;
    return true;
}

/* Leaves in *event the beginning of the member or item that `segment` names. */
static bool find_child(struct search *search, bool list, const char *segment, yaml_event_t *event)
{
    for (size_t i = 0; next(search, event); i++) {
        char index[24];
        (void)snprintf(index, sizeof index, "%zu", i);
        const char *name = list                               ? index
                           : event->type == YAML_SCALAR_EVENT ? (char *)event->data.scalar.value
                                                              : "";
        bool end = event->type == YAML_MAPPING_END_EVENT || event->type == YAML_SEQUENCE_END_EVENT;
        bool found = !end && strcmp(name, segment) == 0;
        if (!list && !end) {
            yaml_event_delete(event);
            if (!next(search, event))
                return false;
        }
        if (found)
            return true;
        yaml_event_type_t type = event->type;
        yaml_event_delete(event);
        if (end || !skip_value(search, type))
            return false;
    }
    return false;
}

static void search_from(struct search *search, yaml_event_t *event)
{
    char segment[256];
    while (take_segment(search, segment, sizeof segment)) {
        bool list = event->type == YAML_SEQUENCE_START_EVENT;
        bool deeper = list || event->type == YAML_MAPPING_START_EVENT;
        yaml_event_delete(event);
        if (!deeper || !find_child(search, list, segment, event))
            return;
        search->line = event->start_mark.line + 1;
    }
    yaml_event_delete(event);
}

size_t document_line(const char *text, size_t n, const char *pointer)
{
    struct search search = {.pointer = pointer};
    yaml_event_t event;
    if (yaml_parser_initialize(&search.parser) == 0)
        return 0;
    yaml_parser_set_input_string(&search.parser, (const unsigned char *)text, n);
    while (next(&search, &event)) {
        yaml_event_type_t type = event.type;
        if (type != YAML_STREAM_START_EVENT && type != YAML_DOCUMENT_START_EVENT) {
            search_from(&search, &event);
            break;
        }
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&search.parser);
    return search.line;
}
