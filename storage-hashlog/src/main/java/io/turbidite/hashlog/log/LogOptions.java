package io.turbidite.hashlog.log;

import io.turbidite.core.InvalidRequestException;

/**
 * How a log behaves. <em>Immutable.</em>
 *
 * @param shape pages, ring and segments; fixed when a log on disk is created
 * @param sessionCountMax sessions that may be open at a time, readers included, 1 to 4,096. Raise
 *     it when that many threads ingest and read
 * @param flushMicros microseconds that records may wait before the newest page is made durable as
 *     far as it goes, at least 100. Lower it when less may be lost; raise it for fewer syncs
 * @param stallMicros a session that keeps pages from being recycled for so many microseconds is
 *     reported, at least 1,000. Raise it when slow readers are expected
 * @param waitMicrosMax how many microseconds a session waits for a free page before it gives the
 *     record back, at least 1,000. Lower it when the caller would rather drop a record than wait
 * @param retainBytesMax the oldest segments are dropped when the log is longer than so many bytes,
 *     at least 1. Set it when the disk must not fill
 * @param retainMicrosMax segments whose newest record arrived more microseconds ago are dropped, at
 *     least 1; how long ago that is goes by the smaller of two times: the wall clock's, and the
 *     newest that the log had noted when it was opened plus the time that it has run since. Set it
 *     when records may go by age
 * @param directIo write and read segments past the operating system's page cache, so that memory
 *     holds them once, in the ring; where the file system refuses, that is an event, and they are
 *     ordinary files. Set it when logs are long and the machine's memory is for others
 */
public record LogOptions(
        LogShape shape,
        int sessionCountMax,
        long flushMicros,
        long stallMicros,
        long waitMicrosMax,
        long retainBytesMax,
        long retainMicrosMax,
        boolean directIo) {

    public LogOptions {
        require(sessionCountMax >= 1 && sessionCountMax <= 4_096, "sessionCountMax", "1 to 4096");
        require(flushMicros >= 100, "flushMicros", "at least 100");
        require(stallMicros >= 1_000, "stallMicros", "at least 1000");
        require(waitMicrosMax >= 1_000, "waitMicrosMax", "at least 1000");
        require(retainBytesMax > 0, "retainBytesMax", "positive");
        require(retainMicrosMax > 0, "retainMicrosMax", "positive");
    }

    /**
     * 128 sessions, durable after 100 ms at the latest, stalls reported after a second, a page
     * waited for a minute, all is kept, ordinary files.
     */
    public static LogOptions defaults() {
        return of(LogShape.defaults());
    }

    /** Begins with the {@link #defaults defaults}. */
    public static Builder builder() {
        return defaults().toBuilder();
    }

    /** Begins with these options. */
    public Builder toBuilder() {
        return new Builder(this);
    }

    /** The defaults with another shape. */
    public static LogOptions of(LogShape shape) {
        return new LogOptions(
                shape, 128, 100_000, 1_000_000, 60_000_000, Long.MAX_VALUE, Long.MAX_VALUE, false);
    }

    /** With another shape. */
    public LogOptions withShape(LogShape other) {
        return toBuilder().shape(other).build();
    }

    /** With another time between two partial flushes. */
    public LogOptions withFlushMicros(long micros) {
        return toBuilder().flushMicros(micros).build();
    }

    /**
     * Reports stalls of {@code reportMicros}, and waits for a page for at most {@code maxMicros}.
     */
    public LogOptions withStalls(long reportMicros, long maxMicros) {
        return toBuilder().stallMicros(reportMicros).waitMicrosMax(maxMicros).build();
    }

    /** Keeps at most {@code bytesMax} and nothing that arrived more than {@code microsMax} ago. */
    public LogOptions withRetention(long bytesMax, long microsMax) {
        return toBuilder().retainBytesMax(bytesMax).retainMicrosMax(microsMax).build();
    }

    /** Writes and reads segments past the operating system's page cache. */
    public LogOptions withDirectIo(boolean direct) {
        return toBuilder().directIo(direct).build();
    }

    private static void require(boolean holds, String option, String rule) {
        if (!holds) {
            throw new InvalidRequestException("log option %s must be %s".formatted(option, rule));
        }
    }

    /**
     * Options under change; they are checked together when they are built. <em>Confined to one
     * thread.</em>
     */
    public static final class Builder {
        private LogShape shape;
        private int sessionCountMax;
        private long flushMicros;
        private long stallMicros;
        private long waitMicrosMax;
        private long retainBytesMax;
        private long retainMicrosMax;
        private boolean directIo;

        private Builder(LogOptions from) {
            this.shape = from.shape;
            this.sessionCountMax = from.sessionCountMax;
            this.flushMicros = from.flushMicros;
            this.stallMicros = from.stallMicros;
            this.waitMicrosMax = from.waitMicrosMax;
            this.retainBytesMax = from.retainBytesMax;
            this.retainMicrosMax = from.retainMicrosMax;
            this.directIo = from.directIo;
        }

        /** Sets the option {@link LogOptions#shape}. */
        public Builder shape(LogShape value) {
            shape = value;
            return this;
        }

        /** Sets the option {@link LogOptions#sessionCountMax}. */
        public Builder sessionCountMax(int value) {
            sessionCountMax = value;
            return this;
        }

        /** Sets the option {@link LogOptions#flushMicros}. */
        public Builder flushMicros(long value) {
            flushMicros = value;
            return this;
        }

        /** Sets the option {@link LogOptions#stallMicros}. */
        public Builder stallMicros(long value) {
            stallMicros = value;
            return this;
        }

        /** Sets the option {@link LogOptions#waitMicrosMax}. */
        public Builder waitMicrosMax(long value) {
            waitMicrosMax = value;
            return this;
        }

        /** Sets the option {@link LogOptions#retainBytesMax}. */
        public Builder retainBytesMax(long value) {
            retainBytesMax = value;
            return this;
        }

        /** Sets the option {@link LogOptions#retainMicrosMax}. */
        public Builder retainMicrosMax(long value) {
            retainMicrosMax = value;
            return this;
        }

        /** Sets the option {@link LogOptions#directIo}. */
        public Builder directIo(boolean value) {
            directIo = value;
            return this;
        }

        /**
         * Checks the options together.
         *
         * @throws InvalidRequestException if one is out of its range, naming it
         */
        public LogOptions build() {
            return new LogOptions(
                    shape,
                    sessionCountMax,
                    flushMicros,
                    stallMicros,
                    waitMicrosMax,
                    retainBytesMax,
                    retainMicrosMax,
                    directIo);
        }
    }
}
