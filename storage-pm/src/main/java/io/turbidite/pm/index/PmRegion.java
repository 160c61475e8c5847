package io.turbidite.pm.index;

import io.turbidite.core.Cleanup;
import io.turbidite.core.CorruptionException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.epoch.EpochSession;
import io.turbidite.core.epoch.Epochs;
import io.turbidite.core.index.IndexRegion;
import io.turbidite.core.index.RegionEntries;
import io.turbidite.core.index.RegionPlace;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.memory.Pool;
import io.turbidite.pm.postings.PostingCursor;
import io.turbidite.pm.region.RegionMemory;
import io.turbidite.pm.region.RegionSpec;
import io.turbidite.pm.tree.TreeCursor;

import org.jspecify.annotations.Nullable;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;

/**
 * A {@link PmIndex} as a store meets it. Owns the memory of its region.
 *
 * <p><em>Thread-safe</em> as {@link IndexRegion} says. A reader is inside an epoch for one call
 * only, so that long cursors keep no page.
 */
public final class PmRegion implements IndexRegion {
    /** Threads that are inside an epoch at once; one more waits for a moment. */
    private static final int SESSION_COUNT_MAX = 256;

    /** Places between those of neighbouring threads: two cache lines, and odd. */
    private static final int HOME_DISTANCE = 33;

    /** Keys that an absorption looks after, of those that readers met stale entries of. */
    private static final int HINTS_EACH = 64;

    /** How long a check waits for an absorption, which may have been given up. */
    private static final long VERIFY_WAIT_SECONDS = 60;

    /** An estimate walks so many secondary keys, and so many entries of one. */
    private static final int KEY_COUNTED_MAX = 256;

    private static final int ENTRY_COUNTED_MAX = 4_096;

    private final PmIndex index;
    private final RegionMemory memory;
    private final Epochs epochs;

    /**
     * Those that no thread is inside of, each in any place: no more are made than there is room.
     */
    private final AtomicReferenceArray<@Nullable EpochSession> sessions =
            new AtomicReferenceArray<>(SESSION_COUNT_MAX);

    private final AtomicInteger sessionCount = new AtomicInteger();

    /** Who writes, or wants nobody to write. */
    private final Semaphore writing = new Semaphore(1);

    /** Whether a change failed half-way; to be looked at by who writes. */
    private boolean isBroken;

    /** Begun and not ended; written by who flushes. */
    private volatile boolean isAbsorbing;

    private final MemoryBudget.Account account;

    /** A reader has buffers of a page and more. */
    private final Pool<KeyReader> readers = new Pool<>(KeyReader::new);

    /** As of the last absorption. */
    private volatile Counts counts;

    private record Counts(long entries, long keys, int staleKeys, long staleBytes) {}

    private PmRegion(
            PmIndex index, RegionMemory memory, Epochs epochs, MemoryBudget.Account account) {
        this.account = account;
        this.index = index;
        this.memory = memory;
        this.epochs = epochs;
        this.counts = count();
    }

    /** An empty region in a memory, which it owns from now on. */
    public static PmRegion create(RegionMemory memory, RegionPlace place, RegionSpec spec) {
        Epochs epochs = Epochs.create(SESSION_COUNT_MAX, place.clock());
        PmRegion made = null;
        try {
            made = new PmRegion(
                    PmIndex.create(memory, spec, epochs, place.account()),
                    memory,
                    epochs,
                    place.account());
            return made;
        } finally {
            if (made == null) {
                memory.close();
            }
        }
    }

    /**
     * A region that is there, in a memory which it owns from now on.
     *
     * @throws io.turbidite.core.CorruptionException if it can't be trusted
     */
    public static PmRegion open(
            RegionMemory memory, RegionPlace place, RegionSpec spec, long absorbedThrough) {
        Epochs epochs = Epochs.create(SESSION_COUNT_MAX, place.clock());
        PmRegion opened = null;
        try {
            opened = new PmRegion(
                    PmIndex.open(memory, spec, epochs, place.account(), absorbedThrough),
                    memory,
                    epochs,
                    place.account());
            return opened;
        } finally {
            if (opened == null) {
                memory.close();
            }
        }
    }

    /** The index itself, for tests and statistics. */
    public PmIndex index() {
        return index;
    }

