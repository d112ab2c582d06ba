#include "core/history/name_folding.h"

#include <stdint.h>

#include "core/history/name_token.h"

enum { NAME_BYTES_MAX = 255 * 4, RESULT_BYTES_MAX = 255 };

/* The surest first, platforms before names. {number} alone is not among them: q1 and q2 are two jobs. */
const struct name_rule name_rules_default[] = {
#define TEXT(text)                                                                                 \
    {                                                                                              \
        text, sizeof text - 1                                                                      \
    }
#define RULE(name_, pattern_, application_)                                                        \
    {                                                                                              \
        TEXT(name_), TEXT(pattern_), TEXT(application_),                                           \
        {                                                                                          \
            NULL, 0                                                                                \
        }                                                                                          \
    }
#define PROPERTY(name_, property_, pattern_, application_)                                         \
    {                                                                                              \
        TEXT(name_), TEXT(pattern_), TEXT(application_), TEXT(property_)                           \
    }
#define DATABRICKS "spark.databricks.clusterUsageTags."
#define POD "spark.kubernetes.driver.label."
    /* Databricks calls the clusters of jobs so, and tags them; all their applications have one name. */
    PROPERTY("Databricks job",
             DATABRICKS "clusterName",
             "job-{name}-run-{number}",
             "databricks-job-{name}"),
    PROPERTY("Databricks job and cluster",
             DATABRICKS "clusterName",
             "job-{name}-run-{number}-{rest}",
             "databricks-job-{name}-{rest}"),
    PROPERTY("Databricks job by its tag",
             DATABRICKS "clusterAllTags[JobId]",
             "{name}",
             "databricks-job-{name}"),
    PROPERTY(
        "Databricks run by its name", DATABRICKS "clusterAllTags[RunName]", "{name}", "{name}"),
    /* SparkApplications: the operators of Kubeflow and of Apache label pods with their names. */
    PROPERTY("Spark operator, scheduled",
             POD "sparkoperator.k8s.io/scheduled-app-name",
             "{name}",
             "{name}"),
    PROPERTY("Spark operator", POD "sparkoperator.k8s.io/app-name", "{name}", "{name}"),
    PROPERTY("Apache Spark operator", POD "spark.operator/spark-app-name", "{name}", "{name}"),
    PROPERTY("AWS Glue", "spark.glue.JOB_NAME", "{name}", "{name}"),
    PROPERTY("Synapse notebook", "spark.synapse.context.notebookname", "{name}", "{name}"),
    /* Airflow and others that speak OpenLineage: DAG.TASK. */
    PROPERTY("OpenLineage", "spark.openlineage.parentJobName", "{name}", "{name}"),
    /* Names of shells and servers say nothing about what runs in them. */
    RULE("Spark shell", "Spark shell", NAME_SESSION "Spark shell)"),
    RULE("PySpark shell", "PySparkShell", NAME_SESSION "PySpark)"),
    RULE("SparkR", "SparkR", NAME_SESSION "SparkR)"),
    RULE("Spark SQL shell", "SparkSQL::{any}", NAME_SESSION "Spark SQL)"),
    RULE("Databricks Shell", "Databricks Shell", NAME_SESSION "Databricks)"),
    RULE("Zeppelin", "Zeppelin", NAME_SESSION "Zeppelin)"),
    RULE("Thrift server", "Thrift JDBC/ODBC Server", NAME_SESSION "Thrift server)"),
    RULE("Spark Connect", "Spark Connect server", NAME_SESSION "Spark Connect)"),
    RULE("Livy session", "livy-session-{number}", NAME_SESSION "Livy)"),
    RULE("Livy session and id", "livy-session-{number}-{any}", NAME_SESSION "Livy)"),
    RULE("Livy notebook", "remotesparkmagics{any}", NAME_SESSION "Livy)"),
    RULE("Kyuubi", "kyuubi_{any}", NAME_SESSION "Kyuubi)"),
    RULE("Hive on Spark", "Hive on Spark{any}", NAME_SESSION "Hive)"),
    RULE("Livy batch", "livy-batch-{number}", "livy-batch"),
    RULE("Airflow run behind", "{name}{sep}{trigger}{sep}{date}T{time}", "{name}"),
    RULE("Airflow run and id behind", "{name}{sep}{trigger}{sep}{date}T{time}_{word}", "{name}"),
    RULE("Airflow run before", "{trigger}{sep}{date}T{time}__{name}", "{name}"),
    RULE("Airflow run within", "{name}{sep}{trigger}{sep}{date}T{time}__{rest}", "{name}-{rest}"),
    RULE("driver behind", "{name}-{hex}-driver", "{name}"),
    RULE("EMR step behind", "{name}{sep}{emr}", "{name}"),
    RULE("EMR step before", "{emr}{sep}{name}", "{name}"),
    RULE("uuid behind", "{name}{sep}{uuid}", "{name}"),
    RULE("date and time behind", "{name}{sep}{date}{sep}{time}", "{name}"),
    RULE("date with time behind", "{name}{sep}{date}{time}", "{name}"),
    RULE("date T time behind", "{name}{sep}{date}T{time}", "{name}"),
    RULE("date behind", "{name}{sep}{date}", "{name}"),
    RULE("date and hour behind", "{name}{sep}{date}{sep}{hour}", "{name}"),
    RULE("date T hour behind", "{name}{sep}{date}T{hour}", "{name}"),
    RULE("month behind", "{name}{sep}{month}", "{name}"),
    RULE("period behind", "{name}{sep}{period}", "{name}"),
    RULE("epoch behind", "{name}{sep}{epoch}", "{name}"),
    RULE("pod behind", "{name}-{pod}", "{name}"),
    RULE("hex id behind", "{name}{sep}{hex}", "{name}"),
    RULE("run number behind", "{name}{sep}run{sep}{number}", "{name}"),
    RULE("attempt behind", "{name}{sep}attempt{sep}{number}", "{name}"),
    RULE("uuid before", "{uuid}{sep}{name}", "{name}"),
    RULE("date with time before", "{date}{time}{sep}{name}", "{name}"),
    RULE("date T time before", "{date}T{time}{sep}{name}", "{name}"),
    RULE("date and time before", "{date}{sep}{time}{sep}{name}", "{name}"),
    RULE("date and hour before", "{date}{sep}{hour}{sep}{name}", "{name}"),
    RULE("date before", "{date}{sep}{name}", "{name}"),
    RULE("period before", "{period}{sep}{name}", "{name}"),
    RULE("uuid within", "{name}{sep}{uuid}{sep}{rest}", "{name}-{rest}"),
    RULE("date with time within", "{name}{sep}{date}{time}{sep}{rest}", "{name}-{rest}"),
    RULE("date T time within", "{name}{sep}{date}T{time}{sep}{rest}", "{name}-{rest}"),
    RULE("date and hour within", "{name}{sep}{date}{sep}{hour}{sep}{rest}", "{name}-{rest}"),
    RULE("date within", "{name}{sep}{date}{sep}{rest}", "{name}-{rest}"),
    RULE("period within", "{name}{sep}{period}{sep}{rest}", "{name}-{rest}"),
#undef RULE
#undef PROPERTY
#undef DATABRICKS
#undef POD
#undef TEXT
};
const size_t name_rules_default_n = sizeof name_rules_default / sizeof *name_rules_default;

