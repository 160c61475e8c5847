package io.turbidite.lsm.read;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.geo.KeyLengths;
import io.turbidite.core.index.EntryKeys;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.IndexCursor;
import io.turbidite.core.scan.IndexDescription;
import io.turbidite.core.scan.IndexEntries;
import io.turbidite.core.scan.IndexSearch;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.LayerWork;
import io.turbidite.core.scan.SearchWork;
import io.turbidite.core.scan.TermSearch;
import io.turbidite.lsm.entry.EntryBatch;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.partition.ViewState;
import io.turbidite.lsm.rtree.WindowWork;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.schema.Maintenance;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;

/**
 * The live entries of a secondary index that a search asks for.
 *
 * <p>Of several terms the rarest leads; the others say which of its records they have too (a
 * leapfrog over sorted primary keys). Where each version of a record has put its entries, they must
 * be of one version: entries with different timestamps are not both current.
 *
 * <p><em>Confined to one thread.</em>
 */
final class PartitionSearch implements IndexCursor {
    /**
     * How often it looks for entries that are left before it shows some that are not: the reader is
     * to see now and then whether he should stop.
     */
    private static final int ROUNDS_MAX = 32;

    private final SnapshotCursor stack;

    /** The other terms. */
    private final Follower[] followers;

    private final Partition partition;
    private final IndexSchema index;
    private final EntryKeys entryKeys;
    private final Slice secondaryKey = new Slice();
    private final Slice primaryKey = new Slice();
    private final Together together = new Together();

    /** Bytes of each entry's secondary key; -1 if they differ. */
    private final int secondaryBytes;

    /** Of the points or rectangles in front of primary keys; null of other keys. */
    private final @Nullable KeyLengths lengths;

    private final WindowWork work;

    /** In front of an entry's key, if neighbours are asked for: how far it is. */
    private final int headBytes;

    private final Slice entryKey = new Slice();
    private double distance = Double.NaN;

    /**
     * The move that failed before the other terms had said whether they have the leader's record:
     * the same move, made again, asks them about this record first.
     */
    private Failed failed = Failed.NONE;

    private long entryCount;
    private boolean isCounted;

    /** Whether no layer is passed over, and none can show what another one hides. */
    private final boolean isExact;

    /** Whether entries that are shown together are decided by what is known of live versions. */
    private final boolean isChecked;

    private final ViewState view;

    /** Whether the entries of one version of a record have its timestamp. */
    private final boolean hasTimestampOfVersion;

    /**
     * @param bounds of one search, or of one for each term
     * @param isOfTerms whether all entries of a bound have the lowest key as their secondary key
     */
    private PartitionSearch(
            Partition partition,
            IndexSchema index,
            ViewState view,
            List<ScanBounds> bounds,
            boolean isOfTerms) {
        this.partition = partition;
        this.index = index;
        this.entryKeys = index.entryKeys();
        boolean isEager = index.maintenance() == Maintenance.EAGER;
        this.isExact = isEager && bounds.getFirst().filter().isNone();
        this.hasTimestampOfVersion = !isEager;
        Slice low = bounds.getFirst().keys().low();
        this.secondaryBytes = isOfTerms && low != null ? low.length() : -1;
        IndexSearch.Spatial spatial = bounds.getFirst().spatial();
        this.lengths = spatial == null ? null : new KeyLengths(spatial.kind());
        this.work = bounds.getFirst().work();
        this.headBytes = spatial instanceof IndexSearch.Nearest ? ScanBounds.DISTANCE_BYTES : 0;
        this.isChecked = !index.maintenance().isValidWhenFound() && !partition.hasLiveBitmaps();
        if (!index.maintenance().isValidWhenFound()) {
            boolean isTogether = bounds.size() == 1 && headBytes == 0;
            view.searching(index.id(), isChecked && isTogether);
        }
        this.view = view;
        this.stack = cursor(view, bounds.getFirst());
        this.followers = bounds.stream()
                .skip(1)
                .map(term -> new Follower(term.keys(), term.work(), cursor(view, term)))
                .toArray(Follower[]::new);
    }

