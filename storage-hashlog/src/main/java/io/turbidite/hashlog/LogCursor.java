package io.turbidite.hashlog;

import io.turbidite.core.ClosedException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.hashlog.log.LogReader;
import io.turbidite.hashlog.scan.RangeScan;
import io.turbidite.hashlog.scan.ScanPart;

import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * The result of a query, newest first: every record of the range that was visible at the start,
 * once, while ingestion goes on.
 *
 * <em>Confined to one thread.</em> Bytes are valid until the cursor moves. An open cursor holds
 * back the reuse of memory at the record it shows. So a cursor that stays open for long stalls
 * ingestion, and the log reports it.
 */
public final class LogCursor implements AutoCloseable {
    private final HashLog log;
    private final LogReader reader;
    private final Callers.Caller caller;
    private final QueryPlan plan;
    private final RangeScan scan;
    private long left;
    private long floor;
    private boolean truncated;
    private boolean closed;

    private LogCursor(
            HashLog log, LogReader reader, Callers.Caller caller, QueryPlan plan, long limit) {
        this.caller = caller;
        this.log = log;
        this.reader = reader;
        this.plan = plan;
        this.left = limit;
        this.floor = plan.parts().isEmpty() ? 0 : plan.parts().getLast().from();
        this.scan = new RangeScan(
                reader,
                plan.parts(),
                plan.newTests(),
                log.history().ways(log, reader, plan, History.ALL_CHAINS));
    }

    static LogCursor open(HashLog log, Callers.Caller caller, LogQuery query) {
        LogReader reader = log.reader("query");
        boolean opened = false;
        try {
            reader.protect();
            QueryPlan plan = QueryPlan.of(QueryPlan.aligned(query, reader), log, reader);
            LogCursor cursor = new LogCursor(log, reader, caller, plan, query.limit());
            opened = true;
            return cursor;
        } finally {
            if (!opened) {
                reader.close();
            }
        }
    }

    /**
     * Moves to the next record, an older one.
     *
     * @return false at the end; {@link #isTruncated} says whether this is the end of the range
     * @throws io.turbidite.core.CorruptionException if the disk has other bytes than were written
     */
    public boolean next() {
        requireOpen();
        caller.enter();
        try {
            return move();
        } finally {
            caller.exit();
        }
    }

    private void requireOpen() {
        if (closed) {
            throw new ClosedException("the cursor");
        }
        caller.checkOpen();
    }

    private boolean move() {
        if (left == 0 || truncated) {
            return false;
        }
        try {
            if (scan.next()) {
                left--;
                return true;
            }
        } catch (ClosedException e) {
            throw e;
        } catch (InvalidRequestException gone) {
            // the only request that can be refused here: to read what was truncated meanwhile
            if (log.log().begin() <= floor) {
                throw gone;
            }
            truncated = true;
            return false;
        }
        left = 0;
        return false;
    }

    /**
     * Whether older records of the range were dropped before the cursor reached them: by retention,
     * or on the null device by new records.
     */
    public boolean isTruncated() {
        return truncated;
    }

    /** The record's address. */
    public long address() {
        requireOpen();
        return scan.address();
    }

    /** The segment that holds the record's bytes. */
    public MemorySegment segment() {
        requireOpen();
        return scan.segment();
    }

    /** The offset in {@link #segment} where the bytes begin. */
    public long offset() {
        requireOpen();
        return scan.payloadOffset();
    }

    /** The number of the record's bytes. */
    public int length() {
        requireOpen();
        return scan.payloadBytes();
    }

    /**
     * Deletes the record that the cursor shows. Its bytes can't be read afterwards.
     *
     * @return false if it was deleted meanwhile
     */
    public boolean delete() {
        long address = address();
        caller.enter();
        try {
            reader.unprotect(); // the deletion may have to wait for a page
            try {
                return log.deleteRecord(address);
            } finally {
                reader.protect();
            }
        } finally {
            caller.exit();
        }
    }

    /** The parts of the range and how each is read, newest first; for explain. */
    public List<ScanPart> parts() {
        return plan.parts();
    }

    /** The number of records that full scans looked at so far. */
    public long scannedCount() {
        return scan.scannedCount();
    }

    /** The number of key pointers of chains and entries of runs looked at so far. */
    public long hopCount() {
        return scan.hopCount();
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            try {
                scan.close();
            } finally {
                reader.close();
                caller.close();
            }
        }
    }
}
