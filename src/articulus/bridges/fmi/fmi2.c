/* The interface of FMI 2.0 (types and signatures as the standard publishes them). */

#include <stddef.h>

#include "common.h"

typedef enum { OK, WARNING, DISCARD, ERROR, FATAL, PENDING } status;
typedef unsigned reference;
typedef void (*log_message)(void *environment, const char *name, status level, const char *category, const char *message, ...);

typedef struct {
    log_message logger;
    void *(*allocate)(size_t n, size_t size);
    void (*release)(void *object);
    void (*finished)(void *environment, status level);
    void *environment;
} callbacks;

typedef struct {
    int again, terminate, nominals, values, defined;
    double next;
} event_info;

static void tell(const instance *i, const char *text)
{
    log_message log;
    memcpy(&log, &i->logger, sizeof log);
    if (log)
        log(i->environment, i->name, ERROR, "logStatusError", "%s", text);
}

#define IN(modes, call) \
    instance *i = in_mode(given, modes, call); \
    if (!i) \
        return ERROR
#define CALL(condition) return (condition) ? OK : ERROR

EXPORT const char *fmi2GetTypesPlatform(void)
{
    return "default";
}

EXPORT const char *fmi2GetVersion(void)
{
    return "2.0";
}

EXPORT status fmi2SetDebugLogging(void *given, int on, size_t n, const char *const categories[])
{
    IN(ALIVE | BROKEN, "set debug logging");
    (void)n;
    (void)categories;
    i->logging = on;
    return OK;
}

EXPORT void *fmi2Instantiate(
    const char *name, int type, const char *guid, const char *resources, const callbacks *functions, int visible, int logging)
{
    void *logger = 0;
    (void)resources;
    (void)visible;
    if (functions)
        memcpy(&logger, &functions->logger, sizeof logger);
    if (type != 0 && type != 1)
        return 0;
    return made(name, guid, type == 0, functions ? functions->environment : 0, logger, logging);
}

EXPORT void fmi2FreeInstance(void *given)
{
    gone(given);
}

EXPORT status fmi2SetupExperiment(void *given, int tolerance_defined, double tolerance, double start, int stop_defined, double stop)
{
    IN(MADE, "set up experiment");
    (void)tolerance_defined;
    (void)tolerance;
    (void)stop_defined;
    (void)stop;
    if (!begin(i, start))
        return ERROR;
    i->now.mode = MADE;
    return OK;
}

EXPORT status fmi2EnterInitializationMode(void *given)
{
    IN(MADE, "enter initialization");
    i->now.mode = INITIALIZING;
    return OK;
}

EXPORT status fmi2ExitInitializationMode(void *given)
{
    IN(INITIALIZING, "exit initialization");
    i->now.mode = i->now.exchange ? EVENT : STEPPING;
    return OK;
}

EXPORT status fmi2Terminate(void *given)
{
    IN(STEPPING | EVENT | CONTINUOUS, "terminate");
    i->now.mode = TERMINATED;
    return OK;
}

EXPORT status fmi2Reset(void *given)
{
    IN(ALIVE | BROKEN, "reset");
    restart(i);
    return OK;
}

EXPORT status fmi2GetReal(void *given, const reference references[], size_t n, double values[])
{
    IN(ALIVE & ~MADE, "get");
    CALL(get_all(i, references, n, values, n));
}

EXPORT status fmi2SetReal(void *given, const reference references[], size_t n, const double values[])
{
    IN(ALIVE & ~TERMINATED, "set");
    CALL(set_all(i, references, n, values, n));
}