    /**
     * Opens a search.
     *
     * @throws InvalidRequestException if the index is not of a kind that answers it
     */
    static IndexCursor open(
            Partition partition,
            IndexSchema index,
            ViewState view,
            IndexSearch search,
            FilterPredicate filter) {
        return switch (search) {
            case KeyRange range ->
                new PartitionSearch(
                        partition, index, view, List.of(new ScanBounds(range, filter)), false);
            case IndexSearch.Spatial spatial -> {
                index.requireWindows(spatial.kind());
                ScanBounds bounds = new ScanBounds(spatial, filter, new WindowWork());
                yield new PartitionSearch(partition, index, view, List.of(bounds), false);
            }
            case IndexSearch.Newest newest -> {
                requireKind(index, IndexDescription.Kind.PM, "order by recency");
                yield new NewestSearch(partition, index, view, newest);
            }
            case TermSearch terms -> {
                requireKind(index, IndexDescription.Kind.INVERTED, "terms");
                yield terms.least() < terms.terms().size()
                        ? new OccurrenceSearch(partition, index, view, terms, filter)
                        : new PartitionSearch(
                                partition,
                                index,
                                view,
                                rarestFirst(partition, index, terms, filter),
                                true);
            }
        };
    }

    private static void requireKind(IndexSchema index, IndexDescription.Kind kind, String what) {
        if (index.kind() != kind) {
            throw new InvalidRequestException("index %s is of kind %s, which has no %s to search"
                    .formatted(index.name(), index.kind().label(), what));
        }
    }

    private static List<ScanBounds> rarestFirst(
            Partition partition, IndexSchema index, TermSearch terms, FilterPredicate filter) {
        record Counted(KeyRange range, long entries) {}
        if (terms.terms().size() == 1) {
            return List.of(ScanBounds.ofToken(terms.entries(0), filter));
        }
        List<Counted> counted = new ArrayList<>();
        for (int i = 0; i < terms.terms().size(); i++) {
            KeyRange range = terms.entries(i);
            counted.add(new Counted(
                    range, PartitionReads.estimate(partition, index.tree(), range, filter)));
        }
        counted.sort(Comparator.comparingLong(Counted::entries));
        return counted.stream()
                .map(term -> ScanBounds.ofToken(term.range(), filter))
                .toList();
    }

    private SnapshotCursor cursor(ViewState view, ScanBounds bounds) {
        return new SnapshotCursor(partition, index.tree(), view, bounds);
    }

    private enum Failed {
        NONE,
        NEXT,
        PREVIOUS
    }

    /** A term that is looked for at the primary keys of another. */
    private static final class Follower {
        private final SnapshotCursor entries;
        private final WindowWork work;

        /** The term, as it stands before primary keys. */
        private final byte[] term;

        private final ByteSink target = new ByteSink(64, Integer.MAX_VALUE - 8);
        private final Slice targetKey = new Slice();
        private final Slice found = new Slice();
        private boolean isOnEntry;
        private boolean isAtEnd;

        Follower(KeyRange range, WindowWork work, SnapshotCursor entries) {
            this.work = work;
            this.term = Objects.requireNonNull(range.low()).toByteArray();
            this.entries = entries;
        }

        /** Forgets where it stands: the leader turned, or was moved. */
        void lose() {
            isOnEntry = false;
            isAtEnd = false;
        }

        /**
         * Moves to the first primary key at or above one.
         *
         * @return how that compares; negative if there is none
         */
        int follow(Slice wanted) {
            if (isAtEnd) {
                return -1;
            }
            boolean isBehind = isOnEntry;
            if (isBehind) {
                int order = found.compareBytes(wanted);
                if (order >= 0) {
                    return order;
                }
            }
            target.clear().putBytes(term).putBytes(wanted).asSlice(targetKey);
            isOnEntry = false; // a move that fails is made again by a seek
            if (isBehind) {
                isOnEntry = entries.nextFrom(targetKey);
            } else {
                entries.seek(targetKey);
                isOnEntry = entries.next();
            }
            isAtEnd = !isOnEntry;
            if (isAtEnd) {
                return -1;
            }
            Slice key = entries.key();
            int before = term.length;
            found.set(key.segment(), key.offset() + before, key.length() - before);
            return found.compareBytes(wanted);
        }
    }

