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
 * @param tableBits the hash table starts with 2^{@code tableBits} buckets of 64 bytes, 6 to 26, and
 *     may grow 256-fold. Raise it when the number of different properties is known to be large:
 *     growing costs time
 * @param tableBytesMax the most that the table may take of the memory budget, at any moment, at
 *     least 1. Raise it when properties have very many values
 * @param parser reads the records if there are PSFs: JSON or CSV. Change it when the records are
 *     CSV; it stays for the log's life
 * @param functions the user's functions that PSFs may name. Set it when PSFs need code
 * @param checkpointBytes log bytes between two automatic index checkpoints, at least 1. Recovery
 *     replays about so much at most, and more if the table is large. {@link Long#MAX_VALUE}: no
 *     automatic checkpoints. Lower it when an opening takes too long; raise it when checkpoints
 *     disturb
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

    /** Begins with the {@link #defaults defaults}. */
    public static Builder builder() {
        return defaults().toBuilder();
    }

    /** Begins with these options. */
    public Builder toBuilder() {
        return new Builder(this);
    }

    /** The same with another {@link #log}. */
    public HashLogOptions withLog(LogOptions options) {
        return toBuilder().log(options).build();
    }

    /** The same with another {@link #tableBits} and {@link #tableBytesMax}. */
    public HashLogOptions withTable(int bits, long bytesMax) {
        return toBuilder().tableBits(bits).tableBytesMax(bytesMax).build();
    }

    /** The same with another {@link #parser}. */
    public HashLogOptions withParser(ParserSpec spec) {
        return toBuilder().parser(spec).build();
    }

    /** The same with another {@link #functions}. */
    public HashLogOptions withFunctions(PsfFunctions known) {
        return toBuilder().functions(known).build();
    }

    /** The same with another {@link #checkpointBytes}. */
    public HashLogOptions withCheckpoints(long bytes) {
        return toBuilder().checkpointBytes(bytes).build();
    }

    /**
     * Options under change; they are checked together when they are built. <em>Confined to one
     * thread.</em>
     */
    public static final class Builder {
        private LogOptions log;
        private int tableBits;
        private long tableBytesMax;
        private ParserSpec parser;
        private PsfFunctions functions;
        private long checkpointBytes;

        private Builder(HashLogOptions from) {
            this.log = from.log;
            this.tableBits = from.tableBits;
            this.tableBytesMax = from.tableBytesMax;
            this.parser = from.parser;
            this.functions = from.functions;
            this.checkpointBytes = from.checkpointBytes;
        }

        /** Sets the option {@link HashLogOptions#log}. */
        public Builder log(LogOptions value) {
            log = value;
            return this;
        }

        /** Sets the option {@link HashLogOptions#tableBits}. */
        public Builder tableBits(int value) {
            tableBits = value;
            return this;
        }

        /** Sets the option {@link HashLogOptions#tableBytesMax}. */
        public Builder tableBytesMax(long value) {
            tableBytesMax = value;
            return this;
        }

        /** Sets the option {@link HashLogOptions#parser}. */
        public Builder parser(ParserSpec value) {
            parser = value;
            return this;
        }

        /** Sets the option {@link HashLogOptions#functions}. */
        public Builder functions(PsfFunctions value) {
            functions = value;
            return this;
        }

        /** Sets the option {@link HashLogOptions#checkpointBytes}. */
        public Builder checkpointBytes(long value) {
            checkpointBytes = value;
            return this;
        }

        /**
         * Checks the options together.
         *
         * @throws InvalidRequestException if one is out of its range, naming it
         */
        public HashLogOptions build() {
            return new HashLogOptions(
                    log, tableBits, tableBytesMax, parser, functions, checkpointBytes);
        }
    }
}
