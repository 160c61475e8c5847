package io.turbidite.ops.frame;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Rows that an operator handed on, all its partitions together. <em>Thread-safe</em> by atomic
 * additions to one number: few threads add, many rows at a time, and a query has a meter for each
 * operator that it might have. What {@link #addAlone} counts, one thread at a time counts alone.
 */
public final class OperatorMeter {
    /** Of operators that a query does not have: nobody counts with it. */
    public static final OperatorMeter NONE = new OperatorMeter();

    private static final VarHandle ROWS;

    static {
        try {
            ROWS = MethodHandles.lookup().findVarHandle(OperatorMeter.class, "rows", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private volatile long rows;

    /** Counts rows; called for many rows at once, not for each. */
    public void add(long rowCount) {
        assert this != NONE;
        if (rowCount != 0) {
            ROWS.getAndAdd(this, rowCount);
        }
    }

    /**
     * Counts one row of an operator that has no others of its plan beside it: a store, where an
     * atomic addition would cost each row a tenth of what a join does with it.
     */
    public void addAlone() {
        assert this != NONE;
        ROWS.setOpaque(this, rows + 1);
    }

    /** How many rows went through. */
    public long rows() {
        return rows;
    }
}
