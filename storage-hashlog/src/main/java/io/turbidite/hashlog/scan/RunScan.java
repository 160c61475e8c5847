package io.turbidite.hashlog.scan;

import io.turbidite.hashlog.chain.ReadAhead;
import io.turbidite.hashlog.history.RunCursor;
import io.turbidite.hashlog.log.LogReader;
import io.turbidite.hashlog.log.RecordHeader;

/**
 * The wanted records of a part that a sorted run covers, newest first.
 *
 * <p><em>Confined to one thread.</em> A run knows hashes only, and these records have no key pointer that could
 * tell: so each is tested as a full scan would.
 */
final class RunScan implements AutoCloseable {
    private final LogReader reader;
    private final RunCursor addresses;
    private final RecordTest test;
    private final ReadAhead readAhead;
    private long header;
    private long hopCount;

    RunScan(LogReader reader, RunCursor addresses, RecordTest test, ReadAhead readAhead) {
        this.reader = reader;
        this.addresses = addresses;
        this.test = test;
        this.readAhead = readAhead;
    }

    boolean next() {
        while (addresses.next()) {
            hopCount++;
            long at = addresses.address();
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
