/* What the interfaces of FMI 2.0 and 3.0 share: an instance of the model, its variables by value reference, its modes. */

#include "interface.h"
#include "model.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

#define SOME(n) ((n) ? (n) : 1)
#define MAGIC 0x41525449u
#define LARGEST 1e150
#define MOST_STEPS 1e9

/* Value references: time, parameters, inputs, outputs, states, their derivatives, gaps. */
enum {
    FIRST_PARAMETER = 1,
    FIRST_INPUT = FIRST_PARAMETER + N_PARAMETERS,
    FIRST_OUTPUT = FIRST_INPUT + N_INPUTS,
    FIRST_STATE = FIRST_OUTPUT + N_OUTPUTS,
    FIRST_RATE = FIRST_STATE + N_STATES,
    FIRST_GAP = FIRST_RATE + N_STATES,
    BEYOND = FIRST_GAP + N_GAPS
};

enum { MADE = 1, INITIALIZING = 2, STEPPING = 4, EVENT = 8, CONTINUOUS = 16, TERMINATED = 32, BROKEN = 64 };
#define ALIVE (MADE | INITIALIZING | STEPPING | EVENT | CONTINUOUS | TERMINATED)

/* Everything that getting, setting and serializing a state copies; it holds no pointer. */
typedef struct {
    int mode, exchange, outputs_known, rates_known;
    unsigned long long last; /* step at which sampled components worked last, plus one */
    model_state s;
    double p[SOME(N_PARAMETERS)], u[SOME(N_INPUTS)], y[SOME(N_OUTPUTS)], rates[SOME(N_STATES)];
} content;

typedef struct {
    unsigned magic;
    content now;
    void *environment;
    void *logger;
    char *name;
    int logging;
} instance;

typedef char outputs_are_packed[sizeof(model_outputs) == N_OUTPUTS * sizeof(double) ? 1 : -1];
#if N_PARAMETERS
typedef char parameters_are_packed[sizeof(model_parameters) == N_PARAMETERS * sizeof(double) ? 1 : -1];
#define WITH_P , (const model_parameters *)(const void *)i->now.p
#else
#define WITH_P
#endif
#if N_INPUTS
typedef char inputs_are_packed[sizeof(model_inputs) == N_INPUTS * sizeof(double) ? 1 : -1];
#define WITH_U , (const model_inputs *)(const void *)i->now.u
#else
#define WITH_U
#endif
#if N_NOISE
#define GIVEN WITH_P WITH_U, 0
#else
#define GIVEN WITH_P WITH_U
#endif

static void tell(const instance *i, const char *text); /* each interface has its own */

/* Send a message; return 0, so that a failing check is one statement. */
static int refuse(const instance *i, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    tell(i, text);
    return 0;
}

static instance *alive(void *given)
{
    instance *i = (instance *)given;
    return i && i->magic == MAGIC ? i : 0;
}

/* Return the instance if it is in one of some modes, else tell and return none. */
static instance *in_mode(void *given, int modes, const char *call)
{
    static const char *const names[] = {"instantiated", "initialization", "step", "event", "continuous-time", "terminated", "error"};
    instance *i = alive(given);
    int k = 0;
    if (!i)
        return 0;
    if (i->now.mode & modes)
        return i;
    while (k < 6 && !(i->now.mode >> k & 1))
        k++;
    refuse(i, "%s: found it called in mode '%s', where the standard does not allow it", call, names[k]);
    return 0;
}

static double time_of(const instance *i)
{
    return i->now.s.t0 + (double)i->now.s.k * STEP + i->now.s.ahead;
}

static void changed(instance *i)
{
    i->now.outputs_known = i->now.rates_known = 0;
}

static void restart(instance *i)
{
    static const double parameters[SOME(N_PARAMETERS)] = START_PARAMETERS;
    const int exchange = i->now.exchange;
    memset(&i->now, 0, sizeof i->now);
    i->now.exchange = exchange;
    i->now.mode = MADE;
    memcpy(i->now.p, parameters, sizeof parameters);
    model_start(&i->now.s);
}

