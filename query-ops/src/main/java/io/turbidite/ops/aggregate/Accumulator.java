package io.turbidite.ops.aggregate;

import io.turbidite.core.bytes.Slice;

/**
 * One aggregate over the states of groups. It knows where its part of them lies; all zeros there
 * are the state of no value. <em>Confined to one thread</em>: it may have scratch space.
 */
sealed interface Accumulator
        permits Accumulators.Count,
                Accumulators.LongSum,
                Accumulators.DoubleSum,
                Accumulators.NumberExtreme,
                Accumulators.DoubleExtreme,
                Accumulators.Moments,
                VariableAccumulator {
    /** Partial: takes a row, whose arguments are as {@link ArgumentFormat} says. */
    void add(Slice states, Slice arguments);

    /** Final: takes all that another state of the same group was given. */
    void merge(Slice states, Slice others);

    /** The result. */
    void finish(Slice states, AggregateValue result);
}
