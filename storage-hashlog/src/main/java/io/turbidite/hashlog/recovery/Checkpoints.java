package io.turbidite.hashlog.recovery;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.FormatVersionException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.Undo;
import io.turbidite.core.epoch.EpochSession;
import io.turbidite.core.epoch.Epochs;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.file.WholeFile;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.hashlog.log.DeletedRecords;
import io.turbidite.hashlog.log.HybridLog;
import io.turbidite.hashlog.log.LogShape;
import io.turbidite.hashlog.log.SessionMark;
import io.turbidite.hashlog.table.BucketEntries;
import io.turbidite.hashlog.table.HashTable;
import io.turbidite.hashlog.table.TableShape;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The checkpoints in a log's directory: {@code 0000002a.index} and the like.
 *
 * <p><em>Confined to one thread at a time.</em> A checkpoint is fuzzy (FISH19 appendix E): buckets
 * are read while sessions go on. In this order:
 *
 * <ol>
 *   <li>the safe tail is taken: every key pointer below it is in the table, so the replay starts
 *       there;
 *   <li>buckets are read and written to a draft; an entry may already lead to a key pointer beyond
 *       1;
 *   <li>deletions and session marks, and then the tail are read: nothing in the draft lies beyond;
 *   <li>the log is made durable up to that tail. So every address in the draft is of a record that
 *       a power cut leaves, and no entry has to be walked back;
 *   <li>the draft is synced, gets its name, and the directory is synced;
 *   <li>of the older ones all but the newest go: it is there in case this one is damaged.
 * </ol>
 */
public final class Checkpoints {
    private static final long ADDRESS_MAX = (1L << LogShape.ADDRESS_BITS) - 1;
    private static final String SUFFIX = ".index";
    private static final String DRAFT = "index.new";
    private static final int KEPT_COUNT = 2;

    /** Buckets read under one protection. */
    private static final int CHUNK_BUCKETS = 256;

    /** Tries to get through the table without a growth that writers can't wait for. */
    private static final int TRY_COUNT = 16;

    private static final long BUCKETS_END = -1;
    private static final int COUNT_SHIFT = 32;
    private static final long FOLDED = 1L << 62;
    private static final int ENTRY_COUNT_MAX = 1 << 29;

    private final Disk disk;
    private final String directory;
    private final long logId;

    public Checkpoints(Disk disk, String directory, long logId) {
        this.disk = disk;
        this.directory = directory;
        this.logId = logId;
    }

    /** The numbers of the checkpoints there are, newest first. */
    public List<Long> numbers() {
        List<Long> numbers = new ArrayList<>();
        for (String name : disk.list(directory)) {
            if (name.matches("[0-9a-f]{8}\\" + SUFFIX)) {
                numbers.addFirst(Long.parseLong(name.substring(0, 8), 16));
            }
        }
        return numbers;
    }

    private String nameOf(long number) {
        return "%s/%08x%s".formatted(directory, number, SUFFIX);
    }

    // ---- writing --------------------------------------------------------------------------------

    /** What a checkpoint is made of, besides the log. */
    public interface Source {
        HashTable table();

        /** The newest marks; a copy. */
        Map<String, SessionPoint> sessions();
    }

    /**
     * What was written.
     *
     * @param number of the checkpoint
     * @param from where a recovery from it starts to replay
     * @param byteCount of the file
     */
    public record Written(long number, long from, long byteCount) {}

    /**
     * Writes a checkpoint.
     *
     * @return null if the table had to grow each time, so that there is none; try again later
     * @throws io.turbidite.core.StorageIoException if the disk failed; the older ones are still
     *     there
     * @throws io.turbidite.core.StoreFailedException if the log did
     */
    public @Nullable Written write(HybridLog log, Source source) {
        List<Long> before = numbers();
        long number = before.isEmpty() ? 1 : before.getFirst() + 1;
        WholeFile whole = WholeFile.of(disk, nameOf(number), directory + "/" + DRAFT);
        HashTable table = source.table();
        for (int i = 0; i < TRY_COUNT; i++) {
            table.pin();
            // on a full disk the draft would keep the space that is wanted
            try (Undo undo = Undo.of(whole::abandon)) {
                long from = log.safeTail();
                long byteCount = writeDraft(whole, number, log, source, from);
                if (byteCount > 0) {
                    whole.place();
                    undo.keep();
                    removeOlder(before);
                    return new Written(number, from, byteCount);
                }
                undo.keep();
            } finally {
                table.unpin();
            }
            while (table.grow()) {
                Thread.onSpinWait(); // what took the pin away, so that it need not again
            }
        }
        return null;
    }

    private void removeOlder(List<Long> before) {
        for (int i = KEPT_COUNT - 1; i < before.size(); i++) {
            disk.delete(nameOf(before.get(i)));
        }
    }

    /** The bytes of the draft, or 0 if the table grew. */
    private long writeDraft(WholeFile whole, long number, HybridLog log, Source source, long from) {
        try (DiskFile file = whole.create()) {
            CheckpointFile.Writer out = new CheckpointFile.Writer(file, logId, number);
            HashTable table = source.table();
            TableShape shape = table.shape();
            out.word(shape.baseBits());
            out.word(shape.doublings());
            out.word(from);
            if (!writeBuckets(out, log.epochs(), table, shape.bucketCount())) {
                return 0;
            }
            table.unpin(); // the rest may take its time
            long begin = log.begin();
            writeDeleted(out, log.deleted(), begin);
            writeSessions(out, source.sessions(), begin);
            long end = log.tail();
            out.word(end);
            log.awaitDurable(end);
            return out.finish();
        }
    }

