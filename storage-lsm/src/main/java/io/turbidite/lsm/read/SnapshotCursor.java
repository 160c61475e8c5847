package io.turbidite.lsm.read;

import io.turbidite.core.CacheFullException;
import io.turbidite.core.ClosedException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.memory.Pool;
import io.turbidite.core.scan.IndexSearch;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.LayerWork;
import io.turbidite.core.scan.RecordRun;
import io.turbidite.lsm.entry.EntryBatch;
import io.turbidite.lsm.entry.EntryCursor;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.partition.VersionLease;
import io.turbidite.lsm.partition.ViewState;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.schema.TreeId;
import io.turbidite.lsm.version.Version;

import org.jspecify.annotations.Nullable;

/**
 * A cursor over what a snapshot shows of one tree of a partition, in a range and in both
 * directions, with layers skipped that the filter rules out.
 *
 * <p>It holds a version by a {@link VersionLease}, which may be taken from it while it is idle; a
 * busy one lets go of an old version by itself once in a while (D3). Either way it opens the layers
 * of the newest version at the next move and goes on from its place, which is a key. So the entry
 * it stands on must outlive its layer: what lies in a memory component is copied; a page stays
 * pinned in the cache, even of a closed file, until the cursor moves.
 *
 * <p><em>Confined to one thread</em>, but for {@link #close()}. Of two threads that use it all the
 * same, each call is done as if it were alone; which entry they are shown is not promised.
 */
final class SnapshotCursor implements AutoCloseable {
    /**
     * Moves between two looks at whether the pinned version is old: a look is one volatile read.
     */
    private static final int REPIN_INTERVAL = 1_024;

    /** Entries of the first batch, and how much larger each further one is. */
    private static final int BATCH_MIN = 4;

    private static final int BATCH_GROWTH = 4;

    /** What a cursor finds in a batch before it goes on to the next one instead of seeking. */
    private static final int DENSE_COUNT = 2;

    /** Of cursors that were closed. */
    private static final Pool<EntryBatch> BATCHES = new Pool<>(EntryBatch::new);

    private static final Slice LOWEST = Slice.of(new byte[0]);

    /** Where it stands. */
    private enum Place {
        START,
        /** Before the first entry at or above {@link SnapshotCursor#placeKey}. */
        GAP,
        ENTRY,
        END,
        /** A move threw. */
        LOST
    }

    private final Partition partition;
    private final TreeId tree;
    private final boolean isPrimary;
    private final ViewState view;
    private final KeyRange range;
    private final ScanBounds bounds;
    private final VersionLease hold;
    private final LayerCount layers = new LayerCount();

    private Place place = Place.START;

    /** Made when it is first in a gap: most cursors begin at a start and go to their end. */
    private @Nullable ByteSink placeKey;

    private final Slice placeSlice = new Slice();

    private @Nullable EntryCursor live;

    /** Whether the open layers stand at the place. */
    private boolean isThere;

    /**
     * Whether layers pass over pages when they go forward. Then they may stand far behind the
     * place, with entries before them that come after it.
     */
    private final boolean passesOver;

    private boolean wentForward;

    /** Whether entries are taken out of the layers together: not in the primary. */
    private final boolean readsAhead;

    /** The entries that were taken last; made when the first are. */
    private @Nullable EntryBatch batch;

    /**
     * Whether the place is on an entry of the batch, or before one. Then the layers, if they are
     * {@link #isThere}, stand behind the last of the batch.
     */
    private boolean isInBatch;

    /** The entry of the batch that it stands on, or the one before the gap. */
    private int at;

    /** Whether nothing in the range is behind the batch. */
    private boolean isLastBatch;

    private int batchEntries = BATCH_MIN;

    /** How many entries of the batch were found by seeking forward. */
    private int foundInBatch;

    private final RunsAhead runs;

    private int untilLook = REPIN_INTERVAL;
    private long visitedCount;

    /** Pages that layers went to which are closed. */
    private long pagesBefore;

    /**
     * Set when it is asked for in the primary, whose records hold their keys: most scans never do.
     * The pages that it is on stay until the layers are closed.
     */
    private final Slice key = new Slice();

    private boolean keyIsShown;
    private final Slice value = new Slice();
    private long timestamp;
    private long checkedUntil;
    private @Nullable ByteSink copy;

