package io.turbidite.hashlog.scan;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.hashlog.log.LogReader;
import io.turbidite.hashlog.log.LogScan;
import io.turbidite.hashlog.log.LogShape;
import io.turbidite.hashlog.log.RecordHeader;

import org.jspecify.annotations.Nullable;

import java.util.Arrays;

/**
 * The wanted records of a part that no chain covers, newest first.
 *
 * <p><em>Confined to one thread.</em> Records can only be stepped over upwards, so each page is
 * read whole, upwards, and its matches are kept as addresses and shown downwards; a page has at
 * most as many as its bytes divided by 16.
 */
final class PageScan {
    private final LogReader reader;
    private final LogShape shape;
    private final LogScan scan;
    private final RecordTest test;
    private long[] matches = new long[64];
    private int matchCount;
    private long from;
    private long top;

    /** What lies below was truncated when its page was read. */
    private long begin;

    private long address;
    private long header;
    private long scannedCount;

    PageScan(LogReader reader, RecordTest test) {
        this.reader = reader;
        this.shape = reader.log().shape();
        this.scan = new LogScan(reader);
        this.test = test;
    }

    /** Starts over with the part; null: with nothing. */
    void start(@Nullable ScanPart part) {
        from = part == null ? 0 : part.from();
        top = part == null ? 0 : part.to();
        matchCount = 0;
    }

    boolean next() {
        while (matchCount == 0) {
            if (top <= from) {
                return false;
            }
            if (top <= begin) {
                throw reader.gone(top - 1);
            }
            long page = shape.pageOf(top - 1);
            collectWhatIsLeft(Math.max(from, shape.firstRecordOf(page)));
            top = Math.max(begin, Math.min(top, shape.startOf(page)));
        }
        address = matches[--matchCount];
        header = reader.seekRecord(address);
        return true;
    }

    /**
     * Collects from {@code low} or, if a truncation within the page is quicker, from where the log
     * begins now.
     */
    private void collectWhatIsLeft(long low) {
        for (long at = low; at < top; ) {
            try {
                collect(at, top);
                return;
            } catch (InvalidRequestException gone) {
                begin = reader.log().begin();
                if (begin <= at) {
                    throw gone;
                }
                at = begin;
                matchCount = 0;
            }
        }
    }

    private void collect(long low, long high) {
        if (low >= high) {
            return;
        }
        reader.refresh();
        if (!reader.isInMemory(low)) {
            reader.prefetch(low, high);
        }
        scan.start(low, high);
        while (scan.next()) {
            long word = scan.header();
            if (RecordHeader.kind(word) == RecordHeader.RECORD
                    && !reader.log().deleted().contains(scan.address())) {
                scannedCount++;
                long payload = scan.offset() + RecordHeader.payloadOffset(word);
                if (test.matches(scan.segment(), payload, RecordHeader.payloadBytes(word))) {
                    if (matchCount == matches.length) {
                        matches = Arrays.copyOf(matches, 2 * matchCount);
                    }
                    matches[matchCount++] = scan.address();
                }
            }
        }
    }

    long address() {
        return address;
    }

    long header() {
        return header;
    }

    /** Records looked at. */
    long scannedCount() {
        return scannedCount;
    }
}
