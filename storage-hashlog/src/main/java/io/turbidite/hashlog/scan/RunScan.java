package io.turbidite.hashlog.scan;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.StorageException;
import io.turbidite.core.StorageIoException;
import io.turbidite.hashlog.chain.ReadAhead;
import io.turbidite.hashlog.history.RunCursor;
import io.turbidite.hashlog.log.LogReader;
import io.turbidite.hashlog.log.RecordHeader;

import org.jspecify.annotations.Nullable;

/**
 * The wanted records of a part that a sorted run covers, newest first.
 *
 * <p><em>Confined to one thread.</em> A run knows hashes only, and these records have no key
 * pointer that could tell: so each is tested as a full scan would.
 */
final class RunScan implements AutoCloseable {
    private final LogReader reader;
    private final RunCursor addresses;
    private final RecordTest test;
    private final ReadAhead readAhead;
    private long header;
    private long hopCount;

    /** All entries at this address and above were looked at. */
    private long lookedFrom;

    private @Nullable StorageException damage;

    /**
     * @param to where its part ends
     */
    RunScan(LogReader reader, RunCursor addresses, RecordTest test, ReadAhead readAhead, long to) {
        this.reader = reader;
        this.lookedFrom = to;
        this.addresses = addresses;
        this.test = test;
        this.readAhead = readAhead;
    }

    /** False at the end, and where the run can't be read: {@link #damage} tells. */
    boolean next() {
        while (advance()) {
            hopCount++;
            long at = addresses.address();
            lookedFrom = at;
            if (!reader.log().deleted().contains(at)) {
                readAhead.before(reader, at);
                header = reader.seekRecord(at);
                readAhead.visited((int) RecordHeader.recordBytes(header));
                long payload = reader.offset() + RecordHeader.payloadOffset(header);
                if (test.matches(reader.segment(), payload, RecordHeader.payloadBytes(header))) {
                    return true;
                }
            }
        }
        return false;
    }

    /** What the file of the run has is no more than work saved: the log says the same. */
    private boolean advance() {
        try {
            return addresses.next();
        } catch (CorruptionException | StorageIoException e) {
            damage = e;
            return false;
        }
    }

    /** Why the run can't be read further; null if it can. */
    @Nullable
    StorageException damage() {
        return damage;
    }

    /** Everything of the run at this address and above was looked at. */
    long lookedFrom() {
        return lookedFrom;
    }

    long address() {
        return addresses.address();
    }

    long header() {
        return header;
    }

    /** Entries of the run looked at. */
    long hopCount() {
        return hopCount;
    }

    @Override
    public void close() {
        addresses.close();
    }
}
