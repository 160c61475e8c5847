package io.turbidite.core.sim;

import java.util.EnumSet;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Predicate;

/**
 * Says which operations of a {@link SimDisk} fail, and how:
 *
 * <pre>{@code
 * disk.fault(FaultScript.with(Fault.EIO).on(OperationKind.SYNC).call(3));             // the third, once
 * disk.fault(FaultScript.with(Fault.ENOSPC).on(OperationKind.WRITE).call(1).forever());
 * disk.fault(FaultScript.with(Fault.EIO).named(n -> n.endsWith(".log")).rate(0.05, seed));
 * }</pre>
 *
 * <p><em>Confined to its disk</em> once handed to it; it counts the calls that match from then on.
 */
public final class FaultScript {
    private final Fault fault;
    private Set<OperationKind> kinds = EnumSet.allOf(OperationKind.class);
    private Predicate<String> names = name -> true;
    private long firstCall = 1;
    private boolean forever;
    private double rate;
    private SplittableRandom random = new SplittableRandom(0);
    private long matchCount;
    private long hitCount;

    private FaultScript(Fault fault) {
        this.fault = fault;
    }

    /** A script that fails the first operation of any kind, once, unless told otherwise. */
    public static FaultScript with(Fault fault) {
        return new FaultScript(fault);
    }

    /** Only operations of these kinds match. */
    public FaultScript on(OperationKind first, OperationKind... rest) {
        kinds = EnumSet.of(first, rest);
        return this;
    }

    /** Only operations on files of these names match; a rename matches by its new name. */
    public FaultScript named(Predicate<String> matching) {
        names = matching;
        return this;
    }

    /** The {@code n}-th matching call fails, counted from 1. */
    public FaultScript call(long n) {
        firstCall = n;
        return this;
    }

    /** Every matching call from the first that fails on fails too. */
    public FaultScript forever() {
        forever = true;
        return this;
    }

    /** Each matching call fails with this probability instead of by number. */
    public FaultScript rate(double probability, long seed) {
        rate = probability;
        random = new SplittableRandom(seed);
        return this;
    }

    /** How many operations were made to fail. */
    public long hitCount() {
        return hitCount;
    }

    /** How many operations matched kind and name, failed or not. */
    public long matchCount() {
        return matchCount;
    }

    Fault fault() {
        return fault;
    }

    boolean hits(OperationKind kind, String name) {
        if (!kinds.contains(kind) || !names.test(name)) {
            return false;
        }
        matchCount++;
        boolean hit = rate > 0
                ? random.nextDouble() < rate
                : matchCount == firstCall || (forever && matchCount > firstCall);
        if (hit) {
            hitCount++;
        }
        return hit;
    }

    @Override
    public String toString() {
        return "%s on %s, call %d%s, %d of %d hit"
                .formatted(
                        fault, kinds, firstCall, forever ? " and after" : "", hitCount, matchCount);
    }
}