    SnapshotCursor(Partition partition, TreeId tree, ViewState view, ScanBounds bounds) {
        this.partition = partition;
        this.tree = tree;
        this.isPrimary = tree.isPrimary();
        this.view = view;
        this.range = bounds.keys();
        this.bounds = bounds;
        this.readsAhead = !isPrimary && !(bounds.spatial() instanceof IndexSearch.Nearest);
        this.passesOver = isPrimary && !bounds.filter().isNone();
        this.hold = new VersionLease(partition, view, this::release);
        this.runs = new RunsAhead(range.high());
    }

    boolean next() {
        return move(true);
    }

    boolean previous() {
        return move(false);
    }

    /**
     * Moves over the next entries, as many as are at hand, and stands on the last of them.
     *
     * @return how many; 0 at the end
     */
    int nextEntries(int countMax) {
        hold.enter();
        try {
            if (!moveOrLose(true)) {
                return 0;
            }
            int more = isInBatch ? Math.min(countMax, batch().count() - at) - 1 : 0;
            if (more > 0) {
                standInBatch(at + more);
                visitedCount += more - 1;
            }
            return more + 1;
        } finally {
            hold.leave();
        }
    }

    /** Where the entry lies that it stands on; null if it was not taken with others. */
    @Nullable
    EntryBatch batchOfEntry() {
        return isInBatch ? batch : null;
    }

    int placeInBatch() {
        return at;
    }

    /**
     * Moves to the next entry, and over those behind it that lie in the same page and are at hand;
     * stands on the last of them. For the primary, whose records stay where they are until it
     * moves.
     *
     * @param run is filled with their values
     */
    boolean nextRun(RecordRun run) {
        hold.enter();
        try {
            return moveOrLose(true, run);
        } finally {
            hold.leave();
        }
    }

    /** Inside, on the first entry of a run. */
    private void extend(RecordRun run) {
        run.begin(value);
        EntryCursor cursor = live;
        if (cursor != null && isPrimary) {
            int more = runs.extend(run, cursor);
            if (more > 0) {
                visitedCount += more;
                untilLook -= more;
                show(cursor);
            }
        }
    }

    /** Stands before the first entry in the range that is at or above {@code target}. */
    void seek(Slice target) {
        hold.enter();
        try {
            seekInside(target);
        } finally {
            hold.leave();
        }
    }

    private void seekInside(Slice target) {
        if (isInBatch && seekInBatch(target)) {
            place = Place.GAP;
            return;
        }
        Slice low = range.low();
        Slice high = range.high();
        if (low != null && target.compareBytes(low) < 0) {
            stand(Place.START);
        } else if (high != null && target.compareBytes(high) >= 0) {
            stand(Place.END);
        } else {
            placeKey().clear().putBytes(target);
            stand(Place.GAP);
        }
    }

    /** As {@link #seekInside}, if the place is before an entry of the batch. */
    private boolean seekInBatch(Slice target) {
        EntryBatch entries = batch();
        int last = entries.count() - 1;
        if (entries.compareKey(last, target) < 0 || entries.compareKey(0, target) > 0) {
            return false;
        }
        at = entries.lowerBound(target, Math.max(0, at)) - 1;
        return true;
    }

    /**
     * Moves to the first entry in the range that is at or above {@code target}, which is behind the
     * place: as a seek and a move, and sooner where the entry is near.
     */
    boolean nextFrom(Slice target) {
        hold.enter();
        try {
            while (isInBatch) {
                EntryBatch entries = batch();
                int found = entries.lowerBound(target, Math.max(0, at));
                if (found < entries.count()) {
                    foundInBatch++;
                    standInBatch(found);
                    return true;
                }
                if (isLastBatch || foundInBatch < DENSE_COUNT) {
                    break;
                }
                standInBatch(found - 1);
                if (!moveOrLose(true)) {
                    return false;
                }
            }
            seekInside(target);
            return moveOrLose(true);
        } finally {
            hold.leave();
        }
    }

    void seekEnd() {
        hold.enter();
        try {
            stand(Place.END);
        } finally {
            hold.leave();
        }
    }

    /**
     * Inside, as all that changes the place: of two threads at once one waits for the other's move.
     */
    private void stand(Place newPlace) {
        place = newPlace;
        isThere = false;
        isInBatch = false;
        batchEntries = BATCH_MIN;
    }

    /** Checks that neither it nor its view is closed. */
    void checkOpen() {
        view.checkOpen();
        if (hold.isClosed()) {
            throw new ClosedException("the cursor");
        }
    }

    private boolean move(boolean forward) {
        hold.enter();
        try {
            return moveOrLose(forward);
        } finally {
            hold.leave();
        }
    }

