package io.turbidite.hashlog;

import io.turbidite.core.ClosedException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Undo;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.hashlog.chain.KeyPointer;
import io.turbidite.hashlog.chain.Property;
import io.turbidite.hashlog.log.HybridLog;
import io.turbidite.hashlog.log.LogReader;
import io.turbidite.hashlog.log.LogScan;
import io.turbidite.hashlog.log.RecordHeader;
import io.turbidite.hashlog.scan.RangeScan;
import io.turbidite.hashlog.scan.ScanPart;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * The matching records of a log as they come, oldest first: FISH19 §5.3 mentions such subscriptions
 * and leaves them to others.
 *
 * <em>Confined to one thread at a time.</em> The consumer asks ({@link #poll}), so it sets the
 * pace. What it has not asked for stays in the log, and a slow consumer reads it from disk. It
 * stalls nobody: a poll copies records, a batch of {@link #BATCH_BYTES} at a time, and hands them
 * over when nothing is protected any more. If retention is quicker, the subscription goes on where
 * the log begins, and {@link #skippedBytes} tells.
 *
 * <p>A consumer has to keep only the {@link #position}: a subscription from there hands over
 * exactly the records that this one has not. If the wanted PSF is indexed, a record's key pointers
 * say whether it matches, and nothing is parsed.
 */
public final class LogSubscription implements AutoCloseable {
    /** Records are collected until they have so many bytes, or one record more. */
    static final int BATCH_BYTES = 256 << 10;

    /** The most log bytes that one poll looks at, whether they match or not. */
    static final long POLL_BYTES = 8 << 20;

    private final HashLog owner;
    private final HybridLog log;
    private final LogQuery query;
    private final boolean durableOnly;
    private final LogReader reader;
    private final Callers.Caller caller;
    private final LogScan scan;
    private final ByteSink batch = new ByteSink(4_096, Integer.MAX_VALUE - 8);

    /** Of each record in the batch: address, where the next one starts, offset and length. */
    private long[] places = new long[4 * 16];

    private int collected;
    private int delivered;
    private long position;
    private long scanned;

    /**
     * Whether a record starts at {@link #scanned}; an address from the caller may be within a
     * record.
     */
    private boolean aligned;

    private long skippedBytes;
    private volatile boolean closed;

    LogSubscription(HashLog owner, Callers.Caller caller, LogQuery query, boolean durableOnly) {
        if (query.to() != Long.MAX_VALUE
                || query.limit() != Long.MAX_VALUE
                || query.arrivedFromMicros() != Long.MIN_VALUE
                || query.arrivedToMicros() != Long.MAX_VALUE) {
            throw new InvalidRequestException(
                    "a subscription has no end, no limit and no time: give a property, an expression and the position to start from");
        }
        this.owner = owner;
        this.log = owner.log();
        this.query = query;
        this.durableOnly = durableOnly;
        this.position = Math.max(query.from(), log.shape().firstAddress());
        this.scanned = position;
        this.caller = caller;
        this.reader = owner.reader("subscription");
        this.scan = new LogScan(reader);
        try (Undo undo = Undo.of(reader::close)) {
            QueryPlan.of(query.between(0, 0), owner, reader); // refuses what can't be asked
            undo.keep();
        }
    }

    /**
     * Hands over the matching records that are there.
     *
     * @param sink takes them, with nothing held; if it throws, the next poll hands the record over
     *     again
     * @param countMax at most so many
     * @return how many there were. 0: there are none now, or none among the next {@link
     *     #POLL_BYTES}; {@link #await} tells one from the other
     * @throws io.turbidite.core.CorruptionException if the disk has other bytes than were written
     */
    public int poll(RecordSink sink, int countMax) {
        requireOpen();
        caller.enter();
        try {
            return handOver(sink, countMax);
        } finally {
            caller.exit();
        }
    }

    private void requireOpen() {
        if (closed) {
            throw new ClosedException("the subscription");
        }
        caller.checkOpen();
    }

    private int handOver(RecordSink sink, int countMax) {
        if (delivered == collected) {
            collect();
        }
        int count = 0;
        while (delivered < collected && count < countMax && !isOver()) {
            int at = 4 * delivered;
            sink.accept(places[at], batch.segment(), places[at + 2], (int) places[at + 3]);
            position = places[at + 1];
            delivered++;
            count++;
        }
        if (delivered == collected) {
            position = scanned;
        }
        return count;
    }

    /**
     * Whether the sink, or another thread meanwhile, has closed this or the log: then nothing more
     * is handed over.
     */
    private boolean isOver() {
        return closed || caller.isLogClosed();
    }

    /**
     * Blocks until there is something to poll, or for {@code micros}.
     *
     * @return whether there is something
     */
    public boolean await(long micros) {
        requireOpen();
        long start = log.site().clock().monotonicNanos();
        long nanos = micros > Long.MAX_VALUE / 1_000 ? Long.MAX_VALUE : micros * 1_000;
        log.site()
                .tasks()
                .await(() -> hasMore()
                        || isOver()
                        || log.site().clock().monotonicNanos() - start >= nanos);
        requireOpen();
        return hasMore();
    }

    private boolean hasMore() {
        return delivered < collected || bound() > scanned;
    }

    /**
     * This subscription has handed over every matching record below this address; a later
     * subscription starts here.
     */
    public long position() {
        return position;
    }

    /**
     * Log bytes that were dropped before this subscription reached them; their matching records are
     * lost.
     */
    public long skippedBytes() {
        return skippedBytes;
    }

    /** Log bytes that this subscription has not looked at yet. */
    public long backlogBytes() {
        return Math.max(0, bound() - position);
    }

    private long bound() {
        return durableOnly ? log.durable() : log.safeTail();
    }

    // ---- collecting -----------------------------------------------------------------------------

    private void collect() {
        batch.clear();
        collected = 0;
        delivered = 0;
        reader.protect();
        try {
            long begin = log.begin();
            if (scanned < begin) {
                skippedBytes += begin - scanned;
                scanned = begin;
                aligned = true;
            }
            if (!aligned && bound() > scanned) {
                LogQuery asked = query.between(scanned, Long.MAX_VALUE);
                scanned = QueryPlan.aligned(asked, reader).from();
                aligned = true;
            }
            long end = Math.min(bound(), scanned + POLL_BYTES);
            if (end > scanned) {
                collect(QueryPlan.of(query.between(scanned, end), owner, reader));
            }
        } catch (InvalidRequestException gone) {
            if (gone instanceof ClosedException || log.begin() <= scanned) {
                throw gone; // else truncated under us: the next poll begins where the log does
            }
        } finally {
            reader.unprotect();
        }
    }

    private void collect(QueryPlan plan) {
        RangeScan.Tests tests = plan.newTests();
        for (ScanPart part : plan.parts().reversed()) {
            // records that a run covers have no key pointer to tell by
            Property property = part.isIndexed() && part.run() == null
                    ? Property.of(part.psfId(), plan.value())
                    : null;
            scan.start(part.from(), part.to());
            while (scan.next()) {
                if (isWanted(tests, property)) {
                    add();
                }
                scanned = scan.position();
                if (batch.length() >= BATCH_BYTES) {
                    return;
                }
            }
            scanned = Math.max(scanned, part.to());
        }
    }

    private boolean isWanted(RangeScan.Tests tests, @Nullable Property property) {
        long header = scan.header();
        if (RecordHeader.kind(header) != RecordHeader.RECORD
                || log.deleted().contains(scan.address())) {
            return false;
        }
        long payload = scan.offset() + RecordHeader.payloadOffset(header);
        int length = RecordHeader.payloadBytes(header);
        if (property == null) {
            return tests.scanned().matches(scan.segment(), payload, length);
        }
        return has(property, header) && tests.residual().matches(scan.segment(), payload, length);
    }

    private boolean has(Property property, long header) {
        MemorySegment segment = scan.segment();
        long record = scan.offset();
        long pointer = record + RecordHeader.BYTES;
        for (int i = 0; i < RecordHeader.keyPointerCount(header); i++) {
            long link = KeyPointer.loadLink(segment, pointer);
            if (!KeyPointer.isOf(link, header)) {
                throw reader.damaged(scan.address(), "key pointer", link);
            }
            if (property.matches(link, header, reader, scan.address())) {
                return true;
            }
            pointer += KeyPointer.LINK_BYTES;
        }
        return false;
    }

    private void add() {
        if (4 * collected == places.length) {
            places = Arrays.copyOf(places, 2 * places.length);
        }
        long header = scan.header();
        int length = RecordHeader.payloadBytes(header);
        int offset = batch.reserve(length);
        long payload = scan.offset() + RecordHeader.payloadOffset(header);
        MemorySegment.copy(scan.segment(), payload, batch.segment(), offset, length);
        int at = 4 * collected;
        places[at] = scan.address();
        places[at + 1] = scan.position();
        places[at + 2] = offset;
        places[at + 3] = length;
        collected++;
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            reader.close();
            caller.close();
            log.site().tasks().signal();
        }
    }
}
