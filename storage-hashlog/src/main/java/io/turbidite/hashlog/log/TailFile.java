package io.turbidite.hashlog.log;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.file.WholeFile;
import io.turbidite.core.format.FileHeader;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;

/**
 * The file {@code TAIL}: one block with its envelope, two slots of {@link TailMark}s, two of
 * {@link BeginMark}s.
 *
 * <p><em>Thread-safe by its monitor,</em> which no sync holds. It is made at full length, with two
 * marks of each kind, before the registry that makes a log exist. So a log whose registry says so
 * ({@code hasTail}) has a sound mark of each kind at every moment, and a file that is missing, of
 * another length, or without a sound mark is damage. Logs of older releases got theirs with the
 * first page, in pieces; they may be without.
 */
final class TailFile implements AutoCloseable {
    static final int BYTES = 5 * LogShape.BLOCK_BYTES;
    private static final String NAME = "TAIL";

    private final DiskFile file;
    private final long logId;
    private final Marks found;
    private final MemorySegment slot = MemorySegment.ofArray(new byte[LogShape.BLOCK_BYTES]);
    private final MemorySegment beginBytes = MemorySegment.ofArray(new byte[BeginMark.BYTES]);
    private long markNumber;
    private long beginNumber;
    private long durableMarkNumber;
    private long durableBeginNumber;

    /** A sync failed: what was written since the one before may be gone. */
    private boolean lost;

    private TailFile(DiskFile file, long logId, Marks newest) {
        this.found = newest;
        this.file = file;
        this.logId = logId;
        TailMark mark = newest.tail;
        BeginMark begin = newest.begin;
        this.markNumber = mark == null ? 0 : mark.number();
        this.beginNumber = begin == null ? 0 : begin.number();
        this.durableMarkNumber = markNumber;
        this.durableBeginNumber = beginNumber;
    }

    /**
     * The newest sound marks.
     *
     * @param tail null if there is none, which a log that has its file does not come to
     * @param begin likewise
     * @param tailsLost slots of tail marks without a sound copy. A power cut tears one copy at
     *     most, so that is damage
     */
    record Marks(@Nullable TailMark tail, @Nullable BeginMark begin, int tailsLost) {}

    private static String nameIn(String directory) {
        return directory + "/" + NAME;
    }

    /**
     * Makes the file, or one in the place of another: whole, with both marks twice, and durable.
     */
    static void create(Disk disk, String directory, TailMark mark, BeginMark begin) {
        byte[] bytes = new byte[BYTES];
        MemorySegment image = MemorySegment.ofArray(bytes);
        new FileHeader(TailMark.FORMAT, TailMark.VERSION, 0, mark.logId(), 0).write(image, 0);
        for (int i = 0; i < 2; i++) {
            TailMark twin = mark.numbered(mark.number() + i);
            twin.writeTwice(
                    image.asSlice(TailMark.slotOffset(twin.number()), LogShape.BLOCK_BYTES));
            BeginMark other = new BeginMark(begin.logId(), begin.number() + i, begin.begin());
            other.write(image.asSlice(BeginMark.slotOffset(other.number()), BeginMark.BYTES));
        }
        WholeFile.of(disk, nameIn(directory)).write(bytes);
    }

    /**
     * Reads the newest marks.
     *
     * @param hasTail whether the log is one that always has the file
     * @throws CorruptionException if it is damaged, or another log's; if {@code hasTail}, also if
     *     it is missing, of another length, or without marks
     */
    static Marks read(Disk disk, String directory, long logId, LogShape shape, boolean hasTail) {
        String name = nameIn(directory);
        if (!disk.exists(name)) {
            if (hasTail) {
                throw CorruptionException.missing(name, "each log has it; restore it");
            }
            return new Marks(null, null, 0);
        }
        try (DiskFile file = disk.openReadOnly(name)) {
            FileHeader.readFrom(file)
                    .check(name, TailMark.FORMAT, TailMark.VERSION)
                    .checkOwner(name, logId, 0);
            if (hasTail && file.size() != BYTES) {
                throw damaged(name, 0, "the file", BYTES + " bytes", file.size() + " bytes");
            }
            TailMark even = readTail(file, 0, logId, shape);
            TailMark odd = readTail(file, 1, logId, shape);
            int lost = !hasTail ? 0 : (even == null ? 1 : 0) + (odd == null ? 1 : 0);
            Marks marks = new Marks(newer(even, odd), readBegin(file, logId), lost);
            if (hasTail && marks.tail == null) {
                throw noMark(name, TailMark.slotOffset(0), "how far the newest page is durable");
            }
            if (hasTail && marks.begin == null) {
                throw noMark(name, BeginMark.slotOffset(1), "where the log begins");
            }
            return marks;
        }
    }

