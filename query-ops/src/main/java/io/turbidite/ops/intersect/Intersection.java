package io.turbidite.ops.intersect;

import io.turbidite.core.Cleanup;
import io.turbidite.core.bloom.BloomFilter;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.scan.IndexCursor;
import io.turbidite.core.scan.IndexEntries;
import io.turbidite.core.scan.ReadView;
import io.turbidite.ops.frame.OperatorMeter;
import io.turbidite.ops.run.RunOptions;
import io.turbidite.ops.search.IndexRange;
import io.turbidite.ops.search.SearchMeter;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The primary keys that several searches of one partition have in common.
 *
 * <ol>
 *   <li>Searches that give primary keys in order are not read yet: they leap (step 4). But one that
 *       has only a few times the entries of another that must be sorted is read with those.
 *   <li>The others are read one after the other, the one with fewest entries first. What an earlier
 *       one can't have is dropped ({@link CandidateBits}), and then of the earlier ones what the
 *       last one can't have. What is left is sorted. Where the memory is used up all is sorted, and
 *       spilled. If all searches are in order, none is read here.
 *   <li>Where one has nothing, no other is read.
 *   <li>Whoever is ahead makes the others follow, until all stand on one primary key.
 *   <li>Indexes whose entries have the timestamps of versions must mean the same version. Those of
 *       an always valid one may be older than the version they belong to: there the primary key is
 *       all that counts. So a key can come with several versions, of which one at most is current.
 * </ol>
 *
 * <p><em>Confined to one thread.</em> Allocates nothing for a candidate.
 */
public final class Intersection implements AutoCloseable {
    /** Entries read between two looks whether the query was stopped. */
    private static final int ENTRIES_A_LOOK = 1_024;

    /** A search leaps if it has more than so many times the entries of those that are sorted. */
    private static final int MORE_TO_LEAP = 16;

    private static final Slice NOTHING = Slice.of(new byte[0]);

    private final JoinedRanges ranges;
    private final Meters meters;
    private final RunOptions options;

    /** Those that take part, in the order in which they are asked. */
    private final List<Side> sides = new ArrayList<>();

    /** Which range each side is of. */
    private final List<Integer> rangeOfSide = new ArrayList<>();

    private EntriesOfKey[] entries = {};
    private final ByteSink keyBytes = new ByteSink(64, Integer.MAX_VALUE - 8);
    private final Slice key = new Slice();
    private final Slice secondaryKey = new Slice();
    private final Slice foundKey = new Slice();
    private long[] timestamps = new long[4];
    private long[] checkedUntil = new long[4];
    private int[] shownEntries = new int[4];
    private int versionCount;
    private boolean isEmpty;
    private long leftCount;

    private Intersection(JoinedRanges ranges, Meters meters, RunOptions options) {
        this.ranges = ranges;
        this.meters = meters;
        this.options = options;
    }

    /**
     * Where to count; each list has one for each range.
     *
     * @param searched entries found
     * @param searches what finding them took
     * @param kept of those that were sorted, the ones that an earlier index may have too
     * @param left common primary keys
     */
    public record Meters(
            List<OperatorMeter> searched,
            List<SearchMeter> searches,
            OperatorMeter kept,
            OperatorMeter left) {}

    /**
     * Reads what must be read before the first key is known.
     *
     * @param memoryBytes most bytes of candidates in memory
     * @return empty if the memory does not do for the first range, and there is nowhere to spill to
     */
    public static Optional<Intersection> open(
            ReadView view,
            int partition,
            JoinedRanges ranges,
            RunOptions options,
            long memoryBytes,
            Meters meters) {
        Intersection opened = new Intersection(ranges, meters, options);
        try {
            if (opened.read(view, partition, memoryBytes)) {
                return Optional.of(opened);
            }
        } catch (RuntimeException e) {
            new Cleanup().add(opened::close).runAfter(e);
            throw e;
        }
        opened.close();
        return Optional.empty();
    }

    private boolean read(ReadView view, int partition, long memoryBytes) {
        List<Integer> sorted = new ArrayList<>();
        List<Integer> leaping = new ArrayList<>();
        for (int i = 0; i < ranges.ranges().size(); i++) {
            (JoinedRanges.isInKeyOrder(ranges.ranges().get(i)) ? leaping : sorted).add(i);
        }
        if (!sorted.isEmpty() && !leaping.isEmpty()) {
            takeOneOfAsFew(leaping, sorted);
        }
        if (!sorted.isEmpty() && !collectAll(view, partition, sorted, memoryBytes)) {
            return false;
        }
        for (int i = 0; !isEmpty && i < leaping.size(); i++) {
            int range = leaping.get(i);
            SearchedSide side = new SearchedSide(
                    search(view, partition, ranges.ranges().get(range)),
                    meters.searched().get(range),
                    meters.searches().get(range));
            add(side, range);
        }
        entries = new EntriesOfKey[sides.size()];
        for (int i = 0; i < entries.length; i++) {
            entries[i] = new EntriesOfKey();
        }
        return true;
    }