/* --- templates --- */

struct element {
    enum name_token token;
    struct strview text; /* of NAME_TOKEN_TEXT; "{" stands for "{{" */
};

struct template
{
    struct element elements[NAME_PATTERN_TOKENS_MAX];
    size_t n;
};

static const char *name_folding_add(struct template *t, enum name_token token, struct strview text)
{
    if (t->n == NAME_PATTERN_TOKENS_MAX)
        return "has more than 12 pieces";
    t->elements[t->n++] = (struct element){token, text};
    return NULL;
}

/* One token from its brace on; returns what is wrong, or NULL and moves *at behind it. */
static const char *parse_token(struct strview source, size_t *at, struct template *t)
{
    const char *start = source.at + *at + 1;
    const char *end = memchr(start, '}', source.n - *at - 1);
    if (end == NULL)
        return "has a brace that is not closed";
    enum name_token token = name_token_of((struct strview){start, (size_t)(end - start)});
    if (token == NAME_TOKEN_COUNT)
        return "has a token that is not known";
    *at = (size_t)(end - source.at) + 1;
    return name_folding_add(t, token, (struct strview){NULL, 0});
}

/* Returns what is wrong, or NULL. */
static const char *name_folding_parse(struct strview source, struct template *t)
{
    const char *wrong = NULL;
    t->n = 0;
    for (size_t at = 0; at < source.n && wrong == NULL;) {
        if (source.at[at] == '{' && at + 1 < source.n && source.at[at + 1] == '{') {
            wrong = name_folding_add(t, NAME_TOKEN_TEXT, (struct strview){source.at + at, 1});
            at += 2;
        } else if (source.at[at] == '{') {
            wrong = parse_token(source, &at, t);
        } else {
            size_t from = at;
            while (at < source.n && source.at[at] != '{')
                at++;
            wrong =
                name_folding_add(t, NAME_TOKEN_TEXT, (struct strview){source.at + from, at - from});
        }
    }
    return wrong;
}