    @Override
    public boolean next() {
        boolean found = advance(Failed.NEXT);
        while (found) {
            split();
            failed = Failed.NEXT;
            Follower ahead = null;
            boolean isInAll = true;
            for (int i = 0; isInAll && i < followers.length; i++) {
                int order = followers[i].follow(primaryKey);
                if (order < 0) {
                    failed = Failed.NONE;
                    stack.seekEnd();
                    return false;
                }
                ahead = order > 0 ? followers[i] : null;
                isInAll = order == 0 && isOfSameVersion(followers[i]);
            }
            failed = Failed.NONE;
            if (isInAll) {
                tellCertain();
                return true;
            }
            found = ahead == null ? stack.next() : leap(ahead);
        }
        return false;
    }

    /** Counts an entry by itself, as {@link Together#show} does those that are shown together. */
    private void tellCertain() {
        if (isChecked
                && followers.length == 0
                && headBytes == 0
                && checkedUntil() == Long.MAX_VALUE) {
            view.decided(partition.work(), 1, 0);
        }
    }

    /** Moves the leader, if it does not stand on a record that is undecided. */
    private boolean advance(Failed move) {
        boolean isUndecided = failed == move;
        failed = Failed.NONE;
        return isUndecided || (move == Failed.NEXT ? stack.next() : stack.previous());
    }

    /** To the first entry at or above where another term's entry is; false if there is none. */
    private boolean leap(Follower ahead) {
        ByteSink target = ahead.target.clear();
        target.putBytes(secondaryKey).putBytes(ahead.found);
        return stack.nextFrom(target.asSlice(ahead.targetKey));
    }

    private boolean isOfSameVersion(Follower follower) {
        return !hasTimestampOfVersion || follower.entries.timestamp() == stack.timestamp();
    }

    @Override
    public boolean previous() {
        requireBothWays();
        boolean found = advance(Failed.PREVIOUS);
        while (found) {
            split();
            failed = Failed.PREVIOUS;
            boolean isInAll = true;
            for (int i = 0; isInAll && i < followers.length; i++) {
                followers[i].lose();
                isInAll = followers[i].follow(primaryKey) == 0 && isOfSameVersion(followers[i]);
            }
            failed = Failed.NONE;
            if (isInAll) {
                tellCertain();
                return true;
            }
            found = stack.previous();
        }
        return false;
    }

    private void split() {
        entryCount++;
        Slice key = stack.key();
        if (headBytes > 0) {
            distance = Double.longBitsToDouble(key.segment().get(Bytes.I64_BE, key.offset()));
            key = entryKey.set(key.segment(), key.offset() + headBytes, key.length() - headBytes);
        }
        int before = secondaryBytes(key);
        secondaryKey.set(key.segment(), key.offset(), before);
        primaryKey.set(key.segment(), key.offset() + before, key.length() - before);
    }

    private int secondaryBytes(Slice key) {
        if (secondaryBytes >= 0) {
            return secondaryBytes;
        }
        return lengths == null ? entryKeys.secondaryBytes(key) : lengths.of(key);
    }

    @Override
    public int nextEntries(int countMax) {
        together.batch = null;
        if (followers.length > 0 || headBytes > 0) {
            return next() ? 1 : 0;
        }
        int count = stack.nextEntries(countMax);
        for (int round = 1; count > 0; round++) {
            entryCount += count - 1;
            split();
            int left = together.show(stack, count, round < ROUNDS_MAX);
            if (left > 0) {
                return left;
            }
            count = stack.nextEntries(countMax);
        }
        return 0;
    }

    @Override
    public boolean restart(Slice otherKey) {
        stack.checkOpen();
        return false;
    }

    @Override
    public IndexEntries entries() {
        return together;
    }

    /** Entries that lie in a batch, or the one that the search stands on. */
    private final class Together implements IndexEntries {
        private @Nullable EntryBatch batch;
        private int first;
        private int count;

        /** Decides on entries where they are candidates; made when the first are. */
        private @Nullable LiveCheck check;

        /** The entry that was split last, and the bytes of its secondary key. */
        private int splitEntry = -1;

        private int splitBytes;

