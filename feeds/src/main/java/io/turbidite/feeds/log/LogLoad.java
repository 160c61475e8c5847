package io.turbidite.feeds.log;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageException;
import io.turbidite.core.Undo;
import io.turbidite.core.task.Tasks;
import io.turbidite.feeds.parse.JsonEnd;
import io.turbidite.hashlog.HashLog;
import io.turbidite.hashlog.IngestSession;
import io.turbidite.hashlog.RejectedRecord;
import io.turbidite.hashlog.parse.CsvRows;
import io.turbidite.hashlog.parse.LineEnds;
import io.turbidite.hashlog.parse.ParserSpec;
import io.turbidite.hashlog.parse.Rejection;
import io.turbidite.hashlog.parse.ScanMode;
import io.turbidite.hashlog.parse.WholeObject;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;

/**
 * Puts newline-delimited records of streams into a log: the caller reads and cuts blocks at line
 * ends, workers with a session each ingest them. With several workers, blocks reach the log in no
 * promised order.
 *
 * <p><em>The methods are confined to one thread.</em> Memory: two blocks a worker and one more,
 * each of 1 MiB unless a record is longer. The first failure ends the load and is thrown by the
 * next call.
 */
public final class LogLoad implements AutoCloseable {
    /** Most workers. */
    public static final int THREADS_MAX = 64;

    private static final int BLOCK_BYTES = 1 << 20;

    /** No page holds a longer record, so that one is passed over unread. */
    private static final int LINE_BYTES_MAX = 64 << 20;

    private final Tasks tasks;
    private final Problems problems;
    private final ConcurrentLinkedQueue<Block> free = new ConcurrentLinkedQueue<>();
    private final ConcurrentLinkedQueue<Block> full = new ConcurrentLinkedQueue<>();
    private final AtomicInteger underWay = new AtomicInteger();
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    private final AtomicLong records = new AtomicLong();
    private final AtomicLong rejected = new AtomicLong();
    private final LineEnds lineEnds = ScanMode.best().newLineEnds();
    private final boolean json;
    private final ParserSpec.@Nullable Csv csv;

    /** A row whose quotes are still open then is none: no page would hold it. */
    private final int rowBytesMax;

    private int headers;
    private long waiting;
    private final List<Loader> loaders = new ArrayList<>();

    private LogLoad(HashLog log, Tasks tasks, Problems problems) {
        this.json = log.parser() instanceof ParserSpec.Json;
        this.csv = log.parser() instanceof ParserSpec.Csv rows ? rows : null;
        this.rowBytesMax = log.log().shape().recordBytesMax();
        this.tasks = tasks;
        this.problems = problems;
    }

    /** Where bytes come from. */
    @FunctionalInterface
    public interface Input {
        /** Reads at least one byte; returns how many, or -1 at the end. */
        int read(byte[] into, int offset, int byteCount);
    }

    /** Hears of each refused record, on a worker's thread; must be quick. <em>Thread-safe.</em> */
    @FunctionalInterface
    public interface Problems {
        /**
         * A record was left out.
         *
         * @param input as {@link #read} was given it
         * @param offset of the record in that input
         */
        void refused(String input, long offset, String why);
    }

    /**
     * What was done. <em>Immutable.</em>
     *
     * @param bytes of the records taken
     * @param logBytes that they take in the log
     * @param atRisk records handed in, refused ones too, that a power cut might take; none once all
     *     is durable
     */
    public record Totals(long records, long rejected, long bytes, long logBytes, long atRisk) {}

    /** Starts the workers. */
    public static LogLoad start(OpenLog to, int threads, Problems problems) {
        return start(to.log(), to.tasks(), threads, problems);
    }

    /**
     * Starts the workers.
     *
     * @param threads 1 to {@value #THREADS_MAX}
     */
    public static LogLoad start(HashLog log, Tasks tasks, int threads, Problems problems) {
        if (threads < 1 || threads > THREADS_MAX) {
            throw new InvalidRequestException(
                    "%d threads, but 1 to %d are possible".formatted(threads, THREADS_MAX));
        }
        LogLoad load = new LogLoad(log, tasks, problems);
        try (Undo undo = Undo.of(load::close)) {
            for (int i = 0; i < threads; i++) {
                load.loaders.add(load.new Loader(log, i));
            }
            for (int i = 0; i < 2 * threads + 1; i++) {
                load.free.add(load.new Block());
            }
            return undo.keep(load);
        }
    }

