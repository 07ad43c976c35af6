/* A plugin in C: an objective (benchmark) or a solver, as a shared library that `host` loads.
 *
 * Fill in a `host_plugin` and answer it from `host_plugin_entry`, the one symbol that the host looks for:
 *
 *     static const host_plugin PLUGIN = {
 *         .version = HOST_PLUGIN_VERSION, .size = sizeof(host_plugin),
 *         .kind = "benchmark", .name = "knapsack", .summary = "What it does, in a line.", .plugin_version = "0.1.0",
 *         .create = create, .destroy = destroy, .space = space, .evaluate = evaluate,
 *     };
 *     HOST_PLUGIN_EXPORT const host_plugin *host_plugin_entry(void) { return &PLUGIN; }
 *
 * The file's name is the kind and the name, with `_` for `-`: libbenchmark_knapsack.so (.dylib on macOS, .dll without `lib`
 * on Windows):
 *
 *     cc -std=c99 -O2 -shared -fPIC knapsack.c -o libbenchmark_knapsack.so
 *
 * Rules: no global state, since a process may have several instances; an instance is called by one thread at a time. The
 * same inputs and seed give the same answer. Print nothing to the standard output. Texts are UTF-8 and end with a NUL.
 * Texts of the table live as long as the library; whatever a call is given lives until it returns.
 *
 * Structs grow at their end only, and say their size: a plugin built with this header loads into later hosts, and into
 * earlier ones of the same version. Read no field beyond the size that a struct of the host says.
 */
#ifndef HOST_PLUGIN_H
#define HOST_PLUGIN_H

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HOST_PLUGIN_VERSION 1

#if defined(_WIN32)
#define HOST_PLUGIN_EXPORT __declspec(dllexport)
#else
#define HOST_PLUGIN_EXPORT __attribute__((visibility("default")))
#endif

/* How a call ended. */
enum {
    HOST_OK = 0,
    HOST_FAILED = 1,     /* it could not be done: error->message says why */
    HOST_BAD_OPTION = 2, /* create: an option is wrong, error->option says which */
    HOST_INFEASIBLE = 3  /* evaluate: the point has no value and never will: error->message says why */
};

/* Where a call writes what went wrong; host_fail() and its like below do it. */
typedef struct host_error {
    uint32_t size;
    char *message;
    size_t message_size;
    char *option; /* the way to a wrong option, such as weights[3] */
    size_t option_size;
} host_error;

/* Where a benchmark writes its variables, in their order. */
typedef struct host_space host_space;
struct host_space {
    uint32_t size;
    void *host; /* not for the plugin */
    /* A variable with named levels, at least two; ordered where neighbours are more alike than others. */
    void (*variable)(host_space *space, const char *name, const char *const *levels, size_t count, int ordered);
    /* A rule that all points keep to, as JSON: {"at-most": {"count": 1, "of": [{"index": 0, "level": 1}, …]}},
     * {"exactly": …}, {"fixed": {"index": 0, "level": 1}}, {"forbidden": [{"index": 0, "level": 1}, …]},
     * {"capacity": {"limit": 3.5, "of": [{"index": 0, "level": 1}, …], "weights": [1.5, …]}}. */
    void (*constraint)(host_space *space, const char *json);
};

/* What a solver minimises. */
typedef struct host_problem host_problem;
struct host_problem {
    uint32_t size;
    const void *host; /* not for the plugin */
    size_t dimension; /* the number of bits */
    /* A quadratic function: constant + sum of linear[i] x[i] + sum of pairs x[i] x[j], i < j. The pairs stand row after row,
     * (0,1), (0,2), …, (1,2), …. Both are NULL for a general function, which only a solver that takes it gets. */
    double constant;
    const double *linear;
    const double *pairs;
    /* The function at `count` points, a row of `dimension` bytes (0 or 1) each. */
    void (*values)(const host_problem *problem, const uint8_t *points, size_t count, double *values);
    /* Groups of bits of which exactly one is set, as starts and ends: groups[2 k] <= i < groups[2 k + 1]. */
    size_t group_count;
    const size_t *groups;
    /* The other rules as a JSON list, as in host_space; "" where there are none. */
    const char *constraints;
    /* Good points to start from, the best first, and points that are of no use as an answer; a row each. */
    size_t start_count;
    const uint8_t *starts;
    size_t unwanted_count;
    const uint8_t *unwanted;
    uint64_t work_limit;             /* the most main steps of the method; 0 for no limit */
    uint64_t time_limit_nanoseconds; /* 0 for no limit */
};

/* What a solver answers. */
typedef struct host_answer {
    uint32_t size;
    uint8_t *bits; /* room for `dimension` bytes, all 0 at first */
    double value;  /* the function there */
    double bound;  /* no point has a value below; -INFINITY, as it is at first, says nothing */
    uint64_t work; /* how many main steps were taken; 0 where they are not counted */
    int stop;      /* 0 done, 1 for the work limit, 2 for the time limit */
} host_answer;

