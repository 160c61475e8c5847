package io.turbidite.feeds.source.parcel;

import io.turbidite.feeds.source.Rejection;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;

/**
 * A {@link Parcel} that was handed in, until it has its {@link Receipt}. <em>Thread-safe</em>; what
 * is counted is guarded by the lock of its source.
 */
public final class Ticket {
    private final Parcel parcel;
    private final @Nullable ParcelSource source;
    private final @Nullable Runnable whenSettled;
    private volatile @Nullable Receipt receipt;

    // guarded by the source

    /** The number of the first record; 0 before it is read. */
    private long first;

    /** Records from this number on are taken by this parcel, those before it were before. */
    private long newFrom;

    /** The number of the last record; -1 before all is read. */
    private long last = -1;

    private long rejectedCount;
    private long droppedCount;
    private final List<Rejection> reasons = new ArrayList<>();

    /**
     * @param whenSettled is run once there is a receipt, without the source's lock
     */
    Ticket(Parcel parcel, ParcelSource source, @Nullable Runnable whenSettled) {
        this.parcel = parcel;
        this.source = source;
        this.whenSettled = whenSettled;
    }

    private Ticket(Parcel parcel, Receipt receipt) {
        this.parcel = parcel;
        this.source = null;
        this.whenSettled = null;
        this.receipt = receipt;
    }

    /** One that nobody took. */
    public static Ticket refused(Parcel parcel, Receipt receipt) {
        return new Ticket(parcel, receipt);
    }

    /** Whether there is a receipt. Cheap. */
    public boolean isSettled() {
        return receipt != null;
    }

    /**
     * The receipt.
     *
     * @throws IllegalStateException if there is none yet
     */
    public Receipt receipt() {
        Receipt now = receipt;
        if (now == null) {
            throw new IllegalStateException("the parcel has no receipt yet");
        }
        return now;
    }

    /**
     * Waits no longer: a parcel that nobody has begun to read is taken back.
     *
     * @param why is said if there is no receipt yet
     */
    public Receipt giveUp(String why) {
        if (source != null) {
            source.giveUp(this, why);
        }
        return receipt();
    }

    /** What is to be run now that there is a receipt. */
    @Nullable
    Runnable whenSettled() {
        return whenSettled;
    }

    Parcel parcel() {
        return parcel;
    }

    void settle(Receipt as) {
        if (receipt == null) {
            receipt = as;
        }
    }

    /** Reading begins, of records of which those up to {@code position} were taken. */
    void begin(long firstNumber, long position) {
        first = firstNumber;
        newFrom = Math.max(firstNumber, position + 1);
    }

    boolean isBegun() {
        return first > 0;
    }

    void readTo(long lastNumber) {
        last = lastNumber;
    }

    /** Whether it is read and durable to its end, if all up to {@code durableTo} is. */
    boolean isDurable(long durableTo) {
        return last >= 0 && last <= durableTo;
    }

    /** Whether it is this parcel by which that record is taken. */
    boolean takes(long number) {
        return isBegun() && number >= newFrom && (last < 0 || number <= last);
    }

    void reject(Rejection rejection) {
        rejectedCount++;
        int at = reasons.size();
        while (at > 0 && reasons.get(at - 1).line() > rejection.line()) {
            at--;
        }
        if (at < Receipt.REASONS_MAX) {
            reasons.add(at, rejection);
        }
        if (reasons.size() > Receipt.REASONS_MAX) {
            reasons.removeLast();
        }
    }

    void drop() {
        droppedCount++;
    }

    Receipt taken(long durableTo) {
        long newCount = Math.max(0, last - newFrom + 1);
        return new Receipt.Taken(
                newCount - rejectedCount - droppedCount,
                rejectedCount,
                droppedCount,
                last - first + 1 - newCount,
                parcel.producer() == null ? 0 : durableTo,
                reasons);
    }

    Receipt cut(long durableTo, String why) {
        long end = last < 0 ? durableTo : Math.min(last, durableTo);
        return new Receipt.Cut(isBegun() ? Math.max(0, end - first + 1) : 0, why);
    }
}