static instance *made(const char *name, const char *token, int exchange, void *environment, void *logger, int logging)
{
    instance *i = (instance *)calloc(1, sizeof *i);
    size_t n = name ? strlen(name) : 0;
    if (!i)
        return 0;
    i->magic = MAGIC;
    i->environment = environment;
    i->logger = logger;
    i->logging = logging;
    i->now.exchange = exchange;
    i->name = (char *)calloc(n + 1, 1);
    if (!i->name) {
        free(i);
        return 0;
    }
    if (n)
        memcpy(i->name, name, n);
    if (!token || strcmp(token, TOKEN)) {
        refuse(i, "instantiate: found the token '%.80s'; expected '%s', that of the description", token ? token : "", TOKEN);
        free(i->name);
        free(i);
        return 0;
    }
    restart(i);
    return i;
}

static void gone(void *given)
{
    instance *i = alive(given);
    if (!i)
        return;
    i->magic = 0;
    free(i->name);
    free(i);
}

static int finite(double x)
{
    return x - x == 0;
}

static int states_good(const instance *i)
{
    int k;
    for (k = 0; k < N_STATES; k++)
        if (!(fabs(i->now.s.c[k]) < LARGEST))
            return 0;
    return 1;
}

static void report(instance *i)
{
    if (!i->now.outputs_known)
        model_report(&i->now.s GIVEN, (model_outputs *)(void *)i->now.y);
    i->now.outputs_known = 1;
}

static void rates(instance *i)
{
    if (!i->now.rates_known)
        model_rates(&i->now.s GIVEN, i->now.rates);
    i->now.rates_known = 1;
}

/* Gaps of what may touch: their signs are the events of model exchange, at which forces bend; nothing jumps there. */
static void gaps(instance *i, double *values)
{
#if N_GAPS
    model_gaps(&i->now.s GIVEN, values);
#else
    (void)i;
    (void)values;
#endif
}

static int get_indicators(instance *i, double *values, size_t n)
{
    if (n != N_GAPS || (n && !values))
        return refuse(i, "get event indicators: found room for %u; expected %d", (unsigned)n, N_GAPS);
    gaps(i, values);
    return 1;
}

static int get(instance *i, unsigned reference, double *value)
{
    if (reference == 0)
        *value = time_of(i);
    else if (reference < FIRST_INPUT)
        *value = i->now.p[reference - FIRST_PARAMETER];
    else if (reference < FIRST_OUTPUT)
        *value = i->now.u[reference - FIRST_INPUT];
    else if (reference < FIRST_STATE) {
        report(i);
        *value = i->now.y[reference - FIRST_OUTPUT];
    } else if (reference < FIRST_RATE)
        *value = i->now.s.c[reference - FIRST_STATE];
    else if (reference < FIRST_GAP) {
        rates(i);
        *value = i->now.rates[reference - FIRST_RATE];
    } else if (reference < BEYOND) {
        double held[SOME(N_GAPS)] = {0};
        gaps(i, held);
        *value = held[reference - FIRST_GAP];
    } else
        return refuse(i, "get: found the value reference %u; expected less than %d", reference, (int)BEYOND);
    return 1;
}

static int set(instance *i, unsigned reference, double value)
{
    if (reference < FIRST_PARAMETER || reference >= FIRST_RATE || (reference >= FIRST_OUTPUT && reference < FIRST_STATE))
        return refuse(i, "set: found the value reference %u; expected a parameter, an input or a state", reference);
    if (!finite(value))
        return refuse(i, "set: found a value that is not finite for the value reference %u; expected a number", reference);
    if (reference >= FIRST_STATE && !(i->now.mode & (MADE | INITIALIZING)))
        return refuse(i, "set: found the state of value reference %u after initialization; expected it before", reference);
    if (reference < FIRST_INPUT)
        i->now.p[reference - FIRST_PARAMETER] = value;
    else if (reference < FIRST_OUTPUT)
        i->now.u[reference - FIRST_INPUT] = value;
    else
        i->now.s.c[reference - FIRST_STATE] = value;
    changed(i);
    return 1;
}

