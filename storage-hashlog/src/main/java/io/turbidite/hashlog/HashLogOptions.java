package io.turbidite.hashlog;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.hashlog.log.LogOptions;
import io.turbidite.hashlog.parse.ParserSpec;
import io.turbidite.hashlog.psf.PsfFunctions;

/**
 * Budgets and shape of a hash log. <em>Immutable.</em>
 *
 * <p>Creation fixes some of them, and an opening takes these from the log: the sizes of pages and
 * segments, the parser, and the table's bits.
 *
 * @param log pages, ring, segments, flushing, retention
 * @param tableBits the hash table starts with 2^{@code tableBits} buckets of 64 bytes and may grow
 *     256-fold
 * @param tableBytesMax the most that the table may take of the memory budget, at any moment
 * @param parser reads the records if there are PSFs
 * @param functions the user's functions that PSFs may name
 * @param checkpointBytes log bytes between two automatic index checkpoints. Recovery replays about
 *     so much at most, and more if the table is large. {@link Long#MAX_VALUE}: no automatic
 *     checkpoints
 */
public record HashLogOptions(
        LogOptions log,
        int tableBits,
        long tableBytesMax,
        ParserSpec parser,
        PsfFunctions functions,
        long checkpointBytes) {

    public HashLogOptions {
        if (tableBits < 6 || tableBits > 26 || tableBytesMax <= 0 || checkpointBytes <= 0) {
            throw new InvalidRequestException(
                    "tableBits %d must be 6 to 26, tableBytesMax %d and checkpointBytes %d positive"
                            .formatted(tableBits, tableBytesMax, checkpointBytes));
        }
    }

    /**
     * JSON; 256 MiB of memory for pages, a table of 6 MiB that may grow to 1 GiB, no functions, a
     * checkpoint every 256 MiB.
     */
    public static HashLogOptions defaults() {
        return new HashLogOptions(
                LogOptions.defaults(),
                16,
                1L << 30,
                new ParserSpec.Json(),
                PsfFunctions.NONE,
                256L << 20);
    }

    public HashLogOptions withLog(LogOptions options) {
        return new HashLogOptions(
                options, tableBits, tableBytesMax, parser, functions, checkpointBytes);
    }

    public HashLogOptions withTable(int bits, long bytesMax) {
        return new HashLogOptions(log, bits, bytesMax, parser, functions, checkpointBytes);
    }

    public HashLogOptions withParser(ParserSpec spec) {
        return new HashLogOptions(log, tableBits, tableBytesMax, spec, functions, checkpointBytes);
    }

    public HashLogOptions withFunctions(PsfFunctions known) {
        return new HashLogOptions(log, tableBits, tableBytesMax, parser, known, checkpointBytes);
    }

    public HashLogOptions withCheckpoints(long bytes) {
        return new HashLogOptions(log, tableBits, tableBytesMax, parser, functions, bytes);
    }
}
