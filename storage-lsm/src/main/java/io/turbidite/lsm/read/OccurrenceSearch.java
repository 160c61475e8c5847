package io.turbidite.lsm.read;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.index.EntryKeys;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.IndexCursor;
import io.turbidite.core.scan.SearchWork;
import io.turbidite.core.scan.TermSearch;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.partition.ViewState;
import io.turbidite.lsm.rtree.WindowWork;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.schema.Maintenance;

import java.util.Arrays;
import java.util.Comparator;
import java.util.PriorityQueue;

/**
 * The records that have at least T of some terms: MergeSkip (Li, Lu, Lu: Efficient merging and
 * filtering algorithms for approximate string searches, ICDE 2008).
 *
 * <p>The terms' lists stand in a heap by their primary keys. Those at the smallest key are counted.
 * If they are too few, as many more are taken as leave one short of T: no key below the next one in
 * the heap can be in T lists, so all of them leap there.
 *
 * <p>Where each version of a record has put its entries, only those of the newest one count: the
 * other versions are gone. <em>Confined to one thread.</em>
 */
final class OccurrenceSearch implements IndexCursor {
    private enum Heap {
        NONE,
        UPWARDS,
        DOWNWARDS
    }

    private enum Place {
        /** Before the first record at or above {@link OccurrenceSearch#placeKey}. */
        GAP,
        RECORD,
        END
    }

    private final Partition partition;
    private final IndexSchema index;
    private final EntryKeys entryKeys;
    private final Postings[] postings;
    private final int least;

    /** Whether no layer is passed over, and none can show what another one hides. */
    private final boolean isExact;

    /** Whether the entries of one version of a record have its timestamp. */
    private final boolean hasTimestampOfVersion;

    /** The term that records are shown under. */
    private final Slice shown;

    private Place place = Place.GAP;
    private final ByteSink placeBytes = new ByteSink(64, Integer.MAX_VALUE - 8);
    private final Slice placeKey = new Slice();
    private long timestamp;
    private long checkedUntil;

    /** The lists on the way to the next record. */
    private final PriorityQueue<Postings> upwards;

    /** The lists on the way to the previous record. */
    private final PriorityQueue<Postings> downwards;

    /** Those that were taken out of the heap and not yet moved. */
    private final Postings[] taken;

    private int takenCount;
    private final ByteSink leapBytes = new ByteSink(64, Integer.MAX_VALUE - 8);
    private final Slice leapKey = new Slice();

    /** The one that is in use; none where the lists have to be placed first. */
    private Heap heap = Heap.NONE;

    private long entryCount;
    private boolean isCounted;

    OccurrenceSearch(
            Partition partition,
            IndexSchema index,
            ViewState view,
            TermSearch search,
            FilterPredicate filter) {
        this.partition = partition;
        this.index = index;
        this.entryKeys = index.entryKeys();
        this.least = search.least();
        boolean isEager = index.maintenance() == Maintenance.EAGER;
        this.isExact = isEager && filter.isNone();
        this.hasTimestampOfVersion = !isEager;
        this.shown = Slice.of(search.secondaryKey(0));
        if (!index.maintenance().isValidWhenFound()) {
            view.searching(index.id(), false);
        }
        this.postings = new Postings[search.terms().size()];
        this.taken = new Postings[postings.length];
        for (int i = 0; i < postings.length; i++) {
            ScanBounds bounds = ScanBounds.ofToken(search.entries(i), filter);
            postings[i] = new Postings(
                    search.secondaryKey(i),
                    bounds.work(),
                    new SnapshotCursor(partition, index.tree(), view, bounds));
        }
        Comparator<Postings> order = (a, b) -> a.found.compareBytes(b.found);
        this.upwards = new PriorityQueue<>(postings.length, order);
        this.downwards = new PriorityQueue<>(postings.length, order.reversed());
    }

    /** The entries of a term. */
    private final class Postings {
        /** Entries passed one by one before a seek: they are near, mostly on the same page. */
        private static final int STEPS_MAX = 8;

        private final byte[] term;
        private final WindowWork work;
        private final SnapshotCursor entries;
        private final ByteSink target = new ByteSink(64, Integer.MAX_VALUE - 8);
        private final Slice targetKey = new Slice();

        /** The primary key of the entry. */
        private final Slice found = new Slice();

        Postings(byte[] term, WindowWork work, SnapshotCursor entries) {
            this.term = term;
            this.work = work;
            this.entries = entries;
        }

        boolean next() {
            return shown(entries.next());
        }

        boolean previous() {
            return shown(entries.previous());
        }

        private boolean shown(boolean isOnEntry) {
            if (isOnEntry) {
                entryCount++;
                entryKeys.primaryKey(entries.key(), found);
            }
            return isOnEntry;
        }

        /** Stands before the first entry at or above a primary key. */
        void seek(Slice primaryKey) {
            target.clear().putBytes(term).putBytes(primaryKey);
            entries.seek(target.asSlice(targetKey));
        }

        /** From an entry to the first one at or above a primary key. */
        boolean leap(Slice primaryKey) {
            for (int step = 0; step < STEPS_MAX; step++) {
                if (!next()) {
                    return false;
                }
                if (found.compareBytes(primaryKey) >= 0) {
                    return true;
                }
            }
            seek(primaryKey);
            return next();
        }
    }

