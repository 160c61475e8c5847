package io.turbidite.lsm;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.index.IndexKind;
import io.turbidite.core.index.IndexKinds;
import io.turbidite.core.log.Durability;
import io.turbidite.core.log.LogOptions;
import io.turbidite.core.memory.QueryMemory;
import io.turbidite.lsm.engine.EngineOptions;
import io.turbidite.lsm.engine.EngineRuntime;
import io.turbidite.lsm.schedule.BackgroundOptions;

import org.jspecify.annotations.Nullable;

import java.util.List;

/**
 * Budgets and durability of a store. <em>Immutable.</em> A value out of range is refused with an
 * {@link InvalidRequestException} that names the option.
 *
 * @param writeMemoryBytes all memory components together, at least 1 MiB; flushing starts at half
 *     to three quarters of it, as late as writers leave time for it; they are slowed from there on
 *     and wait when it is full. Besides, while they run: a bulk load takes half as much, an index
 *     build a quarter, all merges together a quarter for invalidations of what they copy, and a
 *     repair of an index a sixteenth or two. Raise it when writers wait, or when components come
 *     out small and merges write much; lower it where memory is short
 * @param cacheBytes the buffer cache, which holds pages of components, at least 1 MiB; a
 *     record that is larger than all of it is read from the disk each time, into memory beside it:
 *     128 MiB for all that are read at once, so a scan of more components wants a larger cache.
 *     Raise it while memory is free and many pages are loaded for each that is found there ({@code
 *     cache.loads} beside {@code cache.hits})
 * @param queryMemoryBytes what all queries hold together of the rows that they sort, group and
 *     join, at least 8 MiB; 0: a quarter of the write memory, and 16 MiB at least. What does not
 *     fit is spilled. Raise it when queries spill much, or are refused with a {@link
 *     io.turbidite.core.QueryMemoryException}
 * @param logBytesMax from this log size on the store also flushes partitions that hold little but
 *     keep old log alive; at least a segment of the log. Lower it when an opening after a crash
 *     takes too long; raise it when small partitions are flushed too often
 * @param log durability mode, segments and ring of the write-ahead log
 * @param background how flushes and merges work, and when they slow writers down
 * @param directIo read and write components past the operating system's page cache, so that memory
 *     holds no page twice and the buffer cache alone decides what stays. Does not concern log and
 *     manifest. If the file system refuses direct I/O, files are buffered as without it, and {@link
 *     io.turbidite.core.meter.StoreEvent.DirectIoRefused} says so. Set it where the buffer cache
 *     gets most of the machine's memory
 * @param indexKinds kinds of index beside the store's own; a store that has an index of another
 *     kind is not opened. Set it when datasets have an index of kind {@code pm}
 * @param runtime what the store shares with others: its budgets count in place of {@code
 *     writeMemoryBytes}, {@code cacheBytes}, {@code queryMemoryBytes} and {@link
 *     BackgroundOptions#ioBytesPerSecond}. Null: the store has all of it to itself. Set it where
 *     one process has several stores
 */