    private static @Nullable TailMark readTail(
            DiskFile file, int slot, long logId, LogShape shape) {
        MemorySegment bytes = MemorySegment.ofArray(new byte[LogShape.BLOCK_BYTES]);
        int byteCount = file.read(TailMark.slotOffset(slot), bytes, 0, LogShape.BLOCK_BYTES);
        return byteCount < LogShape.BLOCK_BYTES ? null : TailMark.readEither(bytes, logId, shape);
    }

    private static @Nullable TailMark newer(@Nullable TailMark one, @Nullable TailMark other) {
        return one == null || (other != null && other.number() > one.number()) ? other : one;
    }

    private static @Nullable BeginMark readBegin(DiskFile file, long logId) {
        BeginMark newest = null;
        MemorySegment slot = MemorySegment.ofArray(new byte[BeginMark.BYTES]);
        for (int i = 0; i < 2; i++) {
            int byteCount = file.read(BeginMark.slotOffset(i), slot, 0, BeginMark.BYTES);
            BeginMark mark = byteCount < BeginMark.BYTES ? null : BeginMark.read(slot, logId);
            if (mark != null && (newest == null || mark.number() > newest.number())) {
                newest = mark;
            }
        }
        return newest;
    }

    private static CorruptionException noMark(String name, long at, String what) {
        return damaged(name, at, "the marks of " + what, "one that is sound", "none");
    }

    private static CorruptionException damaged(
            String name, long at, String what, String expected, String found) {
        return new CorruptionException(name, at, what, expected, found);
    }

    // ---- writing --------------------------------------------------------------------------------

    /**
     * Opens the file, which is there, to write the marks behind the newest. These may be in memory
     * alone: {@link #writeAgain} comes first.
     */
    static TailFile open(Disk disk, String directory, long logId, LogShape shape) {
        Marks newest = read(disk, directory, logId, shape, true);
        return new TailFile(disk.open(nameIn(directory)), logId, newest);
    }

    /**
     * Writes the marks that were found once more, where they lie, and makes them durable: their
     * writer may have been killed before its sync, or that has failed, and the next marks go to the
     * other slots.
     */
    void writeAgain() {
        synchronized (this) {
            TailMark mark = found.tail;
            BeginMark begin = found.begin;
            if (mark != null && mark.number() == markNumber) {
                mark.writeTwice(slot);
                writeMark();
            }
            if (begin != null && begin.number() == beginNumber) {
                begin.write(beginBytes);
                writeBegin();
            }
        }
        sync();
    }

    /** Writes the next mark; durable with the next {@link #sync}. */
    synchronized void putMark(long page, long firstArrivalMicros, int usedBytes, int pageChecksum) {
        markNumber = next(markNumber, durableMarkNumber);
        new TailMark(logId, markNumber, page, firstArrivalMicros, usedBytes, pageChecksum)
                .writeTwice(slot);
        writeMark();
    }

    /** Writes where the log begins; durable with the next {@link #sync}. */
    synchronized void putBegin(long begin) {
        beginNumber = next(beginNumber, durableBeginNumber);
        new BeginMark(logId, beginNumber, begin).write(beginBytes);
        writeBegin();
    }

    /**
     * The next number whose slot is not that of the newest durable mark: this one stays until the
     * next is durable.
     */
    private static long next(long number, long durable) {
        return (number + 1 - durable) % 2 == 0 ? number + 2 : number + 1;
    }

    private void writeMark() {
        file.write(TailMark.slotOffset(markNumber), slot, 0, LogShape.BLOCK_BYTES);
    }

    private void writeBegin() {
        file.write(BeginMark.slotOffset(beginNumber), beginBytes, 0, BeginMark.BYTES);
    }

    /** Makes the marks durable; those that a failed sync may have lost are written again. */
    void sync() {
        long mark;
        long begin;
        synchronized (this) {
            if (lost) {
                rewrite();
            }
            mark = markNumber;
            begin = beginNumber;
        }
        boolean done = false;
        try {
            file.sync(); // whoever writes the next mark does not wait for it
            done = true;
        } finally {
            synced(done, mark, begin);
        }
    }

    private void rewrite() {
        if (markNumber > durableMarkNumber) {
            writeMark();
        }
        if (beginNumber > durableBeginNumber) {
            writeBegin();
        }
        lost = false;
    }

    private synchronized void synced(boolean done, long mark, long begin) {
        if (done && !lost) {
            durableMarkNumber = Math.max(durableMarkNumber, mark);
            durableBeginNumber = Math.max(durableBeginNumber, begin);
        } else {
            lost = true;
        }
    }

    /** False if another process has it locked. */
    boolean tryLock() {
        return file.tryLock();
    }

    @Override
    public void close() {
        file.close();
    }
}