    @Override
    public boolean next() {
        if (place == Place.END) {
            return false;
        }
        boolean isPlaced = heap == Heap.UPWARDS;
        heap = Heap.NONE; // until the lists have moved: a move may throw
        PriorityQueue<Postings> lists = isPlaced ? upwards : placed(true);
        moveTaken(lists, true);
        while (lists.size() >= least) {
            if (count(lists)) {
                heap = Heap.UPWARDS;
                return true;
            }
            if (takenCount >= least) {
                moveTaken(lists, true);
                continue;
            }
            while (takenCount < least - 1) {
                taken[takenCount++] = lists.remove();
            }
            leapTaken(lists, lists.element());
        }
        stand(Place.END);
        return false;
    }

    /** The taken ones go to the first key that may be in enough lists. */
    private void leapTaken(PriorityQueue<Postings> lists, Postings ahead) {
        Slice target = leapBytes.clear().putBytes(ahead.found).asSlice(leapKey);
        int count = takenCount;
        takenCount = 0;
        for (int i = 0; i < count; i++) {
            Postings list = taken[i];
            boolean isThere = list.found.compareBytes(target) >= 0;
            if (isThere || list.leap(target)) {
                lists.add(list);
            }
        }
    }

    @Override
    public boolean restart(Slice otherKey) {
        postings[0].entries.checkOpen();
        return false;
    }

    @Override
    public boolean previous() {
        if (place == Place.GAP && placeBytes.length() == 0) {
            return false;
        }
        boolean isPlaced = heap == Heap.DOWNWARDS;
        heap = Heap.NONE;
        PriorityQueue<Postings> lists = isPlaced ? downwards : placed(false);
        moveTaken(lists, false);
        while (lists.size() >= least) {
            if (count(lists)) {
                heap = Heap.DOWNWARDS;
                return true;
            }
            moveTaken(lists, false);
        }
        placeBytes.clear();
        stand(Place.GAP);
        return false;
    }

    /** Takes the lists at the first key of the heap; whether they are enough for a record. */
    private boolean count(PriorityQueue<Postings> lists) {
        Postings first = lists.remove();
        taken[0] = first;
        takenCount = 1;
        long newest = first.entries.timestamp();
        while (!lists.isEmpty() && lists.element().found.contentEquals(first.found)) {
            Postings other = lists.remove();
            taken[takenCount++] = other;
            newest = Math.max(newest, other.entries.timestamp());
        }
        int matching = 0;
        long until = Long.MAX_VALUE;
        for (int i = 0; i < takenCount; i++) {
            SnapshotCursor entries = taken[i].entries;
            if (!hasTimestampOfVersion || entries.timestamp() == newest) {
                matching++;
                until = Math.min(until, entries.checkedUntil());
            }
        }
        if (matching < least) {
            return false;
        }
        placeBytes.clear().putBytes(first.found).asSlice(placeKey);
        place = Place.RECORD;
        timestamp = newest;
        checkedUntil = isExact ? Long.MAX_VALUE : until;
        return true;
    }

    private void moveTaken(PriorityQueue<Postings> lists, boolean forward) {
        int count = takenCount;
        takenCount = 0;
        for (int i = 0; i < count; i++) {
            if (forward ? taken[i].next() : taken[i].previous()) {
                lists.add(taken[i]);
            }
        }
    }

    /** Puts all lists before or behind the place. */
    private PriorityQueue<Postings> placed(boolean forward) {
        PriorityQueue<Postings> lists = forward ? upwards : downwards;
        lists.clear();
        takenCount = 0;
        Slice from = placeBytes.asSlice(placeKey);
        for (Postings list : postings) {
            if (place == Place.END) {
                list.entries.seekEnd();
            } else {
                list.seek(from);
            }
            boolean found = forward ? list.next() : list.previous();
            if (found && forward && place == Place.RECORD && list.found.contentEquals(from)) {
                found = list.next();
            }
            if (found) {
                lists.add(list);
            }
        }
        return lists;
    }

    private void stand(Place newPlace) {
        place = newPlace;
        heap = Heap.NONE;
        takenCount = 0;
    }

    @Override
    public void seek(Slice key) {
        placeBytes.clear();
        int common = Math.min(key.length(), shown.length());
        int order = new Slice()
                .set(key.segment(), key.offset(), common)
                .compareBytes(new Slice().set(shown.segment(), shown.offset(), common));
        if (order == 0 && key.length() > shown.length()) {
            placeBytes.putBytes(key.segment(), key.offset() + common, key.length() - common);
        }
        stand(order > 0 ? Place.END : Place.GAP);
    }

    @Override
    public void seekEnd() {
        stand(Place.END);
    }

    @Override
    public Slice secondaryKey() {
        checkOnRecord();
        return shown;
    }

    @Override
    public Slice primaryKey() {
        checkOnRecord();
        return placeKey;
    }

    @Override
    public long timestamp() {
        checkOnRecord();
        return timestamp;
    }

    @Override
    public long checkedUntil() {
        checkOnRecord();
        return checkedUntil;
    }

    @Override
    public SearchWork work() {
        SearchWork all = SearchWork.NONE;
        for (Postings list : postings) {
            all = all.plus(list.work.counted());
        }
        return all;
    }

    private void checkOnRecord() {
        if (place != Place.RECORD) {
            throw new IllegalStateException("the cursor stands on no entry");
        }
    }

    @Override
    public void close() {
        if (!isCounted) {
            isCounted = true;
            partition.work().searched(index.id(), 1, entryCount);
            TokenMeter.add(partition, index, work());
        }
        Arrays.stream(postings).forEach(list -> list.entries.close());
    }
}