/* The plugin. Fields of the other kind stay 0. */
typedef struct host_plugin {
    uint32_t version; /* HOST_PLUGIN_VERSION */
    uint32_t size;    /* sizeof(host_plugin) */
    const char *kind; /* "benchmark" or "solver" */
    const char *name; /* what a manifest calls it: small letters, digits and - */
    const char *summary;
    const char *plugin_version;
    /* JSON schema of the options: {"properties": {"limit": {"type": "number", "minimum": 0, "default": 12, "description":
     * "…"}}}. Each has a default. The host checks names, types and limits. NULL where there are no options. */
    const char *options;

    /* Makes an instance from options as JSON, all of them, defaults filled; `seed` is that of a benchmark's instance. */
    int (*create)(const char *options, uint64_t seed, void **instance, host_error *error);
    /* Frees it. May be NULL. */
    void (*destroy)(void *instance);

    /* Benchmarks. */
    int maximize; /* 1 where high values are good */
    int noisy;    /* 1 where a point has another value for another seed */
    int (*space)(void *instance, host_space *space, host_error *error);
    /* levels[i] is the level of variable i, counted from 0. */
    int (*evaluate)(void *instance, const uint32_t *levels, size_t count, uint64_t seed, double *value, host_error *error);

    /* Solvers. */
    const char *takes; /* "quadratic" (also for NULL), "general" or "quadratic,general" */
    const char *keeps; /* which rules its answers keep to: of "groups,at-most,exactly,fixed,forbidden,capacity"; NULL for none */
    int (*minimize)(void *instance, const host_problem *problem, uint64_t seed, host_answer *answer, host_error *error);
} host_plugin;

/* The one symbol of a plugin. */
HOST_PLUGIN_EXPORT const host_plugin *host_plugin_entry(void);

/* ---- Help that costs nothing where it is not used ---- */

#if defined(__GNUC__)
#define HOST_UNUSED __attribute__((unused))
#else
#define HOST_UNUSED
#endif

HOST_UNUSED static int host_failure(host_error *error, int code, const char *option, const char *format, va_list words) {
    vsnprintf(error->message, error->message_size, format, words);
    snprintf(error->option, error->option_size, "%s", option);
    return code;
}

/* return host_fail(error, "the laboratory does not answer: %d", code); */
HOST_UNUSED static int host_fail(host_error *error, const char *format, ...) {
    va_list words;
    va_start(words, format);
    int code = host_failure(error, HOST_FAILED, "", format, words);
    va_end(words);
    return code;
}

/* return host_bad_option(error, "values", "must be %zu, as many as weights", count); */
HOST_UNUSED static int host_bad_option(host_error *error, const char *option, const char *format, ...) {
    va_list words;
    va_start(words, format);
    int code = host_failure(error, HOST_BAD_OPTION, option, format, words);
    va_end(words);
    return code;
}

/* return host_infeasible(error, "it burns"); */
HOST_UNUSED static int host_infeasible(host_error *error, const char *format, ...) {
    va_list words;
    va_start(words, format);
    int code = host_failure(error, HOST_INFEASIBLE, "", format, words);
    va_end(words);
    return code;
}

/* Adds a variable with the levels 0 and 1. */
HOST_UNUSED static void host_binary(host_space *space, const char *name) {
    static const char *const levels[] = {"0", "1"};
    space->variable(space, name, levels, 2, 0);
}

/* The place after a JSON value. */
HOST_UNUSED static const char *host_json_skip(const char *at) {
    int depth = 0;
    for (; *at; at++) {
        if (*at == '"') {
            for (at++; *at && *at != '"'; at++) {
                if (*at == '\\' && at[1]) at++;
            }
            if (!*at) return at;
        } else if (*at == '[' || *at == '{') {
            depth++;
        } else if (*at == ']' || *at == '}' || *at == ',') {
            if (depth == 0) return at;
            if (*at != ',') depth--;
        }
    }
    return at;
}

/* The value of an option as JSON text; NULL where there is none. The host writes JSON without spaces. */
HOST_UNUSED static const char *host_option(const char *options, const char *name) {
    size_t length = strlen(name);
    const char *at = options;
    if (*at == '{') at++;
    while (*at == '"') {
        const char *key = at + 1;
        const char *colon = key;
        while (*colon && *colon != '"') colon++;
        if (colon[0] != '"' || colon[1] != ':') return NULL;
        if ((size_t)(colon - key) == length && strncmp(key, name, length) == 0) return colon + 2;
        at = host_json_skip(colon + 2);
        if (*at == ',') at++;
    }
    return NULL;
}

/* An option that is a number; NaN where it is none. */
HOST_UNUSED static double host_option_number(const char *options, const char *name) {
    const char *value = host_option(options, name);
    if (!value || !(*value == '-' || (*value >= '0' && *value <= '9'))) return NAN;
    return strtod(value, NULL);
}

/* An option that is true or false. */
HOST_UNUSED static int host_option_is_true(const char *options, const char *name) {
    const char *value = host_option(options, name);
    return value && strncmp(value, "true", 4) == 0;
}

/* An option that is a list of numbers: writes at most `most` of them, and answers how many there are. */
HOST_UNUSED static size_t host_option_numbers(const char *options, const char *name, double *numbers, size_t most) {
    const char *value = host_option(options, name);
    size_t count = 0;
    if (!value || *value != '[') return 0;
    for (value++; *value && *value != ']'; count++) {
        if (count < most) numbers[count] = strtod(value, NULL);
        value = host_json_skip(value);
        if (*value == ',') value++;
    }
    return count;
}

/* A seed to the next, and a number from 0 (included) to 1 (not): SplitMix64, the same on every machine. */
HOST_UNUSED static double host_random(uint64_t *seed) {
    uint64_t z = (*seed += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

#ifdef __cplusplus
}
#endif

#endif