    private boolean moveOrLose(boolean forward) {
        return moveOrLose(forward, null);
    }

    /**
     * Inside. A move that throws loses the place, or stays where it can be made again.
     *
     * @param run is filled from the entry on; null if that entry alone is wanted
     */
    private boolean moveOrLose(boolean forward, @Nullable RecordRun run) {
        Place before = place;
        boolean done = false;
        boolean mayTryAgain = false;
        try {
            boolean found = moveInside(forward);
            if (found && run != null) {
                extend(run);
            }
            done = true;
            return found;
        } catch (CacheFullException full) {
            // from a place that is a key, or an end, the same move can be made again
            mayTryAgain = before != Place.ENTRY;
            throw full;
        } finally {
            if (!done) {
                // pages that others wait for, perhaps
                closeLayers();
                stand(mayTryAgain ? before : Place.LOST);
            }
        }
    }

    private boolean moveInside(boolean forward) {
        if (place == (forward ? Place.END : Place.START)) {
            return false;
        }
        if (readsAhead && forward) {
            return nextInBatch();
        }
        if (isInBatch && previousInBatch()) {
            return true;
        }
        if (passesOver && wentForward && !forward && isThere) {
            leaveLayers();
        }
        EntryCursor cursor = layersAtPlace(forward);
        wentForward = forward;
        if (forward ? !cursor.next() : !cursor.previous()) {
            place = forward ? Place.END : Place.START;
            return false;
        }
        Slice bound = forward ? range.high() : range.low();
        if (bound != null && (cursor.key().compareBytes(bound) < 0) != forward) {
            place = forward ? Place.END : Place.START;
            return false;
        }
        place = Place.ENTRY;
        visitedCount++;
        show(cursor);
        return true;
    }

    /** The next move seeks the place anew. */
    private void leaveLayers() {
        if (place == Place.ENTRY) {
            showKey();
            placeKey().clear().putBytes(key);
            place = Place.GAP;
        }
        isThere = false;
    }

    private boolean nextInBatch() {
        int next = at + 1;
        if (!isInBatch || next >= batch().count()) {
            if ((isInBatch && isLastBatch) || !fillBatch()) {
                stand(Place.END);
                return false;
            }
            next = 0;
        }
        standInBatch(next);
        return true;
    }

    /** Takes the next entries in the range out of the layers; false if there are none. */
    private boolean fillBatch() {
        EntryCursor cursor = layersAtPlace(true);
        EntryBatch entries = batch();
        isInBatch = false;
        entries.clear();
        if (!cursor.fill(entries, batchEntries)) {
            return false;
        }
        untilLook -= entries.count();
        batchEntries = Math.min(EntryBatch.ENTRIES_MAX, batchEntries * BATCH_GROWTH);
        foundInBatch = 0;
        Slice high = range.high();
        isLastBatch = high != null && entries.compareKey(entries.count() - 1, high) >= 0;
        if (high != null && isLastBatch) {
            entries.truncate(entries.lowerBound(high, 0));
        }
        isInBatch = entries.count() > 0;
        return isInBatch;
    }

    private void standInBatch(int entry) {
        EntryBatch entries = batch();
        at = entry;
        place = Place.ENTRY;
        visitedCount++;
        entries.key(entry, key);
        keyIsShown = true;
        timestamp = entries.timestamp(entry);
        checkedUntil = entries.checkedUntil(entry);
    }

    /** Moves back in the batch; false, and stands before it, if its first entry is passed. */
    private boolean previousInBatch() {
        int before = place == Place.ENTRY ? at - 1 : at;
        if (before >= 0) {
            standInBatch(before);
            return true;
        }
        placeKey().clear().putBytes(batch().key(0, placeSlice));
        stand(Place.GAP);
        return false;
    }

    private EntryBatch batch() {
        EntryBatch entries = batch;
        if (entries == null) {
            entries = BATCHES.take();
            batch = entries;
        }
        return entries;
    }

    private void show(EntryCursor cursor) {
        timestamp = cursor.timestamp();
        if (cursor.isInMemory()) {
            showCopy(cursor);
            return;
        }
        value.set(cursor.value());
        keyIsShown = !isPrimary;
        if (!isPrimary) {
            key.set(cursor.key());
            checkedUntil = cursor.checkedUntil();
        }
    }