    /**
     * Reads an input until it ends or {@code stopped}; then the last line counts only if it is
     * complete.
     *
     * @param stopped also asked while the log is waited for
     * @param ended asked at the end if the last line has no line end and is no whole JSON: whether
     *     nothing will follow, so that it is a record; else it is left out, see {@link #waiting}
     * @return whether it was the end
     */
    public boolean read(String name, Input input, BooleanSupplier stopped, BooleanSupplier ended) {
        Block block = take(stopped);
        if (block == null) {
            return false;
        }
        block.begin(name, 0);
        boolean skipping = false;
        boolean isFirstRow = csv != null;
        while (true) {
            int count;
            try {
                count = stopped.getAsBoolean() ? 0 : block.readFrom(input);
            } catch (StorageException e) {
                publish(block, skipping ? 0 : block.linesEnd); // what came before it is good
                throw e;
            }
            if (isFirstRow && (block.linesEnd > 0 || count < 0 || block.isFull())) {
                headers += block.dropHeader() ? 1 : 0;
                isFirstRow = false;
            }
            if (stopped.getAsBoolean()) {
                publish(block, block.linesEnd);
                return false;
            }
            if (count < 0) {
                publish(block, skipping ? 0 : endOfRecords(block, ended));
                return !stopped.getAsBoolean();
            }
            if (skipping) {
                skipping = !block.dropThroughLineEnd();
                continue;
            }
            int lines = block.linesEnd;
            if (lines == 0 && block.length >= LINE_BYTES_MAX) {
                rejected.incrementAndGet();
                problems.refused(
                        name,
                        block.position,
                        "the record is longer than %d bytes".formatted(LINE_BYTES_MAX));
                block.drop(block.length);
                skipping = true;
            } else if (lines == 0 && block.isFull()) {
                block.grow();
            } else if (lines > 0 && (block.isFull() || block.isCut || full.isEmpty())) {
                Block next = take(stopped);
                if (next == null) {
                    return false; // what the block has was read, but not taken
                }
                next.begin(name, block.position + lines);
                next.copyTail(block, lines);
                next.findLines();
                publish(block, lines);
                block = next;
            }
        }
    }

    private int endOfRecords(Block block, BooleanSupplier ended) {
        int rest = block.length - block.linesEnd;
        if (rest == 0
                || (json && JsonEnd.isWhole(block.bytes, block.linesEnd, rest))
                || ended.getAsBoolean()) {
            return block.length;
        }
        waiting++;
        return block.linesEnd;
    }

    /** How many inputs began with a row that names the columns, which is no record. */
    public int headers() {
        return headers;
    }

    /**
     * How many inputs ended in a line that was left out because there may be more of it to come.
     */
    public long waiting() {
        return waiting;
    }

    /**
     * Waits until everything that was read is in the log and durable.
     *
     * @throws io.turbidite.core.StorageIoException of kind NO_SPACE if the disk stays full
     */
    public Totals finish() {
        tasks.await(() -> underWay.get() == 0 || failure.get() != null);
        rethrow();
        for (Loader loader : loaders) {
            loader.session.awaitDurable();
        }
        return totals();
    }

    /** What was done so far. Exact once nothing is under way. */
    public Totals totals() {
        Totals sum = new Totals(0, rejected.get(), 0, 0, 0);
        for (Loader loader : loaders) {
            IngestSession session = loader.session;
            sum = new Totals(
                    sum.records + session.acceptedCount(),
                    sum.rejected,
                    sum.bytes + session.payloadBytes(),
                    sum.logBytes + session.logBytes(),
                    sum.atRisk + session.serial() - session.durableSerial());
        }
        return sum;
    }

    /** Ends the workers, so that {@link #totals} are exact; what they had not begun is left. */
    public void halt() {
        loaders.forEach(loader -> loader.worker.close());
    }

    /** Records taken so far. */
    public long records() {
        return records.get();
    }

    /** Records refused so far. */
    public long rejected() {
        return rejected.get();
    }

    /** Ends the workers; what was taken stays. */
    @Override
    public void close() {
        halt();
        RuntimeException first = null;
        for (Loader loader : loaders) {
            try {
                loader.session.close();
            } catch (StorageException e) {
                first = first == null ? e : first; // the others are closed all the same
            }
        }
        if (first != null) {
            throw first;
        }
    }

    /** A free block, or null if the load was stopped before there was one. */
    private @Nullable Block take(BooleanSupplier stopped) {
        Block block = free.poll();
        while (block == null) {
            tasks.await(() -> !free.isEmpty() || failure.get() != null || stopped.getAsBoolean());
            rethrow();
            block = free.poll();
            if (block == null && stopped.getAsBoolean()) {
                return null;
            }
        }
        return block;
    }

    private void publish(Block block, int byteCount) {
        rethrow();
        block.length = byteCount;
        underWay.incrementAndGet();
        full.add(block);
        loaders.forEach(loader -> loader.worker.wake());
    }

    private void rethrow() {
        switch (failure.get()) {
            case null -> {}
            case RuntimeException e -> throw e;
            case Error e -> throw e;
            case Throwable e -> throw new IllegalStateException(e);
        }
    }

    /** A worker and its session. */
    private final class Loader {
        private static final long IDLE_MICROS = 10_000;