        /**
         * Shows the last entries of a batch, without those that are certainly not valid.
         *
         * @param mayDrop whether none may be left
         * @return how many are
         */
        int show(SnapshotCursor entries, int entryCount, boolean mayDrop) {
            EntryBatch shown = entries.batchOfEntry();
            batch = shown;
            first = entries.placeInBatch() - entryCount + 1;
            count = entryCount;
            splitEntry = -1;
            if (isChecked && shown != null) {
                LiveCheck used = check;
                if (used == null) {
                    used = new LiveCheck(partition, entryKeys, view);
                    check = used;
                }
                used.run(shown, first, entryCount, mayDrop);
                count = used.count();
            } else if (isChecked && PartitionSearch.this.checkedUntil() == Long.MAX_VALUE) {
                view.decided(partition.work(), 1, 0);
            }
            return count;
        }

        private int placeInBatch(int entry) {
            Objects.checkIndex(entry, count);
            LiveCheck used = check;
            return used == null ? first + entry : used.place(entry);
        }

        @Override
        public Slice secondaryKey(int entry, Slice slice) {
            EntryBatch entries = batch;
            if (entries == null) {
                return slice.set(PartitionSearch.this.secondaryKey());
            }
            int bytes = split(entries, entry, slice);
            return slice.set(slice.segment(), slice.offset(), bytes);
        }

        /** Moves {@code key} to the key of an entry, and says how long its secondary key is. */
        private int split(EntryBatch entries, int entry, Slice key) {
            entries.key(placeInBatch(entry), key);
            if (entry != splitEntry) {
                splitBytes = secondaryBytes(key);
                splitEntry = entry;
            }
            return splitBytes;
        }

        @Override
        public Slice primaryKey(int entry, Slice slice) {
            EntryBatch entries = batch;
            if (entries == null) {
                return slice.set(PartitionSearch.this.primaryKey());
            }
            int before = split(entries, entry, slice);
            return slice.set(slice.segment(), slice.offset() + before, slice.length() - before);
        }

        @Override
        public long timestamp(int entry) {
            EntryBatch entries = batch;
            return entries == null
                    ? PartitionSearch.this.timestamp()
                    : entries.timestamp(placeInBatch(entry));
        }

        @Override
        public long checkedUntil(int entry) {
            EntryBatch entries = batch;
            if (entries == null) {
                return PartitionSearch.this.checkedUntil();
            }
            int place = placeInBatch(entry);
            LiveCheck used = check;
            return used != null
                    ? used.checkedUntil(place)
                    : isExact ? Long.MAX_VALUE : entries.checkedUntil(place);
        }
    }

    @Override
    public void seek(Slice key) {
        requireBothWays();
        failed = Failed.NONE;
        loseFollowers();
        stack.seek(key);
    }

    @Override
    public void seekEnd() {
        failed = Failed.NONE;
        loseFollowers();
        stack.seekEnd();
    }

    private void requireBothWays() {
        if (headBytes > 0) {
            throw new InvalidRequestException("neighbours are read from the nearest on");
        }
    }

    private void loseFollowers() {
        for (Follower follower : followers) {
            follower.lose();
        }
    }

    @Override
    public Slice secondaryKey() {
        stack.key(); // only on an entry
        return secondaryKey;
    }

    @Override
    public Slice primaryKey() {
        stack.key(); // only on an entry
        return primaryKey;
    }

    @Override
    public double distance() {
        stack.key(); // only on an entry
        return distance;
    }

    @Override
    public long timestamp() {
        return stack.timestamp();
    }

    @Override
    public long checkedUntil() {
        long until = stack.checkedUntil(); // only on an entry
        for (Follower follower : followers) {
            until = Math.min(until, follower.entries.checkedUntil());
        }
        return isExact ? Long.MAX_VALUE : until;
    }

    @Override
    public SearchWork work() {
        SearchWork all = work.counted();
        for (Follower follower : followers) {
            all = all.plus(follower.work.counted());
        }
        return all;
    }

    /** Of several terms those of the one that leads. */
    @Override
    public LayerWork layers() {
        return stack.layers();
    }

    @Override
    public void close() {
        if (!isCounted) {
            isCounted = true;
            partition.work().searched(index.id(), 1, entryCount);
            if (index.kind() == IndexDescription.Kind.INVERTED) {
                TokenMeter.add(partition, index, work());
            }
        }
        together.batch = null; // others have it from now on
        for (Follower follower : followers) {
            follower.entries.close();
        }
        stack.close();
    }
}
