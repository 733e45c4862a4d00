/* The interface of FMI 3.0 (types and signatures as the standard publishes them). */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common.h"

typedef enum { OK, WARNING, DISCARD, ERROR, FATAL } status;
typedef uint32_t reference;
typedef void (*log_message)(void *environment, status level, const char *category, const char *message);

static void tell(const instance *i, const char *text)
{
    log_message log;
    memcpy(&log, &i->logger, sizeof log);
    if (log)
        log(i->environment, ERROR, "logStatusError", text);
}

#define IN(modes, call) \
    instance *i = in_mode(given, modes, call); \
    if (!i) \
        return ERROR
#define CALL(condition) return (condition) ? OK : ERROR

EXPORT const char *fmi3GetVersion(void)
{
    return "3.0";
}

EXPORT status fmi3SetDebugLogging(void *given, bool on, size_t n, const char *const categories[])
{
    IN(ALIVE | BROKEN, "set debug logging");
    (void)n;
    (void)categories;
    i->logging = on;
    return OK;
}

EXPORT void *fmi3InstantiateModelExchange(
    const char *name, const char *token, const char *resources, bool visible, bool logging, void *environment, log_message log)
{
    void *logger;
    (void)resources;
    (void)visible;
    memcpy(&logger, &log, sizeof logger);
    return made(name, token, 1, environment, logger, logging);
}

EXPORT void *fmi3InstantiateCoSimulation(const char *name, const char *token, const char *resources, bool visible, bool logging, bool events,
    bool early, const reference needed[], size_t n, void *environment, log_message log, void (*intermediate)(void))
{
    void *logger;
    (void)resources;
    (void)visible;
    (void)events;
    (void)early;
    (void)needed;
    (void)n;
    (void)intermediate;
    memcpy(&logger, &log, sizeof logger);
    return made(name, token, 0, environment, logger, logging);
}

EXPORT void *fmi3InstantiateScheduledExecution(const char *name, const char *token, const char *resources, bool visible, bool logging,
    void *environment, log_message log, void (*clock)(void), void (*lock)(void), void (*unlock)(void))
{
    (void)name;
    (void)token;
    (void)resources;
    (void)visible;
    (void)logging;
    (void)clock;
    (void)lock;
    (void)unlock;
    if (log)
        log(environment, ERROR, "logStatusError", "instantiate: found scheduled execution; expected model exchange or co-simulation");
    return 0;
}

EXPORT void fmi3FreeInstance(void *given)
{
    gone(given);
}

EXPORT status fmi3EnterInitializationMode(
    void *given, bool tolerance_defined, double tolerance, double start, bool stop_defined, double stop)
{
    IN(MADE, "enter initialization");
    (void)tolerance_defined;
    (void)tolerance;
    (void)stop_defined;
    (void)stop;
    CALL(begin(i, start));
}

EXPORT status fmi3ExitInitializationMode(void *given)
{
    IN(INITIALIZING, "exit initialization");
    i->now.mode = i->now.exchange ? EVENT : STEPPING;
    return OK;
}

EXPORT status fmi3EnterEventMode(void *given)
{
    IN(CONTINUOUS, "enter event mode");
    i->now.mode = EVENT;
    return OK;
}

EXPORT status fmi3Terminate(void *given)
{
    IN(STEPPING | EVENT | CONTINUOUS, "terminate");
    i->now.mode = TERMINATED;
    return OK;
}

EXPORT status fmi3Reset(void *given)
{
    IN(ALIVE | BROKEN, "reset");
    restart(i);
    return OK;
}

EXPORT status fmi3GetFloat64(void *given, const reference references[], size_t n, double values[], size_t room)
{
    IN(ALIVE & ~MADE, "get");
    CALL(get_all(i, references, n, values, room));
}

EXPORT status fmi3SetFloat64(void *given, const reference references[], size_t n, const double values[], size_t room)
{
    IN(ALIVE & ~TERMINATED, "set");
    CALL(set_all(i, references, n, values, room));
}

