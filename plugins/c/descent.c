/* Descents by the best single move, from random points and from those known to be good; any function, within groups.
 *
 *     cc -std=c99 -O2 -shared -fPIC -I plugin-api/include plugins/c/descent.c -o libsolver_descent.so
 */
#include "host_plugin.h"

typedef struct descent {
    size_t restarts;
} descent;

static const char OPTIONS[] =
    "{ \"properties\": { \"restarts\": { \"type\": \"integer\", \"minimum\": 1, \"maximum\": 1000000, \"default\": 20,"
    "  \"description\": \"How many random points to descend from.\" } } }";

static int create(const char *options, uint64_t seed, void **instance, host_error *error) {
    (void)seed;
    descent *self = malloc(sizeof *self);
    if (!self) return host_fail(error, "no memory is left");
    self->restarts = (size_t)host_option_number(options, "restarts");
    *instance = self;
    return HOST_OK;
}

/* A move of bit i: within a group it is chosen instead of the one that is set; elsewhere it is turned over. */
static void move(const host_problem *problem, const size_t *group_of, uint8_t *bits, size_t i) {
    size_t group = group_of[i];
    if (group == problem->group_count) {
        bits[i] = !bits[i];
        return;
    }
    for (size_t j = problem->groups[2 * group]; j < problem->groups[2 * group + 1]; j++) bits[j] = j == i;
}

/* Makes each group have exactly one bit set: the first of those that are, or a random one. */
static void repair(const host_problem *problem, uint8_t *bits, uint64_t *seed) {
    for (size_t group = 0; group < problem->group_count; group++) {
        size_t start = problem->groups[2 * group], end = problem->groups[2 * group + 1];
        size_t chosen = start + (size_t)(host_random(seed) * (double)(end - start));
        for (size_t j = end; j-- > start;) {
            if (bits[j]) chosen = j;
        }
        for (size_t j = start; j < end; j++) bits[j] = j == chosen;
    }
}

static int minimize(void *instance, const host_problem *problem, uint64_t seed, host_answer *answer, host_error *error) {
    const descent *self = instance;
    size_t n = problem->dimension;
    uint8_t *neighbours = malloc(n * n + n); /* all single moves of a point, a row each; then the point itself */
    double *values = malloc(n * sizeof *values);
    size_t *group_of = malloc(n * sizeof *group_of);
    if (!neighbours || !values || !group_of) {
        free(neighbours), free(values), free(group_of);
        return host_fail(error, "no memory is left for %zu bits", n);
    }
    uint8_t *bits = neighbours + n * n;
    for (size_t i = 0; i < n; i++) group_of[i] = problem->group_count;
    for (size_t group = 0; group < problem->group_count; group++) {
        for (size_t i = problem->groups[2 * group]; i < problem->groups[2 * group + 1]; i++) group_of[i] = group;
    }
    answer->value = INFINITY;
    for (size_t descent = 0; descent < problem->start_count + self->restarts; descent++) {
        for (size_t i = 0; i < n; i++) {
            int given = descent < problem->start_count;
            bits[i] = given ? problem->starts[descent * n + i] : host_random(&seed) < 0.5;
        }
        repair(problem, bits, &seed);
        double value;
        problem->values(problem, bits, 1, &value);
        for (;;) {
            size_t best = n;
            for (size_t i = 0; i < n; i++) {
                memcpy(neighbours + i * n, bits, n);
                move(problem, group_of, neighbours + i * n, i);
            }
            problem->values(problem, neighbours, n, values);
            for (size_t i = 0; i < n; i++) {
                if (values[i] < (best == n ? value : values[best])) best = i;
            }
            if (best == n) break;
            value = values[best];
            memcpy(bits, neighbours + best * n, n);
        }
        answer->work++;
        if (value < answer->value) {
            answer->value = value;
            memcpy(answer->bits, bits, n);
        }
        if (answer->work == problem->work_limit) {
            answer->stop = 1;
            break;
        }
    }
    free(neighbours), free(values), free(group_of);
    return HOST_OK;
}

static const host_plugin PLUGIN = {
    .version = HOST_PLUGIN_VERSION,
    .size = sizeof(host_plugin),
    .kind = "solver",
    .name = "descent",
    .summary = "Descents by the best single move from many points: any function, within groups.",
    .plugin_version = "0.1.0",
    .options = OPTIONS,
    .create = create,
    .destroy = free,
    .takes = "quadratic,general",
    .keeps = "groups",
    .minimize = minimize,
};

HOST_PLUGIN_EXPORT const host_plugin *host_plugin_entry(void) { return &PLUGIN; }