    /** What lies in memory may be gone before the cursor moves again. */
    private void showCopy(EntryCursor cursor) {
        checkedUntil = cursor.checkedUntil();
        Slice found = cursor.key();
        ByteSink target = copy;
        if (target == null) {
            target = new ByteSink(256, 64 * Limits.KEY_BYTES_MAX + Limits.RECORD_BYTES_MAX);
            copy = target;
        }
        target.clear().putBytes(found);
        int keyLength = target.length();
        target.putBytes(cursor.value());
        key.set(target.segment(), 0, keyLength);
        value.set(target.segment(), keyLength, target.length() - keyLength);
        keyIsShown = true;
    }

    /** Puts the key of the current entry together if that was left for now; inside. */
    private void showKey() {
        EntryCursor cursor = live;
        if (!keyIsShown && cursor != null) {
            key.set(cursor.key());
            keyIsShown = true;
        }
    }

    /** The layers of a version that is new enough, standing at the place. */
    private EntryCursor layersAtPlace(boolean forward) {
        Version version = hold.version();
        if (--untilLook <= 0) {
            untilLook = REPIN_INTERVAL;
            if (version != null && !partition.isCurrent(version)) {
                version = null;
            }
        }
        EntryCursor cursor = live;
        if (version == null || cursor == null) {
            cursor = openLayers(forward);
        }
        if (!isThere) {
            goToPlace(cursor);
            isThere = true;
        }
        return cursor;
    }

    private EntryCursor openLayers(boolean forward) {
        if (place == Place.ENTRY) {
            showKey();
            // the smallest key above k is k with a zero byte behind it
            ByteSink next = placeKey().clear().putBytes(key);
            if (forward) {
                next.putByte(0);
            }
            place = Place.GAP;
        }
        closeLayers();
        Version version = hold.pin();
        if (!version.hasTree(tree) && version.region(tree) == null) {
            throw goneIndex(version.schema());
        }
        EntryCursor cursor =
                new MergedLayers(version, tree, bounds, view.timestamp(), layers).cursor();
        live = cursor;
        layers.end(partition, tree, bounds.filter());
        return cursor;
    }

    /** What a search is told whose index was dropped or disabled: to ask again helps. */
    static InvalidRequestException goneIndex(DatasetSchema schema) {
        return new InvalidRequestException(
                "the index that was to be searched is no more in %s; the same query takes another way when it is run again"
                        .formatted(schema.name()));
    }

    private ByteSink placeKey() {
        ByteSink sink = placeKey;
        if (sink == null) {
            sink = new ByteSink(64, 64 * Limits.KEY_BYTES_MAX);
            placeKey = sink;
        }
        return sink;
    }

    private void goToPlace(EntryCursor cursor) {
        Slice low = range.low();
        Slice high = range.high();
        switch (place) {
            case START -> cursor.seek(low == null ? LOWEST : low);
            case GAP -> cursor.seek(placeKey().asSlice(placeSlice));
            case END -> {
                if (high == null) {
                    cursor.seekEnd();
                } else {
                    cursor.seek(high);
                }
            }
            case ENTRY -> throw new AssertionError("the layers stand on the entry");
            case LOST ->
                throw new IllegalStateException(
                        "a move of the cursor has failed: seek before it is moved again");
        }
    }

    Slice key() {
        checkOnEntry();
        if (!keyIsShown) {
            hold.enter();
            try {
                checkOnEntry(); // another thread may have moved it
                showKey();
            } finally {
                hold.leave();
            }
        }
        return key;
    }

    Slice value() {
        checkOnEntry();
        return value;
    }

    long timestamp() {
        checkOnEntry();
        return timestamp;
    }

    long checkedUntil() {
        checkOnEntry();
        return checkedUntil;
    }

    private void checkOnEntry() {
        if (place != Place.ENTRY || hold.isClosed()) {
            checkOpen();
            throw new IllegalStateException("the cursor stands on no entry");
        }
    }

    long visitedCount() {
        return visitedCount;
    }

    /** The layers that the first version had, and the pages of all. */
    LayerWork layers() {
        EntryCursor cursor = live;
        return layers.work(cursor == null ? pagesBefore : pagesBefore + cursor.pageCount());
    }

    @Override
    public void close() {
        hold.close();
    }

    private void release() {
        EntryBatch entries = batch;
        batch = null;
        isInBatch = false;
        if (entries != null) {
            BATCHES.give(entries);
        }
        closeLayers();
    }

    private void closeLayers() {
        EntryCursor cursor = live;
        live = null;
        isThere = false;
        if (cursor != null) {
            pagesBefore += cursor.pageCount();
            cursor.close();
        }
    }
}
