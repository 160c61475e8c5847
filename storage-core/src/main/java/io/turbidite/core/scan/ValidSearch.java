package io.turbidite.core.scan;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.memory.Pool;

import org.jspecify.annotations.Nullable;

/**
 * The valid entries of an index in index order. If the index is always valid and there is no
 * filter, they come unchecked. Otherwise the search validates them batch by batch ({@link
 * ReadView#validate(int, IndexDescription, IndexSearch, CandidateBatch)}): by their timestamps,
 * without a look at the records (LUO19 §4.3, timestamp validation); or, for an always valid index,
 * by the records if the search skipped a layer that may hide them. The first batch is small, for a
 * reader who stops early; each further batch is four times as large as the one before. Where most
 * entries are certainly valid, they are shown where they lie, and only the others make a batch.
 *
 * <em>Confined to one thread.</em>
 */
public final class ValidSearch implements AutoCloseable {
    /** Most bytes of keys of a batch: as many as a core's caches can sort. */
    private static final int BATCH_BYTES = Math.max(256 << 10, 4 * Limits.KEY_BYTES_MAX);

    /** Of searches that were closed: a new batch grows with its keys. */
    private static final Pool<CandidateBatch> BATCHES =
            new Pool<>(() -> new CandidateBatch(BATCH_BYTES));

    private static final int FIRST_BATCH_COUNT = 64;
    private static final int BATCH_GROWTH = 4;

    /** Of entries that lie together, the part of which may be doubtful that are shown there. */
    private static final int CERTAIN_SHARE = 4;

    private final ReadView view;
    private final int partition;
    private final IndexDescription index;
    private final IndexSearch search;
    private final IndexCursor cursor;
    private final IndexEntries entries;
    /** Null if nothing is validated, or this is closed. */
    private @Nullable CandidateBatch batch;

    private final Slice secondaryKey = new Slice();
    private final Slice primaryKey = new Slice();
    private int batchCountMax;

    /** The entry of the batch at which the search stands; without a batch, that of the cursor. */
    private int at = -1;

    /** Entries that the cursor has moved over last. */
    private int entryCount;

    /** The first of these that is not in a batch yet. */
    private int nextEntry;

    /**
     * Whether it shows the entries that the cursor has moved over where they lie; the batch has
     * those that are not certain.
     */
    private boolean showsEntries;

    /** Of the batch then: the next one. */
    private int nextDoubtful;

    private long candidateCount;

    private ValidSearch(
            ReadView view,
            int partition,
            IndexDescription index,
            IndexSearch search,
            IndexCursor cursor,
            @Nullable CandidateBatch batch,
            int firstCount) {
        this.view = view;
        this.partition = partition;
        this.index = index;
        this.search = search;
        this.cursor = cursor;
        this.entries = cursor.entries();
        this.batch = batch;
        this.batchCountMax = firstCount;
    }

    /** Opens a search of one partition; parameters as of {@link ReadView#search}. */
    public static ValidSearch open(
            ReadView view,
            int partition,
            IndexDescription index,
            IndexSearch search,
            FilterPredicate filter) {
        return open(view, partition, index, search, filter, FIRST_BATCH_COUNT);
    }

    /**
     * As {@link #open(ReadView, int, IndexDescription, IndexSearch, FilterPredicate)}, for a reader
     * who knows how many he may want.
     *
     * @param firstCount most entries of the first batch, at least 1
     */
    public static ValidSearch open(
            ReadView view,
            int partition,
            IndexDescription index,
            IndexSearch search,
            FilterPredicate filter,
            int firstCount) {
        boolean asFound = index.alwaysValid() && filter.isNone();
        IndexCursor cursor = view.search(partition, index.name(), search, filter);
        CandidateBatch batch = asFound ? null : BATCHES.take();
        return new ValidSearch(view, partition, index, search, cursor, batch, firstCount);
    }

    /**
     * In a search for the newest: begins anew, with the newest valid entries of another secondary
     * key. For whoever asks one question after the other: it makes no garbage.
     *
     * @param otherKey encoded; copied
     * @param firstCount as of {@link #open(ReadView, int, IndexDescription, IndexSearch,
     *     FilterPredicate, int)}
     * @throws InvalidRequestException if it is not a search for the newest: it goes on as before
     */
    public void restart(Slice otherKey, int firstCount) {
        if (!cursor.restart(otherKey)) {
            throw new InvalidRequestException(
                    "a search of index '%s' for anything but the newest entries of a key begins once"
                            .formatted(index.name()));
        }
        CandidateBatch candidates = batch;
        if (candidates != null) {
            candidates.clear();
        }
        at = -1;
        nextEntry = 0;
        entryCount = 0;
        showsEntries = false;
        batchCountMax = firstCount;
    }