static size_t name_folding_count(const struct template *t, enum name_token token)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++)
        n += t->elements[i].token == token;
    return n;
}

static bool has_open_neighbours(const struct template *t)
{
    for (size_t i = 1; i < t->n; i++) {
        if (name_token_is_open(t->elements[i].token) &&
            name_token_is_open(t->elements[i - 1].token))
            return true;
    }
    return false;
}

static const char *check_pattern(const struct template *t)
{
    if (t->n == 0)
        return "is empty";
    if (name_folding_count(t, NAME_TOKEN_NAME) > 1 || name_folding_count(t, NAME_TOKEN_REST) > 1)
        return "captures {name} or {rest} twice";
    if (has_open_neighbours(t))
        return "has two of {name}, {rest} and {any} side by side";
    return NULL;
}

static const char *check_application(const struct template *t, const struct template *pattern)
{
    if (t->n == 0)
        return "is empty";
    for (size_t i = 0; i < t->n; i++) {
        enum name_token token = t->elements[i].token;
        if (token != NAME_TOKEN_TEXT && token != NAME_TOKEN_NAME && token != NAME_TOKEN_REST)
            return "may hold {name} and {rest} and no other token";
        if (token != NAME_TOKEN_TEXT && name_folding_count(pattern, token) == 0)
            return "uses a token that the pattern does not capture";
    }
    return NULL;
}

static enum pv_code fault(struct pv_error *err, const char *pointer, const char *wrong)
{
    return pv_fault(err, PV_PLACE_POINTER, pointer, "invalid_template", "%s", wrong);
}

enum pv_code name_rule_check(const struct name_rule *rule, struct pv_error *err)
{
    struct template pattern;
    struct template application;
    const char *wrong = name_folding_parse(rule->pattern, &pattern);
    if (wrong == NULL)
        wrong = check_pattern(&pattern);
    if (wrong != NULL)
        return fault(err, "/pattern", wrong);
    wrong = name_folding_parse(rule->application, &application);
    if (wrong == NULL)
        wrong = check_application(&application, &pattern);
    return wrong == NULL ? PV_OK : fault(err, "/application", wrong);
}

/* --- matching --- */

struct match {
    const struct template *pattern;
    struct strview name;
    struct strview captured[NAME_TOKEN_COUNT];
    /* places where an element was tried in vain: keeps the search from doing anything twice */
    uint8_t vain[NAME_PATTERN_TOKENS_MAX][(NAME_BYTES_MAX + 8) / 8];
    /* likewise, of elements without a longest length: from here, and before there */
    struct {
        size_t from, before;
    } span[NAME_PATTERN_TOKENS_MAX];
};

static bool match_from(struct match *m, size_t element, size_t at);

static bool match_text(struct match *m, size_t element, size_t at)
{
    struct strview text = m->pattern->elements[element].text;
    /* Names in Kubernetes have small letters only: the T of an instant is a t there. */
    bool small_t = strview_is(text, "T") && m->name.at[at] == 't';
    return m->name.n - at >= text.n && (small_t || memcmp(m->name.at + at, text.at, text.n) == 0) &&
           match_from(m, element + 1, at + text.n);
}

/* Within a character of UTF-8: no piece begins there. */
static bool splits_character(struct strview name, size_t at)
{
    return at < name.n && ((unsigned char)name.at[at] & 0xc0) == 0x80;
}

/* What begins later among the same characters can end nowhere else. */
static void note_vain(struct match *m, size_t element, size_t at, size_t reach)
{
    if (!name_token_is_endless(m->pattern->elements[element].token))
        return;
    m->span[element].from = at;
    m->span[element].before = at + reach;
}

static bool match_token(struct match *m, size_t element, size_t at)
{
    enum name_token token = m->pattern->elements[element].token;
    struct strview rest = {m->name.at + at, m->name.n - at};
    size_t least;
    bool sure;
    size_t reach = name_token_reach(token, rest, &least, &sure);
    bool last = element + 1 == m->pattern->n;
    for (size_t n = last && least < rest.n ? rest.n : least; n <= reach; n++) {
        struct strview piece = {rest.at, n};
        if (splits_character(m->name, at + n) || (!sure && !name_token_matches(token, piece)))
            continue;
        if (match_from(m, element + 1, at + n)) {
            m->captured[token] = piece;
            return true;
        }
    }
    note_vain(m, element, at, reach);
    return false;
}