#define OTHER(name, type) \
    EXPORT status fmi3Get##name(void *given, const reference references[], size_t n, type values[], size_t room) \
    { \
        IN(ALIVE, "get"); \
        (void)references; \
        (void)values; \
        (void)room; \
        CALL(!n || refuse(i, "get: found a variable of type " #name "; expected Float64, as all are")); \
    } \
    EXPORT status fmi3Set##name(void *given, const reference references[], size_t n, const type values[], size_t room) \
    { \
        IN(ALIVE, "set"); \
        (void)references; \
        (void)values; \
        (void)room; \
        CALL(!n || refuse(i, "set: found a variable of type " #name "; expected Float64, as all are")); \
    }
OTHER(Float32, float)
OTHER(Int8, int8_t)
OTHER(UInt8, uint8_t)
OTHER(Int16, int16_t)
OTHER(UInt16, uint16_t)
OTHER(Int32, int32_t)
OTHER(UInt32, uint32_t)
OTHER(Int64, int64_t)
OTHER(UInt64, uint64_t)
OTHER(Boolean, bool)

/* String, Binary, Clock and what belongs to clocks, derivatives of outputs, configuration and scheduled execution: no variable has them */
#define NONE(name, ...) \
    EXPORT status fmi3##name(void *given, __VA_ARGS__) \
    { \
        instance *i = alive(given); \
        if (i) \
            refuse(i, #name ": no variable of this model has such a thing"); \
        return ERROR; \
    }
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wunused-parameter"
#endif
NONE(GetString, const reference r[], size_t n, const char *values[], size_t room)
NONE(SetString, const reference r[], size_t n, const char *const values[], size_t room)
NONE(GetBinary, const reference r[], size_t n, size_t sizes[], const uint8_t *values[], size_t room)
NONE(SetBinary, const reference r[], size_t n, const size_t sizes[], const uint8_t *const values[], size_t room)
NONE(GetClock, const reference r[], size_t n, bool values[])
NONE(SetClock, const reference r[], size_t n, const bool values[])
NONE(GetNumberOfVariableDependencies, reference r, size_t *n)
NONE(GetVariableDependencies, reference r, size_t a[], reference b[], size_t c[], int kinds[], size_t n)
NONE(GetIntervalDecimal, const reference r[], size_t n, double intervals[], int qualifiers[])
NONE(GetIntervalFraction, const reference r[], size_t n, uint64_t counters[], uint64_t resolutions[], int qualifiers[])
NONE(GetShiftDecimal, const reference r[], size_t n, double shifts[])
NONE(GetShiftFraction, const reference r[], size_t n, uint64_t counters[], uint64_t resolutions[])
NONE(SetIntervalDecimal, const reference r[], size_t n, const double intervals[])
NONE(SetIntervalFraction, const reference r[], size_t n, const uint64_t counters[], const uint64_t resolutions[])
NONE(SetShiftDecimal, const reference r[], size_t n, const double shifts[])
NONE(SetShiftFraction, const reference r[], size_t n, const uint64_t counters[], const uint64_t resolutions[])
NONE(GetOutputDerivatives, const reference r[], size_t n, const int32_t orders[], double values[], size_t room)
NONE(ActivateModelPartition, reference clock, double time)
NONE(GetAdjointDerivative, const reference u[], size_t nu, const reference k[], size_t nk, const double seed[], size_t ns, double out[],
    size_t no)

EXPORT status fmi3EnterConfigurationMode(void *given)
{
    IN(MADE, "enter configuration mode");
    CALL(refuse(i, "enter configuration mode: this model has no structural parameters"));
}

EXPORT status fmi3ExitConfigurationMode(void *given)
{
    IN(MADE, "exit configuration mode");
    CALL(refuse(i, "exit configuration mode: this model has no structural parameters"));
}

EXPORT status fmi3EnterStepMode(void *given)
{
    IN(EVENT, "enter step mode");
    CALL(!i->now.exchange ? (i->now.mode = STEPPING, 1) : refuse(i, "enter step mode: found model exchange; expected co-simulation"));
}

EXPORT status fmi3EvaluateDiscreteStates(void *given)
{
    IN(INITIALIZING | EVENT, "evaluate discrete states");
    return OK;
}

EXPORT status fmi3GetFMUState(void *given, void **state)
{
    IN(ALIVE | BROKEN, "get state");
    CALL(copied(i, state));
}

EXPORT status fmi3SetFMUState(void *given, void *state)
{
    IN(ALIVE | BROKEN, "set state");
    CALL(restored(i, state));
}

EXPORT status fmi3FreeFMUState(void *given, void **state)
{
    IN(ALIVE | BROKEN, "free state");
    (void)i;
    if (state) {
        free(*state);
        *state = 0;
    }
    return OK;
}

EXPORT status fmi3SerializedFMUStateSize(void *given, void *state, size_t *size)
{
    IN(ALIVE | BROKEN, "serialized size");
    CALL(state && size ? (*size = SERIALIZED, 1) : refuse(i, "serialized size: found no state"));
}

EXPORT status fmi3SerializeFMUState(void *given, void *state, uint8_t bytes[], size_t n)
{
    IN(ALIVE | BROKEN, "serialize");
    CALL(serialized(i, state, bytes, n));
}

EXPORT status fmi3DeserializeFMUState(void *given, const uint8_t bytes[], size_t n, void **state)
{
    IN(ALIVE | BROKEN, "deserialize");
    CALL(deserialized(i, bytes, n, state));
}

EXPORT status fmi3GetDirectionalDerivative(void *given, const reference unknowns[], size_t n, const reference knowns[], size_t m,
    const double seed[], size_t seeds, double out[], size_t room)
{
    IN(ALIVE & ~MADE, "directional derivative");
    CALL(directional(i, unknowns, n, knowns, m, seed, seeds, out, room));
}

EXPORT status fmi3UpdateDiscreteStates(void *given, bool *again, bool *terminate, bool *nominals, bool *values, bool *defined, double *next)
{
    double then = 0;
    IN(EVENT, "update discrete states");
    if (!again || !terminate || !nominals || !values || !defined || !next)
        CALL(refuse(i, "update discrete states: found no places for its results"));
    *again = *terminate = *nominals = *values = false;
    *defined = update(i, &then);
    *next = then;
    return OK;
}

EXPORT status fmi3EnterContinuousTimeMode(void *given)
{
    IN(EVENT, "enter continuous-time mode");
    if (!i->now.exchange)
        CALL(refuse(i, "enter continuous-time mode: found co-simulation; expected model exchange"));
    i->now.mode = CONTINUOUS;
    return OK;
}

EXPORT status fmi3CompletedIntegratorStep(void *given, bool no_going_back, bool *event, bool *terminate)
{
    IN(CONTINUOUS, "completed integrator step");
    (void)no_going_back;
    if (!event || !terminate)
        CALL(refuse(i, "completed integrator step: found no places for its results"));
    *event = *terminate = false;
    return OK;
}

EXPORT status fmi3SetTime(void *given, double time)
{
    IN(EVENT | CONTINUOUS, "set time");
    CALL(set_time(i, time));
}

EXPORT status fmi3SetContinuousStates(void *given, const double values[], size_t n)
{
    IN(CONTINUOUS | EVENT, "set continuous states");
    CALL(set_states(i, values, n));
}

EXPORT status fmi3GetContinuousStateDerivatives(void *given, double values[], size_t n)
{
    IN(INITIALIZING | EVENT | CONTINUOUS | TERMINATED, "get derivatives");
    if (n != N_STATES || (n && !values))
        CALL(refuse(i, "get derivatives: found room for %u; expected %d", (unsigned)n, N_STATES));
    rates(i);
    memcpy(values, i->now.rates, n * sizeof *values);
    return OK;
}

EXPORT status fmi3GetEventIndicators(void *given, double values[], size_t n)
{
    IN(ALIVE & ~MADE, "get event indicators");
    CALL(get_indicators(i, values, n));
}

EXPORT status fmi3GetContinuousStates(void *given, double values[], size_t n)
{
    IN(ALIVE & ~MADE, "get continuous states");
    if (n != N_STATES || (n && !values))
        CALL(refuse(i, "get continuous states: found room for %u; expected %d", (unsigned)n, N_STATES));
    memcpy(values, i->now.s.c, n * sizeof *values);
    return OK;
}

EXPORT status fmi3GetNominalsOfContinuousStates(void *given, double values[], size_t n)
{
    static const double nominals[SOME(N_STATES)] = NOMINALS;
    IN(ALIVE & ~MADE, "get nominals");
    if (n != N_STATES || (n && !values))
        CALL(refuse(i, "get nominals: found room for %u; expected %d", (unsigned)n, N_STATES));
    memcpy(values, nominals, n * sizeof *values);
    return OK;
}

EXPORT status fmi3GetNumberOfEventIndicators(void *given, size_t *n)
{
    IN(ALIVE, "number of event indicators");
    CALL(n ? (*n = N_GAPS, 1) : refuse(i, "number of event indicators: found no place for it"));
}

EXPORT status fmi3GetNumberOfContinuousStates(void *given, size_t *n)
{
    IN(ALIVE, "number of states");
    CALL(n ? (*n = N_STATES, 1) : refuse(i, "number of states: found no place for it"));
}

EXPORT status fmi3DoStep(
    void *given, double from, double length, bool no_going_back, bool *event, bool *terminate, bool *early, double *reached)
{
    int good;
    IN(STEPPING, "do step");
    (void)no_going_back;
    if (!event || !terminate || !early || !reached)
        CALL(refuse(i, "do step: found no places for its results"));
    *event = *terminate = *early = false;
    good = do_step(i, from, length);
    *reached = time_of(i);
    CALL(good);
}
