"""The design desk: a run made again with other parameters, with the linear model of its loop, as plain data for the page.

`Desk(run).describe()` is sent once:

    title       str       name of the mechanism
    span        [t0, t1]  start and end of the run [s]
    parameters  [{name, value, default, low, high}]   numbers; a slider each, `low` < `high`
    inputs      [{name, unit}]   disturbances of the loop: "tau.lift", a force on one freedom of a joint
    outputs     [{name, unit}]   entries of logged signals: "q.lift", "v.lift", "pd.error.0"
    input, output   str   the pair that is shown when none is asked for
    linear      str or null   why there is no linear model; null when there is one (else inputs, outputs are empty)

`desk.design(values, vary=None, at=None, input=None, output=None)` answers a change of sliders:

    values      {name: number}   of all parameters
    failure     str or null      why the run could not go on
    run         recording of `articulus.studio.recording`, for the player; null when there is no sample
    loop        null, or
        failure   str or null   why there is no linear model; the rest is then missing
        t         number        time of the state that it is about [s]
        period    number or null   of the discrete model of a loop with sampled components [s]
        poles     [{re, im, omega, zeta}]   [rad/s; rad/s; rad/s; -], by rising omega; zeta null at the origin;
                                            poles at -infinity (values that are only passed on) are left out
        states    int           number of states, poles at -infinity included
        response  {input, output, unit, omega, magnitude, phase}
                                lists of equal length: [rad/s], output over input [unit], [deg], unwrapped;
                                magnitude and phase are null where they are not finite (a pole on the axis)
    family      null when `vary` is null or the run failed, or
        name      str           the parameter that goes over its range
        failure   str or null   why it could not be run; lines is then empty
        labels, units   [str]   of the entries of q
        lines     [{value, failure, t, q, poles}]   eight of them, by rising value
                                t, q: packed tables (`packing.pack`, unpack.js), (time, 1) and (time, nq), to the end of this run;
                                poles: as above

All numbers are finite. Angles are in rad but for the phase.
"""