static int get_all(instance *i, const unsigned *references, size_t n, double *values, size_t room)
{
    size_t k;
    if (n && (!references || !values))
        return refuse(i, "get: found no arrays for %u variables", (unsigned)n);
    if (room != n)
        return refuse(i, "get: found room for %u values; expected %u", (unsigned)room, (unsigned)n);
    for (k = 0; k < n; k++)
        if (!get(i, references[k], values + k))
            return 0;
    return 1;
}

static int set_all(instance *i, const unsigned *references, size_t n, const double *values, size_t room)
{
    size_t k;
    if (n && (!references || !values))
        return refuse(i, "set: found no arrays for %u variables", (unsigned)n);
    if (room != n)
        return refuse(i, "set: found %u values; expected %u", (unsigned)room, (unsigned)n);
    for (k = 0; k < n; k++)
        if (!set(i, references[k], values[k]))
            return 0;
    return 1;
}

static int begin(instance *i, double start)
{
    if (!finite(start))
        return refuse(i, "enter initialization: found a start time that is not finite");
    i->now.s.t0 = start;
    i->now.mode = INITIALIZING;
    changed(i);
    return 1;
}

/* Take whole steps of the model. */
static int do_step(instance *i, double from, double length)
{
    const double count = floor(length / STEP + 0.5), here = time_of(i);
    double k;
    if (!finite(from) || !finite(length) || !(fabs(from - here) <= 1e-6 * STEP + 1e-12 * fabs(here)))
        return refuse(i, "do step: found the communication point %.17g s; expected %.17g s, the present one", from, here);
    if (!(count >= 1) || !(count <= MOST_STEPS) || !(fabs(length / STEP - count) <= 1e-6 * (1 + 1e-6 * count)))
        return refuse(i, "do step: found a communication step of %.9g s; expected a whole multiple of %.9g s", length, STEP);
    changed(i);
    for (k = 0; k < count; k++) {
        model_step(&i->now.s GIVEN);
        if (!states_good(i)) {
            i->now.mode = BROKEN;
            return refuse(i, "do step: a state is no number or too large at t = %.9g s; a smaller step, or other inputs", time_of(i));
        }
    }
    return 1;
}

/* model exchange */

static int set_time(instance *i, double time)
{
    const double x = floor((time - i->now.s.t0) / STEP + 1e-9);
    if (!finite(time) || !(x >= 0 && x < 9e15))
        return refuse(i, "set time: found %.17g s; expected a time from %.17g s on", time, i->now.s.t0);
    i->now.s.k = (unsigned long long)x;
    i->now.s.ahead = time - i->now.s.t0 - x * STEP;
    i->now.s.fired = 1;
    changed(i);
    return 1;
}

static int set_states(instance *i, const double *values, size_t n)
{
    size_t k;
    if (n != N_STATES || (n && !values))
        return refuse(i, "set continuous states: found %u values; expected %d", (unsigned)n, N_STATES);
    for (k = 0; k < n; k++)
        if (!finite(values[k]))
            return refuse(i, "set continuous states: found a value that is not finite for state %u", (unsigned)k);
    memcpy(i->now.s.c, values, n * sizeof *values);
    changed(i);
    return 1;
}

/* Let what is due work; return whether there is a next time for it. */
static int update(instance *i, double *next)
{
    static const unsigned long long periods[SOME(N_SAMPLED)] = PERIODS;
    unsigned long long soonest = 0, k = i->now.s.k;
    int n;
    if (fabs(i->now.s.ahead) <= 1e-6 * STEP && i->now.last != k + 1) {
        i->now.s.fired = 0;
        model_fire(&i->now.s GIVEN);
        i->now.last = k + 1;
        changed(i);
    }
    i->now.s.fired = 1;
    for (n = 0; n < N_SAMPLED; n++) {
        const unsigned long long then = (k / periods[n] + 1) * periods[n];
        if (!n || then < soonest)
            soonest = then;
    }
    *next = i->now.s.t0 + (double)soonest * STEP;
    return N_SAMPLED > 0;
}