    @Override
    public long absorbedThrough() {
        return index.absorbedThrough();
    }

    @Override
    public long foundThrough() {
        return index.foundThrough();
    }

    @Override
    public Absorption absorb(long horizon, long through) {
        if (isAbsorbing) {
            throw givenUp(); // whoever began it has left: nobody would ever be let in
        }
        writing.acquireUninterruptibly();
        var _ = collect(horizon);
        boolean isBegun = false;
        try {
            index.begin(horizon, through);
            isBegun = true;
        } finally {
            if (!isBegun) {
                isBroken = true;
                writing.release();
            }
        }
        isAbsorbing = true;
        // given back with the end of the absorption: without an end nobody may write any more
        return new Absorption() {
            @Override
            public void version(
                    Slice primaryKey, long timestamp, boolean hasEntry, int entryCount) {
                index.addVersion(primaryKey, timestamp, hasEntry, entryCount);
            }

            @Override
            public void entry(Slice secondaryKey, Slice primaryKey, long timestamp) {
                index.addEntry(secondaryKey, primaryKey, timestamp);
            }

            @Override
            public void commit(long absorbed) {
                index.commit(absorbed);
                counts = count();
                isAbsorbing = false;
                writing.release();
            }
        };
    }

    @Override
    public boolean tidy(long horizon) {
        if (!index.hasHints() || !writing.tryAcquire()) {
            return false;
        }
        int count = collect(horizon);
        writing.release();
        return count > 0;
    }

    /** Writes; lets others write if it fails, who are refused. */
    private int collect(long horizon) {
        int count = -1;
        try {
            if (isBroken) {
                throw givenUp();
            }
            count = index.collectHints(HINTS_EACH, horizon);
            counts = count();
            return count;
        } finally {
            if (count < 0) {
                isBroken = true;
                writing.release();
            }
        }
    }

    private CorruptionException givenUp() {
        return new CorruptionException(
                memory.name(), 0, "region", "whole", "given up in the middle of a change");
    }

    @Override
    public void verify(Consumer<String> wrong) {
        if (!mayVerify()) {
            wrong.accept(
                    Thread.currentThread().isInterrupted()
                            ? "it was not looked at: the thread was interrupted"
                            : "it is being written to all the while; verify once more");
            return;
        }
        try {
            RegionCheck.run(index, account, wrong);
        } catch (CorruptionException | StorageIoException damage) {
            wrong.accept(String.valueOf(damage.getMessage()));
        } finally {
            writing.release();
        }
    }

