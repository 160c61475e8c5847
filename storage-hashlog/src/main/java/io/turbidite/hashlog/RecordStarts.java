package io.turbidite.hashlog;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.hashlog.log.HybridLog;
import io.turbidite.hashlog.log.LogReader;
import io.turbidite.hashlog.log.LogScan;
import io.turbidite.hashlog.log.RecordHeader;

/**
 * Tells whether an address is one where a record starts: by stepping through its page.
 * <em>Stateless.</em>
 */
final class RecordStarts {
    private RecordStarts() {}

    /** Requires that a record of a user starts at {@code address}. */
    static void require(long address, LogReader reader) {
        HybridLog log = reader.log();
        boolean found = false;
        if (address >= log.begin() && address < log.safeTail()) {
            LogScan scan = new LogScan(reader);
            long page = log.shape().pageOf(address);
            scan.start(Math.max(log.begin(), log.shape().startOf(page)), address + 1);
            while (!found && scan.next()) {
                found = scan.address() == address
                        && RecordHeader.kind(scan.header()) == RecordHeader.RECORD;
            }
        }
        if (!found) {
            throw new InvalidRequestException(
                    "no record starts at address %d of log %s: take addresses from a query"
                            .formatted(address, log.site().name()));
        }
    }

    /** The start of the record that contains {@code address}, which is at most the safe tail. */
    static long before(long address, LogReader reader) {
        HybridLog log = reader.log();
        long page = log.shape().pageOf(address);
        long from = Math.max(log.begin(), log.shape().firstRecordOf(page));
        if (address <= from) {
            return Math.max(log.begin(), address == log.shape().startOf(page) ? from : address);
        }
        LogScan scan = new LogScan(reader);
        scan.start(from, address);
        long last = from;
        while (scan.next()) {
            last = scan.position() <= address ? scan.position() : scan.address();
        }
        return last;
    }
}