static bool match_from(struct match *m, size_t element, size_t at)
{
    if (element == m->pattern->n || at == m->name.n)
        return element == m->pattern->n && at == m->name.n;
    uint8_t *vain = &m->vain[element][at / 8];
    uint8_t bit = (uint8_t)(1u << at % 8);
    bool in_span = at >= m->span[element].from && at < m->span[element].before;
    if ((*vain & bit) != 0 || in_span)
        return false;
    bool matched = m->pattern->elements[element].token == NAME_TOKEN_TEXT
                       ? match_text(m, element, at)
                       : match_token(m, element, at);
    if (!matched)
        *vain |= bit;
    return matched;
}

/* --- folding --- */

bool name_is_session(struct strview application)
{
    size_t n = sizeof NAME_SESSION - 1;
    return application.n > n && memcmp(application.at, NAME_SESSION, n) == 0;
}

static struct strview piece_of(const struct element *element, const struct match *m)
{
    return element->token == NAME_TOKEN_TEXT ? element->text : m->captured[element->token];
}

/* The application's name by its template; at == NULL with n == 0: none. */
static enum pv_code name_folding_build(const struct template *t,
                                       const struct match *m,
                                       struct arena *arena,
                                       struct strview *out,
                                       struct pv_error *err)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++)
        n += piece_of(&t->elements[i], m).n;
    *out = (struct strview){NULL, 0};
    if (n == 0 || n > RESULT_BYTES_MAX)
        return PV_OK;
    char *text = arena_alloc(arena, n + 1);
    if (text == NULL)
        return pv_no_memory(err);
    size_t at = 0;
    for (size_t i = 0; i < t->n; i++) {
        struct strview piece = piece_of(&t->elements[i], m);
        if (piece.n > 0)
            memcpy(text + at, piece.at, piece.n);
        at += piece.n;
    }
    text[n] = '\0';
    *out = (struct strview){text, n};
    return PV_OK;
}

static enum pv_code name_folding_apply(const struct name_rule *rule,
                                       struct strview name,
                                       struct arena *arena,
                                       struct strview *out,
                                       struct pv_error *err)
{
    struct template pattern;
    struct template application;
    *out = (struct strview){NULL, 0};
    if (name_folding_parse(rule->pattern, &pattern) != NULL ||
        name_folding_parse(rule->application, &application) != NULL)
        return PV_OK;
    struct match m = {.pattern = &pattern, .name = name};
    return match_from(&m, 0, 0) ? name_folding_build(&application, &m, arena, out, err) : PV_OK;
}

/* The first rule that changes the name; *rule is n where none does. */
static enum pv_code fold_once(const struct name_rule rules[],
                              size_t n,
                              const struct strview values[],
                              struct arena *arena,
                              struct strview *name,
                              size_t *rule,
                              struct pv_error *err)
{
    for (*rule = 0; *rule < n; (*rule)++) {
        struct strview folded;
        struct strview text = *name;
        if (rules[*rule].property.n > 0) {
            if (values == NULL || values[*rule].n == 0 || values[*rule].n > NAME_BYTES_MAX)
                continue;
            text = values[*rule];
        }
        PV_TRY(name_folding_apply(&rules[*rule], text, arena, &folded, err));
        if (folded.n > 0 && !strview_equal(folded, *name)) {
            *name = folded;
            break;
        }
    }
    return PV_OK;
}

enum pv_code name_fold(const struct name_rule rules[],
                       size_t n,
                       struct strview name,
                       const struct strview values[],
                       struct arena *arena,
                       struct name_folding *out,
                       struct pv_error *err)
{
    struct name_folding folding = {.application = arena_copy(arena, name)};
    if (folding.application.at == NULL)
        return pv_no_memory(err);
    while (name.n <= NAME_BYTES_MAX && folding.n_applied < NAME_PASSES_MAX) {
        size_t rule;
        PV_TRY(fold_once(rules, n, folding.n_applied == 0 ? values : NULL, arena,
                         &folding.application, &rule, err));
        if (rule == n)
            break;
        folding.applied[folding.n_applied++] = rule;
    }
    *out = folding;
    return PV_OK;
}