    private boolean mayVerify() {
        try {
            return writing.tryAcquire(VERIFY_WAIT_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private Counts count() {
        return new Counts(
                index.tree().entryCount(),
                index.validation().keyCount(),
                index.validation().staleKeyCount(),
                index.validation().staleBytes());
    }

    @Override
    public Reader reader() {
        return readers.take();
    }

    /** Finds secondary keys one by one. */
    private final class KeyReader implements Reader {
        private final PmSearch search = index.search();

        /** Made by the first look for keys: the newest of one are found without. */
        private @Nullable TreeCursor keys;

        /** Of those who had it before. */
        private Work workBefore = Work.NONE;

        @Override
        public boolean above(
                @Nullable Slice from,
                boolean inclusive,
                @Nullable Slice until,
                Moment moment,
                RegionEntries into) {
            EpochSession session = enter();
            try {
                TreeCursor keys = keys();
                keys.open(from, until, false);
                boolean found = keys.next();
                if (found && !inclusive && from != null && keys.key().contentEquals(from)) {
                    found = keys.next();
                }
                return found && give(keys.key(), moment, into);
            } finally {
                leave(session);
            }
        }

        @Override
        public boolean below(@Nullable Slice from, Moment moment, RegionEntries into) {
            EpochSession session = enter();
            try {
                TreeCursor keys = keys();
                keys.open(null, from, true);
                return keys.next() && give(keys.key(), moment, into);
            } finally {
                leave(session);
            }
        }

        private TreeCursor keys() {
            TreeCursor cursor = keys;
            if (cursor == null) {
                cursor = index.keys();
                keys = cursor;
            }
            return cursor;
        }

        @Override
        public boolean newest(
                Slice secondaryKey, Moment moment, long below, int countMax, RegionEntries into) {
            EpochSession session = enter();
            try {
                into.begin(secondaryKey);
                search.open(secondaryKey, moment.snapshot(), Math.min(moment.through(), below - 1));
                long last = -1;
                while (search.next()) {
                    if (into.count() >= countMax && search.timestamp() != last) {
                        return true;
                    }
                    last = search.timestamp();
                    into.add(search.primaryKey(), last, !search.needsPrimary());
                }
                return false;
            } finally {
                leave(session);
            }
        }

        @Override
        public Work work() {
            return allWork().since(workBefore);
        }

        private Work allWork() {
            return new Work(
                    search.groupsRead(),
                    search.entriesRead(),
                    search.staleCount(),
                    search.blocksRead());
        }

        private boolean give(Slice key, Moment moment, RegionEntries into) {
            into.begin(key);
            search.open(key, moment.snapshot(), moment.through());
            while (search.next()) {
                into.add(search.primaryKey(), search.timestamp(), !search.needsPrimary());
            }
            return true;
        }

        @Override
        public void close() {
            workBefore = allWork();
            readers.give(this);
        }
    }

    private EpochSession enter() {
        EpochSession session = takeSession();
        while (session == null) {
            if (sessionCount.get() < SESSION_COUNT_MAX
                    && sessionCount.incrementAndGet() <= SESSION_COUNT_MAX) {
                session = epochs.open(memory.name());
            } else {
                Thread.onSpinWait();
                session = takeSession();
            }
        }
        session.protect();
        return session;
    }

    private @Nullable EpochSession takeSession() {
        int home = home();
        for (int i = 0; i < SESSION_COUNT_MAX; i++) {
            int place = (home + i) % SESSION_COUNT_MAX;
            if (sessions.getPlain(place) != null) {
                EpochSession taken = sessions.getAndSet(place, null);
                if (taken != null) {
                    return taken;
                }
            }
        }
        return null;
    }

    private void leave(EpochSession session) {
        session.unprotect();
        int place = home();
        while (!sessions.compareAndSet(place, null, session)) {
            place = (place + 1) % SESSION_COUNT_MAX;
        }
    }

    /** Where a thread looks first: threads seldom meet there. */
    private static int home() {
        return (int) (Thread.currentThread().threadId() * HOME_DISTANCE % SESSION_COUNT_MAX);
    }

    /** Counts a few keys; of a range with more of them a third of all is taken. */
    @Override
    public long estimate(@Nullable Slice low, @Nullable Slice high) {
        if (low == null && high == null) {
            return entryCount();
        }
        EpochSession session = enter();
        try {
            TreeCursor keys = index.keys();
            PostingCursor postings = index.tree().postings();
            keys.open(low, high, false);
            long found = 0;
            for (int i = 0; i < KEY_COUNTED_MAX && found < ENTRY_COUNTED_MAX; i++) {
                if (!keys.next()) {
                    return found;
                }
                postings.open(keys.pointer());
                while (found < ENTRY_COUNTED_MAX && postings.next()) {
                    found++;
                }
            }
            boolean isAll = found < ENTRY_COUNTED_MAX && !keys.next();
            return isAll ? found : Math.max(found, entryCount() / 3);
        } finally {
            leave(session);
        }
    }

    @Override
    public long entryCount() {
        return counts.entries;
    }

    @Override
    public long byteSize() {
        return memory.byteSize();
    }

    @Override
    public Map<String, String> statistics() {
        Counts seen = counts;
        Map<String, String> statistics = new LinkedHashMap<>();
        statistics.put("mode", memory.mode().name().toLowerCase(Locale.ROOT));
        statistics.put("bytes", String.valueOf(memory.byteSize()));
        statistics.put("bytesMax", String.valueOf(index.region().spec().bytesMax()));
        statistics.put("pageBytes", String.valueOf(index.region().spec().pageBytes()));
        statistics.put("absorbedThrough", String.valueOf(absorbedThrough()));
        statistics.put("entries", String.valueOf(seen.entries));
        statistics.put("primaryKeys", String.valueOf(seen.keys));
        statistics.put("staleKeys", String.valueOf(seen.staleKeys));
        statistics.put("staleTableBytes", String.valueOf(seen.staleBytes));
        return statistics;
    }

    @Override
    public void close() {
        new Cleanup().add(index::close).add(memory::close).run();
    }
}
