package io.turbidite.ops.frame;

import org.jspecify.annotations.Nullable;

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
    private static final VarHandle WORK;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            ROWS = lookup.findVarHandle(OperatorMeter.class, "rows", long.class);
            WORK = lookup.findVarHandle(OperatorMeter.class, "work", OperatorWork.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private volatile long rows;

    /** Null until anything but rows is counted: most operators hold no memory. */
    private volatile @Nullable OperatorWork work;

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

    /** What it took beside rows, to be counted. */
    public OperatorWork work() {
        OperatorWork known = work;
        if (known != null) {
            return known;
        }
        OperatorWork made = new OperatorWork();
        return WORK.compareAndExchange(this, null, made) instanceof OperatorWork other
                ? other
                : made;
    }

    /** What it took so far; null: nothing that was counted. */
    public @Nullable OperatorWork workSoFar() {
        return work;
    }
}