#define OTHER(name, type) \
    EXPORT status fmi2Get##name(void *given, const reference references[], size_t n, type values[]) \
    { \
        IN(ALIVE, "get"); \
        (void)references; \
        (void)values; \
        CALL(!n || refuse(i, "get: found a variable of type " #name "; expected Real, as all are")); \
    } \
    EXPORT status fmi2Set##name(void *given, const reference references[], size_t n, const type values[]) \
    { \
        IN(ALIVE, "set"); \
        (void)references; \
        (void)values; \
        CALL(!n || refuse(i, "set: found a variable of type " #name "; expected Real, as all are")); \
    }
typedef const char *text;
OTHER(Integer, int)
OTHER(Boolean, int)
OTHER(String, text)

EXPORT status fmi2GetFMUstate(void *given, void **state)
{
    IN(ALIVE | BROKEN, "get state");
    CALL(copied(i, state));
}

EXPORT status fmi2SetFMUstate(void *given, void *state)
{
    IN(ALIVE | BROKEN, "set state");
    CALL(restored(i, state));
}

EXPORT status fmi2FreeFMUstate(void *given, void **state)
{
    IN(ALIVE | BROKEN, "free state");
    (void)i;
    if (state) {
        free(*state);
        *state = 0;
    }
    return OK;
}

EXPORT status fmi2SerializedFMUstateSize(void *given, void *state, size_t *size)
{
    IN(ALIVE | BROKEN, "serialized size");
    CALL(state && size ? (*size = SERIALIZED, 1) : refuse(i, "serialized size: found no state"));
}

EXPORT status fmi2SerializeFMUstate(void *given, void *state, char bytes[], size_t n)
{
    IN(ALIVE | BROKEN, "serialize");
    CALL(serialized(i, state, (unsigned char *)bytes, n));
}

EXPORT status fmi2DeSerializeFMUstate(void *given, const char bytes[], size_t n, void **state)
{
    IN(ALIVE | BROKEN, "deserialize");
    CALL(deserialized(i, (const unsigned char *)bytes, n, state));
}

EXPORT status fmi2GetDirectionalDerivative(
    void *given, const reference unknowns[], size_t n, const reference knowns[], size_t m, const double seed[], double out[])
{
    IN(ALIVE & ~MADE, "directional derivative");
    CALL(directional(i, unknowns, n, knowns, m, seed, m, out, n));
}

EXPORT status fmi2EnterEventMode(void *given)
{
    IN(CONTINUOUS, "enter event mode");
    i->now.mode = EVENT;
    return OK;
}

EXPORT status fmi2NewDiscreteStates(void *given, event_info *info)
{
    IN(EVENT, "new discrete states");
    if (!info)
        CALL(refuse(i, "new discrete states: found no place for its results"));
    memset(info, 0, sizeof *info);
    info->defined = update(i, &info->next);
    return OK;
}

EXPORT status fmi2EnterContinuousTimeMode(void *given)
{
    IN(EVENT, "enter continuous-time mode");
    i->now.mode = CONTINUOUS;
    return OK;
}

EXPORT status fmi2CompletedIntegratorStep(void *given, int no_going_back, int *event, int *terminate)
{
    IN(CONTINUOUS, "completed integrator step");
    (void)no_going_back;
    if (!event || !terminate)
        CALL(refuse(i, "completed integrator step: found no places for its results"));
    *event = *terminate = 0;
    return OK;
}

EXPORT status fmi2SetTime(void *given, double time)
{
    IN(EVENT | CONTINUOUS, "set time");
    CALL(set_time(i, time));
}

EXPORT status fmi2SetContinuousStates(void *given, const double values[], size_t n)
{
    IN(EVENT | CONTINUOUS, "set continuous states");
    CALL(set_states(i, values, n));
}

EXPORT status fmi2GetDerivatives(void *given, double values[], size_t n)
{
    IN(INITIALIZING | EVENT | CONTINUOUS | TERMINATED, "get derivatives");
    if (n != N_STATES || (n && !values))
        CALL(refuse(i, "get derivatives: found room for %u; expected %d", (unsigned)n, N_STATES));
    rates(i);
    memcpy(values, i->now.rates, n * sizeof *values);
    return OK;
}

EXPORT status fmi2GetEventIndicators(void *given, double values[], size_t n)
{
    IN(ALIVE & ~MADE, "get event indicators");
    CALL(get_indicators(i, values, n));
}

EXPORT status fmi2GetContinuousStates(void *given, double values[], size_t n)
{
    IN(ALIVE & ~MADE, "get continuous states");
    if (n != N_STATES || (n && !values))
        CALL(refuse(i, "get continuous states: found room for %u; expected %d", (unsigned)n, N_STATES));
    memcpy(values, i->now.s.c, n * sizeof *values);
    return OK;
}

EXPORT status fmi2GetNominalsOfContinuousStates(void *given, double values[], size_t n)
{
    static const double nominals[SOME(N_STATES)] = NOMINALS;
    IN(ALIVE & ~MADE, "get nominals");
    if (n != N_STATES || (n && !values))
        CALL(refuse(i, "get nominals: found room for %u; expected %d", (unsigned)n, N_STATES));
    memcpy(values, nominals, n * sizeof *values);
    return OK;
}

EXPORT status fmi2SetRealInputDerivatives(void *given, const reference references[], size_t n, const int orders[], const double values[])
{
    IN(ALIVE, "set input derivatives");
    (void)references;
    (void)orders;
    (void)values;
    CALL(!n || refuse(i, "set input derivatives: inputs are held over a step"));
}

EXPORT status fmi2GetRealOutputDerivatives(void *given, const reference references[], size_t n, const int orders[], double values[])
{
    IN(ALIVE, "get output derivatives");
    (void)references;
    (void)orders;
    (void)values;
    CALL(!n || refuse(i, "get output derivatives: this model gives none"));
}

EXPORT status fmi2DoStep(void *given, double from, double length, int no_going_back)
{
    IN(STEPPING, "do step");
    (void)no_going_back;
    CALL(do_step(i, from, length));
}

EXPORT status fmi2CancelStep(void *given)
{
    IN(ALIVE, "cancel step");
    CALL(refuse(i, "cancel step: no step goes on by itself"));
}

EXPORT status fmi2GetStatus(void *given, int kind, status *value)
{
    IN(ALIVE | BROKEN, "get status");
    (void)kind;
    (void)value;
    CALL(refuse(i, "get status: no step goes on by itself"));
}

EXPORT status fmi2GetRealStatus(void *given, int kind, double *value)
{
    IN(ALIVE | BROKEN, "get status");
    CALL(kind == 2 && value ? (*value = time_of(i), 1) : refuse(i, "get status: found the kind %d; expected the last successful time", kind));
}

EXPORT status fmi2GetIntegerStatus(void *given, int kind, int *value)
{
    IN(ALIVE | BROKEN, "get status");
    (void)value;
    CALL(refuse(i, "get status: found the kind %d; expected the last successful time", kind));
}

EXPORT status fmi2GetBooleanStatus(void *given, int kind, int *value)
{
    IN(ALIVE | BROKEN, "get status");
    CALL(kind == 3 && value ? (*value = i->now.mode == BROKEN, 1) : refuse(i, "get status: found the kind %d; expected whether it ended", kind));
}

EXPORT status fmi2GetStringStatus(void *given, int kind, const char **value)
{
    IN(ALIVE | BROKEN, "get status");
    (void)value;
    CALL(refuse(i, "get status: found the kind %d; no step goes on by itself", kind));
}
