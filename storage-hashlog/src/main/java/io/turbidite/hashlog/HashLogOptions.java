package io.turbidite.hashlog;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.hashlog.log.LogOptions;
import io.turbidite.hashlog.parse.ParserSpec;

/**
 * Budgets and shape of a hash log. <em>Immutable.</em>
 *
 * @param log pages, ring, segments, flushing, retention
 * @param tableBits the hash table starts with 2^{@code tableBits} buckets of 64 bytes and may grow 256-fold
 * @param tableBytesMax what the table may take of the memory budget, at any moment
 * @param parser reads the records when there are PSFs
 */
public record HashLogOptions(LogOptions log, int tableBits, long tableBytesMax, ParserSpec parser) {

    public HashLogOptions {
        if (tableBits < 6 || tableBits > 26 || tableBytesMax <= 0) {
            throw new InvalidRequestException(
                    "tableBits %d must be 6 to 26 and tableBytesMax %d positive"
                            .formatted(tableBits, tableBytesMax));
        }
    }

    /** JSON; 256 MiB of memory for pages, a table of 6 MiB that may grow to 1 GiB. */
    public static HashLogOptions defaults() {
        return new HashLogOptions(LogOptions.defaults(), 16, 1L << 30, new ParserSpec.Json());
    }

    public HashLogOptions withLog(LogOptions options) {
        return new HashLogOptions(options, tableBits, tableBytesMax, parser);
    }

    public HashLogOptions withTable(int bits, long bytesMax) {
        return new HashLogOptions(log, bits, bytesMax, parser);
    }

    public HashLogOptions withParser(ParserSpec spec) {
        return new HashLogOptions(log, tableBits, tableBytesMax, spec);
    }
}