public record StoreOptions(
        long writeMemoryBytes,
        long cacheBytes,
        long queryMemoryBytes,
        long logBytesMax,
        LogOptions log,
        BackgroundOptions background,
        boolean directIo,
        IndexKinds indexKinds,
        @Nullable StoreRuntime runtime) {
    private static final long MIB = 1 << 20;

    public StoreOptions {
        require(writeMemoryBytes >= MIB, "writeMemoryBytes", writeMemoryBytes, "at least 1 MiB");
        require(cacheBytes >= MIB, "cacheBytes", cacheBytes, "at least 1 MiB");
        require(
                queryMemoryBytes == 0 || queryMemoryBytes >= QueryMemory.BYTES_MIN,
                "queryMemoryBytes",
                queryMemoryBytes,
                "at least 8 MiB, or 0 for a quarter of the write memory");
        require(
                logBytesMax >= log.segmentBytes(),
                "logBytesMax",
                logBytesMax,
                "at least a segment");
    }

    /** Options of a store that shares nothing. */
    public StoreOptions(
            long writeMemoryBytes,
            long cacheBytes,
            long logBytesMax,
            LogOptions log,
            BackgroundOptions background,
            boolean directIo,
            IndexKinds indexKinds) {
        this(
                writeMemoryBytes,
                cacheBytes,
                0,
                logBytesMax,
                log,
                background,
                directIo,
                indexKinds,
                null);
    }

    /** 128 MiB to write in, 256 MiB of cache, up to 512 MiB of log. */
    public static StoreOptions defaults() {
        return new StoreOptions(
                128 * MIB,
                256 * MIB,
                0,
                512 * MIB,
                LogOptions.defaults(),
                BackgroundOptions.defaults(),
                false,
                IndexKinds.NONE,
                null);
    }

    /** Begins with the {@link #defaults defaults}. */
    public static Builder builder() {
        return defaults().toBuilder();
    }

    /** Begins with these options. */
    public Builder toBuilder() {
        return new Builder(this);
    }

    /** The same with another {@link #writeMemoryBytes}. */
    public StoreOptions withWriteMemoryBytes(long bytes) {
        return toBuilder().writeMemoryBytes(bytes).build();
    }

    /** The same with another {@link #cacheBytes}. */
    public StoreOptions withCacheBytes(long bytes) {
        return toBuilder().cacheBytes(bytes).build();
    }

    /** The same with another {@link #queryMemoryBytes}. */
    public StoreOptions withQueryMemoryBytes(long bytes) {
        return toBuilder().queryMemoryBytes(bytes).build();
    }

    /** The same with another {@link #logBytesMax} and {@link #log}. */
    public StoreOptions withLog(long bytesMax, LogOptions options) {
        return toBuilder().logBytesMax(bytesMax).log(options).build();
    }

    /** The same with another {@link #background}. */
    public StoreOptions withBackground(BackgroundOptions options) {
        return toBuilder().background(options).build();
    }

    /** The same with another {@link #directIo}. */
    public StoreOptions withDirectIo(boolean direct) {
        return toBuilder().directIo(direct).build();
    }

    /** Hands kinds of index to the store, in place of those given before. */
    public StoreOptions withIndexKinds(IndexKind... kinds) {
        return toBuilder().indexKinds(new IndexKinds(List.of(kinds))).build();
    }

    /** Has the store share what the runtime has; null: no more. */
    public StoreOptions withRuntime(@Nullable StoreRuntime shared) {
        return toBuilder().runtime(shared).build();
    }

    /** The same with another {@link LogOptions#durability}. */
    public StoreOptions withDurability(Durability durability) {
        return toBuilder().durability(durability).build();
    }

    /** The engine's form of these options. */
    EngineOptions forEngine() {
        EngineRuntime shared = runtime == null ? null : runtime.engine();
        EngineRuntime.Budgets budgets = shared == null
                ? new EngineRuntime.Budgets(
                        writeMemoryBytes,
                        cacheBytes,
                        queryMemoryBytes,
                        background.ioBytesPerSecond())
                : shared.budgets();
        return new EngineOptions(
                budgets.writeMemoryBytes(),
                budgets.cacheBytes(),
                budgets.queryMemoryBytes(),
                logBytesMax,
                log,
                background,
                directIo,
                indexKinds,
                shared);
    }

    private static void require(boolean holds, String name, long value, String rule) {
        if (!holds) {
            throw new InvalidRequestException(
                    "%s is %d but must be %s".formatted(name, value, rule));
        }
    }

    /**
     * Options under change; they are checked together when they are built. <em>Confined to one
     * thread.</em>
     */
    public static final class Builder {
        private long writeMemoryBytes;
        private long cacheBytes;
        private long queryMemoryBytes;
        private long logBytesMax;
        private LogOptions log;
        private BackgroundOptions background;
        private boolean directIo;
        private IndexKinds indexKinds;
        private @Nullable StoreRuntime runtime;

        private Builder(StoreOptions from) {
            this.writeMemoryBytes = from.writeMemoryBytes;
            this.cacheBytes = from.cacheBytes;
            this.queryMemoryBytes = from.queryMemoryBytes;
            this.logBytesMax = from.logBytesMax;
            this.log = from.log;
            this.background = from.background;
            this.directIo = from.directIo;
            this.indexKinds = from.indexKinds;
            this.runtime = from.runtime;
        }

        /** Sets the option {@link StoreOptions#writeMemoryBytes}. */
        public Builder writeMemoryBytes(long value) {
            writeMemoryBytes = value;
            return this;
        }

        /** Sets the option {@link StoreOptions#cacheBytes}. */
        public Builder cacheBytes(long value) {
            cacheBytes = value;
            return this;
        }

        /** Sets the option {@link StoreOptions#queryMemoryBytes}. */
        public Builder queryMemoryBytes(long value) {
            queryMemoryBytes = value;
            return this;
        }

        /** Sets the option {@link StoreOptions#logBytesMax}. */
        public Builder logBytesMax(long value) {
            logBytesMax = value;
            return this;
        }

        /** Sets the option {@link StoreOptions#log}. */
        public Builder log(LogOptions value) {
            log = value;
            return this;
        }

        /** Sets the option {@link StoreOptions#background}. */
        public Builder background(BackgroundOptions value) {
            background = value;
            return this;
        }

        /** Sets the option {@link StoreOptions#directIo}. */
        public Builder directIo(boolean value) {
            directIo = value;
            return this;
        }

        /** Sets the option {@link StoreOptions#indexKinds}. */
        public Builder indexKinds(IndexKinds value) {
            indexKinds = value;
            return this;
        }

        /** Sets the option {@link StoreOptions#runtime}. */
        public Builder runtime(@Nullable StoreRuntime value) {
            runtime = value;
            return this;
        }

        /** Changes the durability of the log options that were given so far. */
        public Builder durability(Durability value) {
            return log(log.withDurability(value));
        }

        /**
         * Checks the options together.
         *
         * @throws InvalidRequestException if one is out of its range, naming it
         */
        public StoreOptions build() {
            return new StoreOptions(
                    writeMemoryBytes,
                    cacheBytes,
                    queryMemoryBytes,
                    logBytesMax,
                    log,
                    background,
                    directIo,
                    indexKinds,
                    runtime);
        }
    }
}
