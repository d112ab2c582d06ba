#include "core/numerics/nnls.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/plural.h"

enum { WIDTH = NNLS_COLUMNS_MAX + 1, ROUNDS_MAX = 3 * (1 << NNLS_COLUMNS_MAX) };

/* k equations in k unknowns that have the same least squares as the rows they came from. */
struct reduced {
    size_t k;
    double r[WIDTH * WIDTH]; /* k + 1 columns a row: the right side last */
    double length[NNLS_COLUMNS_MAX];
};

/* Reflect column j below row j onto the diagonal, and the columns right of it along. */
static void reflect(double a[], size_t rows, size_t columns, size_t j)
{
    double norm = 0;
    for (size_t i = j; i < rows; i++)
        norm += a[i * columns + j] * a[i * columns + j];
    norm = sqrt(norm);
    if (norm == 0)
        return;
    double head = a[j * columns + j];
    double diagonal = head > 0 ? -norm : norm;
    double scale = 1 / (norm * (norm + fabs(head)));
    a[j * columns + j] = head - diagonal;
    for (size_t c = j + 1; c < columns; c++) {
        double dot = 0;
        for (size_t i = j; i < rows; i++)
            dot += a[i * columns + j] * a[i * columns + c];
        for (size_t i = j; i < rows; i++)
            a[i * columns + c] -= dot * scale * a[i * columns + j];
    }
    a[j * columns + j] = diagonal;
    for (size_t i = j + 1; i < rows; i++)
        a[i * columns + j] = 0;
}

static void triangularise(double a[], size_t rows, size_t columns, size_t unknowns)
{
    for (size_t j = 0; j < unknowns && j < rows; j++)
        reflect(a, rows, columns, j);
}

/* Columns get length 1, so that "tiny" means the same in each. */
static bool reduce(const double x[],
                   size_t n,
                   size_t k,
                   const double y[],
                   const double weights[],
                   struct arena *scratch,
                   struct reduced *out)
{
    size_t columns = k + 1;
    size_t rows = n > k ? n : k;
    double *a = arena_calloc(scratch, rows, columns * sizeof *a);
    if (a == NULL)
        return false;
    for (size_t i = 0; i < n; i++) {
        double w = weights == NULL ? 1.0 : weights[i];
        for (size_t j = 0; j < k; j++)
            a[i * columns + j] = w * x[i * k + j];
        a[i * columns + k] = w * y[i];
    }
    triangularise(a, rows, columns, k);
    out->k = k;
    memset(out->r, 0, sizeof out->r);
    for (size_t j = 0; j < k; j++) {
        double sum = 0;
        for (size_t i = 0; i <= j; i++)
            sum += a[i * columns + j] * a[i * columns + j];
        out->length[j] = sum > 0 ? sqrt(sum) : 1;
        for (size_t i = 0; i <= j; i++)
            out->r[i * WIDTH + j] = a[i * columns + j] / out->length[j];
    }
    for (size_t i = 0; i < k; i++)
        out->r[i * WIDTH + k] = a[i * columns + k];
    return true;
}

/* Plain least squares over the passive columns, 0 elsewhere. False: they are dependent. */
static bool solve_passive(const struct reduced *p, const bool passive[], double b[])
{
    double a[WIDTH * WIDTH] = {0};
    size_t at[NNLS_COLUMNS_MAX];
    size_t n = 0;
    for (size_t j = 0; j < p->k; j++)
        if (passive[j])
            at[n++] = j;
    size_t columns = n + 1;
    for (size_t i = 0; i < p->k; i++) {
        for (size_t c = 0; c < n; c++)
            a[i * columns + c] = p->r[i * WIDTH + at[c]];
        a[i * columns + n] = p->r[i * WIDTH + p->k];
    }
    triangularise(a, p->k, columns, n);
    for (size_t j = 0; j < p->k; j++)
        b[j] = 0;
    for (size_t c = n; c-- > 0;) {
        if (fabs(a[c * columns + c]) < 1e-10)
            return false;
        double sum = a[c * columns + n];
        for (size_t d = c + 1; d < n; d++)
            sum -= a[c * columns + d] * b[at[d]];
        b[at[c]] = sum / a[c * columns + c];
    }
    return true;
}