/* Sensitivity of outputs and derivatives to states, inputs and parameters in one direction; held values stay. */
static int directional(instance *i, const unsigned *unknowns, size_t n, const unsigned *knowns, size_t m, const double *seed, size_t seeds,
    double *out, size_t room)
{
    double dc[SOME(N_STATES)] = {0}, dp[SOME(N_PARAMETERS)] = {0}, du[SOME(N_INPUTS)] = {0};
    double dy[SOME(N_OUTPUTS)] = {0}, dr[SOME(N_STATES)] = {0};
    size_t k;
    int wants_y = 0, wants_r = 0;
    if (n != room || m != seeds || (n && (!unknowns || !out)) || (m && (!knowns || !seed)))
        return refuse(i, "directional derivative: found arrays that do not fit their numbers");
    for (k = 0; k < m; k++) {
        const unsigned r = knowns[k];
        if (r >= FIRST_PARAMETER && r < FIRST_INPUT)
            dp[r - FIRST_PARAMETER] += seed[k];
        else if (r >= FIRST_INPUT && r < FIRST_OUTPUT)
            du[r - FIRST_INPUT] += seed[k];
        else if (r >= FIRST_STATE && r < FIRST_RATE)
            dc[r - FIRST_STATE] += seed[k];
        else
            return refuse(i, "directional derivative: found the known %u; expected a state, an input or a parameter", r);
    }
    for (k = 0; k < n; k++) {
        wants_y |= unknowns[k] >= FIRST_OUTPUT && unknowns[k] < FIRST_STATE;
        wants_r |= unknowns[k] >= FIRST_RATE && unknowns[k] < FIRST_GAP;
    }
    if (wants_y)
        model_report_along(&i->now.s GIVEN, dc, dp, du, dy);
    if (wants_r)
        model_rates_along(&i->now.s GIVEN, dc, dp, du, dr);
    for (k = 0; k < n; k++) {
        const unsigned r = unknowns[k];
        if (r >= FIRST_OUTPUT && r < FIRST_STATE)
            out[k] = dy[r - FIRST_OUTPUT];
        else if (r >= FIRST_RATE && r < FIRST_GAP)
            out[k] = dr[r - FIRST_RATE];
        else
            return refuse(i, "directional derivative: found the unknown %u; expected an output or a derivative", r);
    }
    return 1;
}

/* states as bytes */

static int copied(instance *i, void **state)
{
    if (!state)
        return refuse(i, "get state: found no place for it");
    if (!*state)
        *state = malloc(sizeof(content));
    if (!*state)
        return refuse(i, "get state: no memory");
    memcpy(*state, &i->now, sizeof(content));
    return 1;
}

static int restored(instance *i, const void *state)
{
    if (!state)
        return refuse(i, "set state: found none");
    memcpy(&i->now, state, sizeof(content));
    return 1;
}

#define SERIALIZED (sizeof(TOKEN) + sizeof(content))

static int serialized(instance *i, const void *state, unsigned char *bytes, size_t n)
{
    if (!state || !bytes || n < SERIALIZED)
        return refuse(i, "serialize: found room for %u bytes; expected %u", (unsigned)n, (unsigned)SERIALIZED);
    memcpy(bytes, TOKEN, sizeof(TOKEN));
    memcpy(bytes + sizeof(TOKEN), state, sizeof(content));
    return 1;
}

static int deserialized(instance *i, const unsigned char *bytes, size_t n, void **state)
{
    content held;
    if (!bytes || !state || n != SERIALIZED || memcmp(bytes, TOKEN, sizeof(TOKEN)))
        return refuse(i, "deserialize: found bytes that are no state of this model");
    memcpy(&held, bytes + sizeof(TOKEN), sizeof held);
    if (held.exchange != i->now.exchange || (held.mode & (held.mode - 1)) || !(held.mode & (ALIVE | BROKEN)))
        return refuse(i, "deserialize: found bytes that are no state of this model");
    if (!(*state = malloc(sizeof(content))))
        return refuse(i, "deserialize: no memory");
    memcpy(*state, &held, sizeof held);
    return 1;
}
