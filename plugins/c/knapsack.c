/* A knapsack: items with weights and values. What is above the limit on the weight costs much; at twice the limit it tears.
 *
 *     cc -std=c99 -O2 -shared -fPIC -I plugin-api/include plugins/c/knapsack.c -o libbenchmark_knapsack.so
 */
#include "host_plugin.h"

enum { MOST = 1000 };

typedef struct knapsack {
    size_t count;
    double weights[MOST], values[MOST], limit;
} knapsack;

static const char OPTIONS[] =
    "{ \"properties\": {"
    "  \"weights\": { \"type\": \"array\", \"minItems\": 1, \"maxItems\": 1000, \"items\": { \"type\": \"number\", \"minimum\": 0 },"
    "    \"default\": [3, 1, 4, 1, 5, 9, 2, 6], \"description\": \"The weight of each item.\" },"
    "  \"values\": { \"type\": \"array\", \"items\": { \"type\": \"number\" },"
    "    \"default\": [2, 7, 1, 8, 2, 8, 1, 8], \"description\": \"The value of each item; as many as weights.\" },"
    "  \"limit\": { \"type\": \"number\", \"minimum\": 0, \"default\": 12, \"description\": \"The most that can be carried.\" }"
    "} }";

static int create(const char *options, uint64_t seed, void **instance, host_error *error) {
    (void)seed; /* every instance is the same */
    knapsack *self = calloc(1, sizeof *self);
    if (!self) return host_fail(error, "no memory is left");
    self->count = host_option_numbers(options, "weights", self->weights, MOST);
    self->limit = host_option_number(options, "limit");
    if (host_option_numbers(options, "values", self->values, MOST) != self->count) {
        size_t count = self->count;
        free(self);
        return host_bad_option(error, "values", "must be %zu, as many as weights", count);
    }
    *instance = self;
    return HOST_OK;
}

static int space(void *instance, host_space *space, host_error *error) {
    const knapsack *self = instance;
    (void)error;
    for (size_t i = 0; i < self->count; i++) {
        char name[32];
        snprintf(name, sizeof name, "item%zu", i + 1);
        host_binary(space, name);
    }
    return HOST_OK;
}

static int evaluate(void *instance, const uint32_t *levels, size_t count, uint64_t seed, double *value, host_error *error) {
    const knapsack *self = instance;
    double weight = 0, worth = 0;
    (void)seed; /* the same value each time */
    for (size_t i = 0; i < count; i++) {
        weight += levels[i] * self->weights[i];
        worth += levels[i] * self->values[i];
    }
    double excess = weight - self->limit;
    if (excess > self->limit) return host_infeasible(error, "at %g the knapsack tears", weight);
    *value = worth - 10 * (excess > 0 ? excess : 0);
    return HOST_OK;
}

static const host_plugin PLUGIN = {
    .version = HOST_PLUGIN_VERSION,
    .size = sizeof(host_plugin),
    .kind = "benchmark",
    .name = "knapsack",
    .summary = "Fill a knapsack with the most valuable items that it can carry.",
    .plugin_version = "0.1.0",
    .options = OPTIONS,
    .create = create,
    .destroy = free,
    .maximize = 1,
    .space = space,
    .evaluate = evaluate,
};

HOST_PLUGIN_EXPORT const host_plugin *host_plugin_entry(void) { return &PLUGIN; }
