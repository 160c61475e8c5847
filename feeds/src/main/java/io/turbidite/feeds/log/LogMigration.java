package io.turbidite.feeds.log;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.hashlog.HashLog;
import io.turbidite.hashlog.LogCursor;
import io.turbidite.hashlog.LogQuery;
import io.turbidite.hashlog.log.LogReader;
import io.turbidite.hashlog.log.RecordHeader;
import io.turbidite.hashlog.parse.ParserSpec;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.WriteBatch;

import java.util.Arrays;
import java.util.function.BooleanSupplier;

/**
 * Copies the JSON records that a query finds in a log into a dataset, oldest first, so that of two
 * records with one primary key the newer one stays. Running it again does no harm: it upserts.
 *
 * <p>A query finds the newest first; so addresses are collected first, 8 bytes a record, and
 * records are read in the order of the log. <em>Used once, by one thread.</em>
 */
public final class LogMigration {
    /** A batch is one atomic write. */
    private static final int BATCH_BYTES = 1 << 20;

    private static final int BATCH_RECORDS = 4_096;

    private final HashLog log;
    private final Store store;
    private final Dataset dataset;
    private final LogLoad.Problems problems;
    private final Slice json = new Slice();
    private long migrated;
    private long refused;

    /**
     * @param problems hears of records that are not of the dataset's type, with their addresses
     * @throws InvalidRequestException if the log's records are not JSON, or the dataset is another
     *     store's
     */
    public LogMigration(HashLog log, Store store, Dataset dataset, LogLoad.Problems problems) {
        store.requireOwn(dataset);
        if (!(log.parser() instanceof ParserSpec.Json)) {
            throw new InvalidRequestException(
                    "records of log %s are not JSON but %s: only JSON can be migrated"
                            .formatted(log.log().site().name(), log.parser().text()));
        }
        this.log = log;
        this.store = store;
        this.dataset = dataset;
        this.problems = problems;
    }

    /**
     * Copies until done or {@code stopped}; what was copied stays.
     *
     * @return whether all that the query finds was copied
     */
    public boolean run(LogQuery query, BooleanSupplier stopped) {
        long[] addresses = new long[1024];
        int count = 0;
        try (LogCursor cursor = log.find(query)) {
            while (cursor.next() && !stopped.getAsBoolean()) {
                if (count == addresses.length) {
                    addresses = Arrays.copyOf(addresses, 2 * count);
                }
                addresses[count++] = cursor.address();
            }
        }
        return copy(addresses, count, stopped);
    }

    private boolean copy(long[] newestFirst, int count, BooleanSupplier stopped) {
        RecordWriter writer = dataset.newRecordWriter();
        WriteBatch batch = store.newBatch();
        try (LogReader reader = log.openReader("migration")) {
            reader.protect();
            for (int i = count - 1; i >= 0 && !stopped.getAsBoolean(); i--) {
                put(reader, newestFirst[i], writer, batch);
                if (batch.byteCount() >= BATCH_BYTES || batch.size() == BATCH_RECORDS) {
                    reader.unprotect(); // a store that stalls must not stall the log
                    write(batch);
                    reader.protect();
                }
            }
        }
        write(batch);
        return !stopped.getAsBoolean();
    }

    private void put(LogReader reader, long address, RecordWriter writer, WriteBatch batch) {
        long word = reader.seekRecord(address);
        json.set(
                reader.segment(),
                reader.offset() + RecordHeader.payloadOffset(word),
                RecordHeader.payloadBytes(word));
        try {
            batch.upsert(dataset, writer.writeJson(json));
        } catch (InvalidRequestException e) {
            refused++;
            problems.refused(reader.log().site().name(), address, String.valueOf(e.getMessage()));
        }
    }

    private void write(WriteBatch batch) {
        if (batch.size() > 0) {
            store.write(batch);
            migrated += batch.size();
            batch.clear();
        }
    }

    /** Records that the dataset took. */
    public long migratedCount() {
        return migrated;
    }

    /** Records that are not of its type. */
    public long refusedCount() {
        return refused;
    }
}