/* The column at its bound that would lower the sum fastest, or k: none would. */
static size_t
find_steepest(const struct reduced *p, const double b[], const bool passive[], const bool barred[])
{
    double residual[NNLS_COLUMNS_MAX];
    double size = 0;
    for (size_t i = 0; i < p->k; i++) {
        residual[i] = p->r[i * WIDTH + p->k];
        size = fmax(size, fabs(residual[i]));
        for (size_t j = 0; j < p->k; j++)
            residual[i] -= p->r[i * WIDTH + j] * b[j];
    }
    size_t best = p->k;
    double most = 64 * DBL_EPSILON * size;
    for (size_t j = 0; j < p->k; j++) {
        double gradient = 0;
        for (size_t i = 0; i < p->k; i++)
            gradient += p->r[i * WIDTH + j] * residual[i];
        if (!passive[j] && !barred[j] && gradient > most) {
            most = gradient;
            best = j;
        }
    }
    return best;
}

/* From b towards z as far as all stay >= 0; what reaches 0 leaves the passive set. True: z itself
 * was reached. */
static bool step_towards(size_t k, const double z[], bool passive[], double b[])
{
    double share = 1;
    bool inside = true;
    for (size_t j = 0; j < k; j++) {
        if (!passive[j] || z[j] > 0)
            continue;
        inside = false;
        share = fmin(share, b[j] / (b[j] - z[j]));
    }
    for (size_t j = 0; j < k; j++) {
        if (!passive[j])
            continue;
        bool arrives = z[j] <= 0 && b[j] <= share * (1 + 1e-12) * (b[j] - z[j]);
        b[j] = inside ? z[j] : arrives ? 0 : b[j] + share * (z[j] - b[j]);
        passive[j] = !arrives;
    }
    return inside;
}

static void nnls_search(const struct reduced *p, double b[], bool passive[])
{
    double z[NNLS_COLUMNS_MAX];
    bool barred[NNLS_COLUMNS_MAX] = {false};
    for (size_t round = 0; round < ROUNDS_MAX; round++) {
        size_t enter = find_steepest(p, b, passive, barred);
        if (enter == p->k)
            return;
        passive[enter] = true;
        /* A dependent column, or one that rounding alone made look useful, would never settle. */
        if (!solve_passive(p, passive, z) || z[enter] <= 0) {
            passive[enter] = false;
            barred[enter] = true;
            continue;
        }
        while (!step_towards(p->k, z, passive, b) && solve_passive(p, passive, z))
            continue;
        memset(barred, 0, sizeof barred);
    }
}

enum pv_code nnls_solve(const double x[],
                        size_t n,
                        size_t k,
                        const double y[],
                        const double weights[],
                        struct arena *scratch,
                        double b[],
                        bool passive[],
                        struct pv_error *err)
{
    struct reduced p;
    if (n == 0 || k == 0 || k > NNLS_COLUMNS_MAX)
        return pv_fail(err, PV_E_SINGULAR, "%zu row%s %s not determine %zu coefficient%s", n,
                       PLURAL(n), PLURAL_VERB(n, "does", "do"), k, PLURAL(k));
    struct arena_mark mark = arena_mark(scratch);
    if (!reduce(x, n, k, y, weights, scratch, &p))
        return pv_no_memory(err);
    arena_rewind(scratch, mark);
    for (size_t j = 0; j < k; j++) {
        b[j] = 0;
        passive[j] = false;
    }
    nnls_search(&p, b, passive);
    for (size_t j = 0; j < k; j++)
        b[j] /= p.length[j];
    return PV_OK;
}