    /**
     * Has one that could leap read whole where it leaves few places to leap over, and no other one
     * says of the only candidates which of them need not be sorted.
     */
    private void takeOneOfAsFew(List<Integer> leaping, List<Integer> sorted) {
        int first = leaping.getFirst();
        long most = MORE_TO_LEAP * ranges.estimated().get(sorted.getFirst());
        if (first == 0 || (sorted.size() == 1 && ranges.estimated().get(first) <= most)) {
            sorted.add(leaping.removeFirst());
            sorted.sort(Comparator.naturalOrder());
        }
    }

    /** Takes over a side, to be closed with the others, before anything is read. */
    private void add(Side side, int range) {
        sides.add(side);
        rangeOfSide.add(range);
        isEmpty |= !side.begin();
    }

    private static IndexCursor search(ReadView view, int partition, IndexRange range) {
        return view.search(partition, range.index().name(), range.search(), range.filter());
    }

    /** Reads some ranges; the last one says of the others which candidates need be sorted. */
    private boolean collectAll(
            ReadView view, int partition, List<Integer> sorted, long memoryBytes) {
        long bitsBytes = sorted.size() == 1 ? 0 : memoryBytes / 8;
        long expected = ranges.estimated().get(sorted.getFirst()) / view.partitionCount() + 1;
        long bytesOfEach = (memoryBytes - 2 * bitsBytes) / sorted.size();
        Map<Integer, SortedSide.Collector> found = new LinkedHashMap<>();
        try (Cleanup _ = Cleanup.ofAll(found.values(), SortedSide.Collector::close)) {
            CandidateBits earlier = null;
            CandidateBits spare = null;
            for (int i = 0; !isEmpty && i < sorted.size(); i++) {
                CandidateBits own = spare;
                if (own == null && sorted.size() > 1) {
                    own = CandidateBits.of(expected, bitsBytes);
                } else if (own != null) {
                    own.clear();
                }
                SortedSide.Collector some =
                        new SortedSide.Collector(options, bytesOfEach, meters.left());
                found.put(sorted.get(i), some);
                if (collect(view, partition, sorted.get(i), some, earlier, own)) {
                    isEmpty = some.count() == 0;
                    spare = earlier;
                    earlier = own;
                } else if (!leaveOut(sorted.get(i), found)) {
                    return false;
                }
            }
            return isEmpty || sortAll(found, earlier);
        }
    }

    /**
     * Goes on without a range for which the memory did not do: there are more candidates then,
     * which the records decide on. False if that can't be.
     */
    private boolean leaveOut(int range, Map<Integer, SortedSide.Collector> found) {
        SortedSide.Collector some = found.remove(range);
        if (some != null) {
            some.close();
        }
        return !found.isEmpty() && !ranges.isAnswer();
    }

    private boolean sortAll(
            Map<Integer, SortedSide.Collector> found, @Nullable CandidateBits ofLast) {
        for (int range : List.copyOf(found.keySet())) {
            SortedSide.Collector some = found.get(range);
            SortedSide side = some == null ? null : some.sorted(ofLast);
            if (some != null && side != null) {
                meters.kept().add(some.sortedCount());
                add(side, range);
            } else if (!leaveOut(range, found)) {
                return false;
            }
        }
        return true;
    }

    /** Reads the candidates of a range; false if there is no memory for all of them. */
    private boolean collect(
            ReadView view,
            int partition,
            int range,
            SortedSide.Collector into,
            @Nullable CandidateBits earlier,
            @Nullable CandidateBits own) {
        boolean isShown = range == ranges.shown();
        int sinceLook = 0;
        OperatorMeter searched = meters.searched().get(range);
        try (IndexCursor cursor = search(view, partition, ranges.ranges().get(range))) {
            IndexEntries found = cursor.entries();
            boolean fits = true;
            while (fits) {
                int count = cursor.nextEntries(ENTRIES_A_LOOK);
                if (count == 0) {
                    break;
                }
                sinceLook += count;
                if (sinceLook >= ENTRIES_A_LOOK) {
                    options.checkNotStopped();
                    searched.add(sinceLook);
                    sinceLook = 0;
                }
                for (int i = 0; fits && i < count; i++) {
                    found.primaryKey(i, foundKey);
                    long hash = own == null ? 0 : BloomFilter.hash(foundKey);
                    if (earlier != null && !earlier.mayContain(hash)) {
                        continue;
                    }
                    if (own != null) {
                        own.add(hash);
                    }
                    fits = into.add(
                            hash,
                            foundKey,
                            found.timestamp(i),
                            found.checkedUntil(i),
                            isShown ? found.secondaryKey(i, secondaryKey) : NOTHING);
                }
            }
            searched.add(sinceLook);
            meters.searches().get(range).add(cursor.work(), cursor.layers());
            return fits;
        }
    }