    /** Moves to the next valid entry; false when there is none left. */
    public boolean next() {
        CandidateBatch candidates = batch;
        if (candidates == null) {
            if (++at >= entryCount) {
                entryCount = cursor.nextEntries(Integer.MAX_VALUE);
                at = 0;
            }
            candidateCount += entryCount > 0 ? 1 : 0;
            return entryCount > 0;
        }
        do {
            int count = showsEntries ? entryCount : candidates.size();
            while (++at < count) {
                if (showsEntries ? isShown(candidates) : candidates.isValid(at)) {
                    return true;
                }
            }
        } while (fill(candidates));
        return false;
    }

    private boolean isShown(CandidateBatch candidates) {
        return isCertain(at) || candidates.isValid(nextDoubtful++);
    }

    private boolean isCertain(int entry) {
        return entries.checkedUntil(entry) == Long.MAX_VALUE;
    }

    private boolean fill(CandidateBatch candidates) {
        candidates.clear();
        at = -1;
        showsEntries = false;
        if (!isOnEntry(batchCountMax)) {
            return false;
        }
        showsEntries = nextEntry == 0 && areMostCertain() && fillByDoubtful(candidates);
        if (!showsEntries) {
            fillByAll(candidates);
        }
        batchCountMax = (int) Math.min(Integer.MAX_VALUE, (long) batchCountMax * BATCH_GROWTH);
        if (candidates.size() > 0) {
            view.validate(partition, index, search, candidates);
        }
        return true;
    }

    private boolean areMostCertain() {
        int doubtful = 0;
        for (int i = 0; i < entryCount; i++) {
            doubtful += isCertain(i) ? 0 : 1;
        }
        return doubtful * CERTAIN_SHARE <= entryCount;
    }

    /** False, and nothing has changed, if they are too many for a batch. */
    private boolean fillByDoubtful(CandidateBatch candidates) {
        int count = entryCount;
        for (int i = 0; i < count; i++) {
            if (!isCertain(i) && !candidates.add(entries, i)) {
                candidates.clear();
                return false;
            }
        }
        nextDoubtful = 0;
        nextEntry = count;
        candidateCount += count;
        return true;
    }

    private void fillByAll(CandidateBatch candidates) {
        while (candidates.size() < batchCountMax && isOnEntry(batchCountMax - candidates.size())) {
            if (nextEntry == 0 && candidates.size() > 0 && areMostCertain()) {
                break;
            }
            if (!candidates.add(entries, nextEntry)) {
                assert candidates.size() > 0 : "a batch holds one longest key";
                break;
            }
            nextEntry++;
        }
        candidateCount += candidates.size();
    }

    private boolean isOnEntry(int countMax) {
        if (nextEntry == entryCount) {
            nextEntry = 0;
            entryCount = 0; // should the move fail
            entryCount = cursor.nextEntries(countMax);
        }
        return nextEntry < entryCount;
    }

    /** The encoded secondary key, without the primary key behind it; valid until it moves. */
    public Slice secondaryKey() {
        return batch == null || showsEntries
                ? entries.secondaryKey(at, secondaryKey)
                : batch.secondaryKey(at, secondaryKey);
    }

    /** The encoded primary key; valid until it moves. */
    public Slice primaryKey() {
        return batch == null || showsEntries
                ? entries.primaryKey(at, primaryKey)
                : batch.primaryKey(at, primaryKey);
    }

    /** The timestamp of the operation that wrote the entry. */
    public long timestamp() {
        return batch == null || showsEntries ? entries.timestamp(at) : batch.timestamp(at);
    }

    /** Entries that the index has returned so far, valid or not. */
    public long candidateCount() {
        return candidateCount;
    }

    /** What a search for a window took so far. */
    public SearchWork work() {
        return cursor.work();
    }

    /** The layers that the search considered so far. */
    public LayerWork layers() {
        return cursor.layers();
    }

    @Override
    public void close() {
        CandidateBatch used = batch;
        if (used != null) {
            batch = null;
            entryCount = 0;
            nextEntry = 0;
            if (used.isWorthKeeping()) {
                used.clear();
                BATCHES.give(used);
            }
        }
        cursor.close();
    }
}