    private static boolean writeBuckets(
            CheckpointFile.Writer out, Epochs epochs, HashTable table, int bucketCount) {
        BucketEntries entries = new BucketEntries();
        try (EpochSession epoch = epochs.open("checkpoint")) {
            epoch.protect();
            for (int b = 0; b < bucketCount; b++) {
                if (b % CHUNK_BUCKETS == 0) {
                    epoch.refresh();
                }
                if (!table.isPinned()) {
                    return false; // the memory may be of a table that is gone after a refresh
                }
                table.read(b, entries);
                if (entries.count() > 0) {
                    out.word(b
                            | (long) entries.count() << COUNT_SHIFT
                            | (entries.isFolded() ? FOLDED : 0));
                    for (int i = 0; i < entries.count(); i++) {
                        out.word(entries.word(i));
                    }
                }
            }
        }
        out.word(BUCKETS_END);
        return table.isPinned();
    }

    private static void writeDeleted(
            CheckpointFile.Writer out, DeletedRecords deleted, long begin) {
        List<Long> addresses = new ArrayList<>();
        deleted.forEach(begin, addresses::add);
        out.word(addresses.size());
        addresses.forEach(out::word);
    }

    private static void writeSessions(
            CheckpointFile.Writer out, Map<String, SessionPoint> sessions, long begin) {
        Map<String, SessionPoint> kept = new HashMap<>(sessions);
        kept.values().removeIf(point -> point.address() < begin);
        out.word(kept.size());
        kept.forEach((name, point) -> {
            out.word(point.serial());
            out.word(point.address());
            out.text(name);
        });
    }

    // ---- reading --------------------------------------------------------------------------------

    /**
     * Reads a checkpoint into a table of its own.
     *
     * @return null if it can't be used: damaged or unreadable, of another log or release, of a
     *     table of fewer base bits, or of one that the account has no room for
     */
    public @Nullable IndexCheckpoint read(
            long number, int baseBitsMin, Epochs epochs, MemoryBudget.Account account) {
        try {
            return opened(number, baseBitsMin, epochs, account);
        } catch (CorruptionException | FormatVersionException | StorageIoException unusable) {
            return null; // the log itself says the same, only more slowly
        }
    }

    /**
     * Reads all of a checkpoint.
     *
     * @param account has room for its table
     * @throws CorruptionException if it is damaged
     */
    public void check(long number, Epochs epochs, MemoryBudget.Account account) {
        IndexCheckpoint read = opened(number, 0, epochs, account);
        if (read != null) {
            read.table().close();
        }
    }

    private @Nullable IndexCheckpoint opened(
            long number, int baseBitsMin, Epochs epochs, MemoryBudget.Account account) {
        try (DiskFile file = disk.openReadOnly(nameOf(number))) {
            CheckpointFile.Reader in = new CheckpointFile.Reader(file, logId, number);
            int baseBits = (int) in.word("base bits", 6, 26);
            TableShape shape = new TableShape(baseBits, (int) in.word("doublings", 0, 8));
            if (baseBits < baseBitsMin) {
                return null;
            }
            long from = in.word("start of the replay", 0, ADDRESS_MAX);
            HashTable table = HashTable.createIfRoom(shape, epochs, account);
            if (table == null) {
                return null; // written by a larger table than may be now
            }
            try (Undo undo = Undo.of(table::close)) {
                return undo.keep(content(in, number, table, from));
            }
        }
    }

    /** What comes behind the start of the replay, with the entries in {@code table}. */
    private static IndexCheckpoint content(
            CheckpointFile.Reader in, long number, HashTable table, long from) {
        long newest = readBuckets(in, table, table.bucketCount());
        DeletedRecords deleted = new DeletedRecords();
        long count = in.word("deletions", 0, ADDRESS_MAX);
        for (long i = 0; i < count; i++) {
            deleted.add(in.word("deleted record", 1, ADDRESS_MAX), 0);
        }
        Map<String, SessionPoint> sessions = new HashMap<>();
        count = in.word("sessions", 0, ADDRESS_MAX);
        for (long i = 0; i < count; i++) {
            SessionPoint point = new SessionPoint(
                    in.word("serial", 0, Long.MAX_VALUE), in.word("mark", 1, ADDRESS_MAX));
            sessions.put(in.text(SessionMark.NAME_BYTES_MAX), point);
        }
        long end = in.word("end", Math.max(from, newest), ADDRESS_MAX);
        in.finish();
        return new IndexCheckpoint(number, table, from, end, deleted, sessions);
    }

    /** Returns the highest address of an entry. */
    private static long readBuckets(CheckpointFile.Reader in, HashTable table, int bucketCount) {
        BucketEntries entries = new BucketEntries();
        long newest = 0;
        long last = -1;
        for (long head = in.word(); head != BUCKETS_END; head = in.word()) {
            int bucket = (int) head;
            long count = (head & ~FOLDED) >>> COUNT_SHIFT;
            if (bucket <= last || bucket >= bucketCount || count > ENTRY_COUNT_MAX) {
                throw in.wrong("bucket after " + last, last + 1, head);
            }
            entries.clear((head & FOLDED) != 0);
            for (long i = 0; i < count; i++) {
                long word = in.word();
                if (!BucketEntries.isEntry(word)) {
                    throw in.wrong("entry", 1, word);
                }
                entries.add(word);
                newest = Math.max(newest, BucketEntries.address(word));
            }
            table.put(bucket, entries);
            last = bucket;
        }
        return newest;
    }
}