        private final IngestSession session;
        private final Tasks.Worker worker;
        private final WholeObject whole = WholeObject.of(ScanMode.best());
        private Block block = LogLoad.this.new Block();

        Loader(HashLog log, int number) {
            String name = "load-" + number;
            session = log.openSession(name, log.recoveredSerial(name), this::refused);
            worker = tasks.start("hashlog-load-" + number, IDLE_MICROS, this::step);
        }

        private boolean step() {
            Block next = full.poll();
            if (next == null) {
                return false;
            }
            try {
                block = next;
                if (failure.get() == null) {
                    records.addAndGet(json ? ingestObjects(next) : ingest(next, 0, next.length));
                }
            } catch (RuntimeException | Error e) {
                failure.compareAndSet(null, e);
            } finally {
                free.add(next);
                underWay.decrementAndGet();
                tasks.signal();
            }
            return true;
        }

        /**
         * Leaves out what is no object, which a session takes unless a PSF wants what it lacks.
         */
        private long ingestObjects(Block lines) {
            long taken = 0;
            int from = 0;
            for (int at = 0; at < lines.length; ) {
                int end = Math.min(lines.length, lines.lineEnd(at));
                int contentEnd = end > at && lines.bytes[end - 1] == '\r' ? end - 1 : end;
                Rejection rejection =
                        contentEnd == at ? null : whole.check(lines.segment, at, contentEnd - at);
                if (rejection != null) {
                    taken += ingest(lines, from, at);
                    refused(at, rejection.toString());
                    from = end;
                }
                at = end + 1;
            }
            return taken + ingest(lines, from, lines.length);
        }

        private long ingest(Block from, int start, int end) {
            return start < end ? session.ingest(from.segment, start, end - start) : 0;
        }

        private void refused(RejectedRecord record) {
            refused(record.offset(), record.reason());
        }

        private void refused(long offset, String reason) {
            rejected.incrementAndGet();
            problems.refused(block.input, block.position + offset, reason);
        }
    }

    /** Bytes of an input from a position on. Owned by the reader, or by one worker. */
    private final class Block {
        private byte[] bytes = new byte[BLOCK_BYTES];
        private MemorySegment segment = MemorySegment.ofArray(bytes);
        private int length;

        /** Behind the last line end, 0 if there is none. */
        private int linesEnd;

        /**
         * The lines end in a row whose quotes are not closed: what follows is not to be read with
         * it.
         */
        private boolean isCut;

        private String input = "";
        private long position;

        Block begin(String name, long at) {
            input = name;
            position = at;
            length = 0;
            linesEnd = 0;
            isCut = false;
            return this;
        }

        int readFrom(Input in) {
            int before = length;
            int count = in.read(bytes, length, bytes.length - length);
            length += Math.max(0, count);
            if (csv != null) {
                findLines();
                return count;
            }
            for (int i = length - 1; i >= before; i--) {
                if (bytes[i] == '\n') {
                    linesEnd = i + 1;
                    break;
                }
            }
            return count;
        }

        /** Finds the rows that are whole. */
        void findLines() {
            ParserSpec.Csv rows = csv;
            while (rows != null && linesEnd < length && !isCut) {
                long end = CsvRows.end(segment, linesEnd, length, rows.separator());
                if (end == CsvRows.UNCLOSED && length - linesEnd > rowBytesMax) {
                    end = lineEnd(linesEnd); // the parser will say what is wrong with it
                    isCut = end < length;
                }
                if (end == CsvRows.UNCLOSED || end == length) {
                    return;
                }
                linesEnd = (int) end + 1;
            }
        }

        private int lineEnd(int from) {
            return (int) lineEnds.end(segment, from, length);
        }

        /** Drops the first row if it names the columns. */
        boolean dropHeader() {
            ParserSpec.Csv rows = csv;
            int end = lineEnd(0);
            if (rows == null || !CsvRows.isHeader(bytes, 0, end, rows)) {
                return false;
            }
            drop(Math.min(length, end + 1));
            return true;
        }

        boolean isFull() {
            return length == bytes.length;
        }

        void grow() {
            bytes = Arrays.copyOf(bytes, 2 * bytes.length);
            segment = MemorySegment.ofArray(bytes);
        }

        void copyTail(Block from, int start) {
            length = from.length - start;
            while (bytes.length < length) {
                grow();
            }
            System.arraycopy(from.bytes, start, bytes, 0, length);
        }

        /** Forgets the first bytes. */
        void drop(int count) {
            System.arraycopy(bytes, count, bytes, 0, length - count);
            length -= count;
            linesEnd = Math.max(0, linesEnd - count);
            position += count;
        }

        /** Forgets the rest of a line; false if it does not end here. */
        boolean dropThroughLineEnd() {
            for (int i = 0; i < length; i++) {
                if (bytes[i] == '\n') {
                    drop(i + 1);
                    return true;
                }
            }
            drop(length);
            return false;
        }
    }
}
