package io.turbidite.hashlog.recovery;

import io.turbidite.core.Cleanup;
import io.turbidite.core.task.Tasks;
import io.turbidite.hashlog.chain.ChainHeads;
import io.turbidite.hashlog.chain.KeyPointer;
import io.turbidite.hashlog.log.Deletion;
import io.turbidite.hashlog.log.HybridLog;
import io.turbidite.hashlog.log.LogReader;
import io.turbidite.hashlog.log.LogScan;
import io.turbidite.hashlog.log.LogShape;
import io.turbidite.hashlog.log.RecordHeader;
import io.turbidite.hashlog.log.SessionMark;
import io.turbidite.hashlog.log.TimeMark;
import io.turbidite.hashlog.table.HashTable;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Brings a table up to the end of the log: several workers take page after page, hash every key
 * pointer and raise its entry (FISH19 appendix E, where one thread does it).
 *
 * <p><em>Used once, by one thread.</em> Workers need not wait for one another: the links between
 * key pointers are in the log, and an entry is the highest address of its chain, in whatever order
 * the addresses come. In the same pass it collects deletions and the newest mark of each session.
 */
public final class TableReplay {
    private static final int WORKER_COUNT_MAX = 8;

    private final HybridLog log;
    private final HashTable table;
    private final ChainHeads heads;
    private final Way way;
    private final long from;
    private final long end;
    private final AtomicLong nextPage;
    private final AtomicInteger running = new AtomicInteger();
    private final AtomicLong recordCount = new AtomicLong();
    private final Map<String, SessionPoint> sessions;
    private volatile boolean isFull;
    private volatile @Nullable Throwable failure;

    /** What becomes of key pointers. */
    public enum Way {
        /** Entries are raised, by several workers in any order; each chain needs one of its own. */
        RAISED,

        /**
         * By one worker in the order of addresses: chains share entries as they did when they were
         * linked.
         */
        IN_ORDER,

        /** Nothing: the index begins at the end. */
        LEFT_OUT
    }

    /**
     * @param heads how many chains properties have
     * @param checkpoint whose table, deletions and sessions are brought up to the end of
     *     {@code log}
     */
    public TableReplay(HybridLog log, ChainHeads heads, IndexCheckpoint checkpoint, Way way) {
        this.log = log;
        this.way = way;
        this.heads = heads;
        this.table = checkpoint.table();
        log.deleted().addAll(checkpoint.deleted(), log.begin());
        this.sessions = new HashMap<>(checkpoint.sessions());
        this.from = Math.max(checkpoint.from(), log.begin());
        this.end = log.tail();
        this.nextPage = new AtomicLong(log.shape().pageOf(from));
        sessions.values().removeIf(point -> point.address() < log.begin());
    }

    /**
     * Replays; the first failure is thrown.
     *
     * @return false if the table has no room for all chains: start again with one of more base bits
     */
    public boolean run() {
        LogShape shape = log.shape();
        long pageCount = shape.pageOf(Math.max(from, end - 1)) - shape.pageOf(from) + 1;
        int most = way == Way.IN_ORDER
                ? 1
                : Math.min(
                        Math.min(WORKER_COUNT_MAX, shape.ringPageCount() - 1),
                        log.options().sessionCountMax());
        int processors = Runtime.getRuntime().availableProcessors();
        int workerCount = Math.clamp(Math.min(pageCount, processors), 1, most);
        Tasks tasks = log.site().tasks();
        running.set(workerCount);
        List<Tasks.Worker> workers = new ArrayList<>();
        try (Cleanup _ = Cleanup.ofAll(workers, Tasks.Worker::close)) {
            for (int i = 0; i < workerCount; i++) {
                workers.add(tasks.start("hashlog-replay-" + i, 1_000_000, new Work(i)::step));
            }
            tasks.await(() -> running.get() == 0);
        }
        switch (failure) {
            case null -> {}
            case Error e -> throw e;
            case RuntimeException e -> throw e;
            case Throwable e -> throw new IllegalStateException(e);
        }
        return !isFull;
    }

    /** Records that were looked at. */
    public long recordCount() {
        return recordCount.get();
    }

    /** Where the replay began. */
    public long from() {
        return from;
    }

    /** The newest mark of each session that the log holds. */
    public Map<String, SessionPoint> sessions() {
        return Map.copyOf(sessions);
    }

    /** One worker's share; a step is a page. */
    private final class Work {
        private final HashTable.Slot slot = new HashTable.Slot();
        private final int frame;
        private boolean done;

        Work(int frame) {
            this.frame = frame;
        }

        boolean step() {
            if (done) {
                return false;
            }
            long page = nextPage.getAndIncrement();
            LogShape shape = log.shape();
            if (failure == null && !isFull && page <= shape.pageOf(end - 1)) {
                long low = Math.max(from, shape.startOf(page));
                try (LogReader reader = LogReader.openInFrame(log, "replay", frame)) {
                    reader.protect();
                    replay(reader, low, Math.min(end, shape.startOf(page + 1)));
                } catch (RuntimeException | Error e) {
                    // retention, which goes by whole pages, may have been quicker
                    if (log.begin() <= low || e instanceof Error) {
                        failure = e;
                    }
                }
                return true;
            }
            done = true;
            running.decrementAndGet();
            log.site().tasks().signal();
            return false;
        }

        private void replay(LogReader reader, long low, long high) {
            LogScan scan = new LogScan(reader);
            scan.start(low, high);
            long count = 0;
            while (!isFull && scan.next()) {
                long header = scan.header();
                switch (RecordHeader.kind(header)) {
                    case RecordHeader.RECORD -> {
                        count++;
                        raise(reader, header, scan.address());
                    }
                    case RecordHeader.SESSION_MARK -> {
                        if (TimeMark.is(header)) {
                            log.noteTime(TimeMark.read(scan.segment(), scan.offset()));
                        } else {
                            mark(
                                    SessionMark.read(scan.segment(), scan.offset(), header),
                                    scan.address());
                        }
                    }
                    case RecordHeader.DELETION ->
                        log.deleted()
                                .add(Deletion.read(scan.segment(), scan.offset()), log.begin());
                    default -> throw new AssertionError("a scan has shown a filler");
                }
            }
            recordCount.addAndGet(count);
            while (table.wantsGrowth() && table.grow()) {
                Thread.onSpinWait();
            }
        }

        private void raise(LogReader reader, long header, long address) {
            MemorySegment segment = reader.segment();
            long record = reader.offset();
            int count = RecordHeader.keyPointerCount(header);
            for (int i = 0; i < count; i++) {
                long at = RecordHeader.BYTES + (long) i * KeyPointer.LINK_BYTES;
                long link = KeyPointer.loadLink(segment, record + at);
                long hash = KeyPointer.hash(i, link, header, reader, address);
                long value = KeyPointer.loadValue(segment, record, header, link);
                if (!put(heads.hashAt(value, hash, address + at), address + at, link)) {
                    isFull = true;
                    return;
                }
            }
        }

        private boolean put(long hash, long address, long link) {
            return switch (way) {
                case RAISED -> table.raise(hash, address, slot);
                case IN_ORDER -> table.replay(hash, address, KeyPointer.previous(link));
                case LEFT_OUT -> true;
            };
        }

        private void mark(SessionMark mark, long address) {
            synchronized (sessions) {
                sessions.merge(
                        mark.session(),
                        new SessionPoint(mark.serial(), address),
                        SessionPoint::newer);
            }
        }
    }
}
