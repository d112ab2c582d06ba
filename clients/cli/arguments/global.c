#include "cli/arguments/command.h"

static const struct option_spec options[] = {
    {"url", 0, OPTION_TEXT, "URL", "Where the service is.", false},
    {"token-file", 0, OPTION_FILE, NULL, "A file that holds the token; - for standard input.",
     false},
    {"ca-file", 0, OPTION_FILE, NULL, "Certificates (PEM) to trust in place of the system's.",
     false},
    {"profile", 0, OPTION_TEXT, "NAME", "The section of the configuration file to use.", false},
    {"config", 0, OPTION_FILE, NULL, "The configuration file.", false},
    {"output", 'o', OPTION_TEXT, "FORM[=FILE]",
     "table, json, yaml, csv or markdown, and whatever else the command names; may be repeated, "
     "one of them "
     "without a file.",
     true},
    {"color", 0, OPTION_CHOICE, "auto|always|never", "Colour; auto: on a terminal.", false},
    {"timeout", 0, OPTION_DURATION, NULL, "Time for one request (60s).", false},
    {"retries", 0, OPTION_NUMBER, "N",
     "How often a request is repeated when the service is overloaded or away (4).", false},
    {"quiet", 'q', OPTION_FLAG, NULL, "Write no words but errors.", false},
    {"help", 'h', OPTION_FLAG, NULL, "Explain the command.", false},
    {"version", 0, OPTION_FLAG, NULL, "Print the version.", false},
    {NULL, 0, OPTION_FLAG, NULL, NULL, false}};

const struct option_group global_options = {"Options of every command", options};