    /**
     * Moves to the next primary key of which all have entries that may be of one version; false if
     * there is none left.
     */
    public boolean next() {
        if (isEmpty) {
            return false;
        }
        do {
            if (!meet()) {
                isEmpty = true;
                return false;
            }
            keyBytes.clear().putBytes(sides.getFirst().key()).asSlice(key);
            for (int i = 0; i < entries.length; i++) {
                entries[i].clear();
                sides.get(i).gather(entries[i]);
            }
            combine();
        } while (versionCount == 0);
        leftCount++;
        return true;
    }

    /** Moves all sides to the next key that they have in common. */
    private boolean meet() {
        Side first = sides.getFirst();
        if (!first.isOnEntry()) {
            return false;
        }
        int at = 1;
        while (at < sides.size()) {
            int order = sides.get(at).advance(first.key());
            if (order > 0) {
                order = first.advance(sides.get(at).key());
                at = 0; // those before stood on another key
            }
            if (order < 0) {
                return false;
            }
            at++;
        }
        return true;
    }

    /** Finds the versions that all indexes which know of versions have entries of. */
    private void combine() {
        versionCount = 0;
        int base = -1;
        for (int i = 0; base < 0 && i < entries.length; i++) {
            base = knowsVersions(i) ? i : -1;
        }
        if (base < 0) {
            addVersion(0, Long.MAX_VALUE, 0);
            return;
        }
        for (int i = 0; i < entries[base].count(); i++) {
            long timestamp = entries[base].timestamp(i);
            if (isNew(timestamp)) {
                long checked = checkedUntil(timestamp);
                if (checked >= 0) {
                    addVersion(timestamp, checked, shownEntry(timestamp));
                }
            }
        }
    }

    private boolean knowsVersions(int side) {
        return JoinedRanges.hasTimestampOfVersion(ranges.ranges().get(rangeOfSide.get(side)));
    }

    private boolean isNew(long timestamp) {
        for (int i = 0; i < versionCount; i++) {
            if (timestamps[i] == timestamp) {
                return false;
            }
        }
        return true;
    }

    /** Up to where a version is certainly current: who looked furthest knows; -1: one lacks it. */
    private long checkedUntil(long timestamp) {
        long checked = 0;
        for (int i = 0; i < entries.length; i++) {
            if (knowsVersions(i)) {
                int entry = entries[i].find(timestamp);
                if (entry == EntriesOfKey.NONE) {
                    return -1;
                }
                checked = Math.max(checked, entries[i].checkedUntil(entry));
            }
        }
        return checked;
    }

    private int shownEntry(long timestamp) {
        int side = rangeOfSide.indexOf(ranges.shown());
        return side < 0 || !knowsVersions(side) ? 0 : entries[side].find(timestamp);
    }

    private void addVersion(long timestamp, long checked, int shownEntry) {
        if (versionCount == timestamps.length) {
            timestamps = Arrays.copyOf(timestamps, 2 * versionCount);
            checkedUntil = Arrays.copyOf(checkedUntil, 2 * versionCount);
            shownEntries = Arrays.copyOf(shownEntries, 2 * versionCount);
        }
        timestamps[versionCount] = timestamp;
        checkedUntil[versionCount] = checked;
        shownEntries[versionCount] = shownEntry;
        versionCount++;
    }

    /**
     * Whether an index says which versions are meant. Where the memory did not do for all of them,
     * perhaps none does any more.
     */
    boolean hasVersions() {
        for (int i = 0; i < sides.size(); i++) {
            if (knowsVersions(i)) {
                return true;
            }
        }
        return false;
    }

    /** The primary key; valid until the next move. */
    public Slice primaryKey() {
        return key;
    }

    /** Versions that the entries may be of, at least one; where no index knows versions, one. */
    int versionCount() {
        return versionCount;
    }

    /** The timestamp of a version; 0 where no index knows it. */
    long timestamp(int version) {
        return timestamps[version];
    }

    /** Up to where a version is certainly current; see {@link IndexCursor#checkedUntil}. */
    long checkedUntil(int version) {
        return checkedUntil[version];
    }

    /** The version of the largest timestamp: if any is current, it is this one. */
    int newest() {
        int newest = 0;
        for (int i = 1; i < versionCount; i++) {
            newest = timestamps[i] > timestamps[newest] ? i : newest;
        }
        return newest;
    }

    /** The secondary key that the shown index has for a version; empty where none is shown. */
    Slice secondaryKey(int version) {
        int side = rangeOfSide.indexOf(ranges.shown());
        return side < 0 ? NOTHING : entries[side].secondaryKey(shownEntries[version], secondaryKey);
    }

    @Override
    public void close() {
        isEmpty = true;
        meters.left().add(leftCount);
        leftCount = 0;
        List<Side> open = List.copyOf(sides);
        sides.clear();
        new Cleanup().addAll(open, Side::close).run();
    }
}
