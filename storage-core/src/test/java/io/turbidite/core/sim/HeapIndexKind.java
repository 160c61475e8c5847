package io.turbidite.core.sim;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.index.IndexKind;
import io.turbidite.core.index.IndexRegion;
import io.turbidite.core.index.RegionEntries;
import io.turbidite.core.index.RegionPlace;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * The kind {@code pm} as plain maps, for tests of whoever feeds a region and asks it. What was
 * absorbed outlives the store, as in memory that keeps its content: a store that is opened again
 * with the same kind meets it, and what was cut in the middle too.
 *
 * <p>It checks what it is told: that each entry belongs to a version of its layer, that a key has
 * as many entries as was said, and that all comes in order. A rule that is broken is an
 * {@link AssertionError}.
 *
 * <p><em>Thread-safe.</em>
 */
public final class HeapIndexKind implements IndexKind {
    /** What is below an absorption that is cut. */
    private static final class Entry {
        final byte[] primaryKey;
        final long timestamp;

        Entry(byte[] primaryKey, long timestamp) {
            this.primaryKey = primaryKey;
            this.timestamp = timestamp;
        }
    }

    /** The memory of a region. */
    private static final class Content {
        final TreeMap<byte[], List<Entry>> lists = new TreeMap<>(Arrays::compareUnsigned);
        /** What any absorption was to end with, and what was there when it was opened. */
        long reachedThrough;

        long foundThrough;
        final TreeMap<byte[], Long> versions = new TreeMap<>(Arrays::compareUnsigned);
        long absorbedThrough;
        boolean isOpen;
    }

    private final Map<Long, Content> contents = new HashMap<>();
    private final boolean keeps;
    private @Nullable Runnable failure;
    private int stepsLeft = -1;
    private long absorptionCount;
    private long hintCount;
    private long tidiedCount;

    private HeapIndexKind(boolean keeps) {
        this.keeps = keeps;
    }

    /** One whose regions outlive their store. */
    public static HeapIndexKind persistent() {
        return new HeapIndexKind(true);
    }

    /** One whose regions are gone when their store is closed. */
    public static HeapIndexKind passing() {
        return new HeapIndexKind(false);
    }

    /**
     * Fails once, in an absorption.
     *
     * @param steps versions and entries that are taken before
     */
    public synchronized void failAfter(int steps, Supplier<? extends RuntimeException> cause) {
        stepsLeft = steps;
        failure = () -> {
            throw cause.get();
        };
    }

    /** The same, by what the JVM throws where a mapped file was cut. */
    public synchronized void faultAfter(int steps) {
        stepsLeft = steps;
        failure = () -> {
            throw new InternalError("a fault occurred in an unsafe memory access operation");
        };
    }

    /** What lies in memory at this moment, as a store finds it that is opened after a power cut. */
    public synchronized HeapIndexKind image() {
        HeapIndexKind image = new HeapIndexKind(keeps);
        contents.forEach((id, content) -> {
            Content copy = new Content();
            synchronized (content) {
                content.lists.forEach((key, list) -> copy.lists.put(key, new ArrayList<>(list)));
                copy.versions.putAll(content.versions);
                copy.absorbedThrough = content.absorbedThrough;
                copy.reachedThrough = content.reachedThrough;
            }
            image.contents.put(id, copy);
        });
        return image;
    }

    /** Absorptions that came to their end. */
    public synchronized long absorptionCount() {
        return absorptionCount;
    }

    /** Regions that there are. */
    public synchronized int regionCount() {
        return contents.size();
    }

    /** Entries in all regions. */
    public synchronized long entryCount() {
        return contents.values().stream().mapToLong(HeapIndexKind::count).sum();
    }

    /** Makes all regions such that no store can open them. */
    public synchronized void damage() {
        contents.values().forEach(content -> content.absorbedThrough = -1);
    }

    /** Keys that were looked after since readers met stale entries of them. */
    public synchronized long tidiedCount() {
        return tidiedCount;
    }

    private synchronized void hint() {
        hintCount++;
    }

    /** Takes an entry away behind everybody's back. */
    public synchronized void loseAnEntry() {
        for (Content content : contents.values()) {
            synchronized (content) {
                if (!content.lists.isEmpty()) {
                    content.lists.firstEntry().getValue().removeFirst();
                    return;
                }
            }
        }
    }

    /** Moves an entry to another secondary key. */
    public synchronized void misplaceAnEntry() {
        for (Content content : contents.values()) {
            synchronized (content) {
                if (content.lists.size() > 1) {
                    Entry moved = content.lists.firstEntry().getValue().removeFirst();
                    content.lists.lastEntry().getValue().addFirst(moved);
                    return;
                }
            }
        }
    }

    private static long count(Content content) {
        return content.lists.values().stream().mapToLong(List::size).sum();
    }

    @Override
    public String name() {
        return "pm";
    }

    @Override
    public Map<String, String> define(
            String use, Map<String, String> parameters, int primaryKeyBytesMax) {
        for (String parameter : parameters.keySet()) {
            if (!parameter.equals("mode")) {
                throw new InvalidRequestException(
                        "%s: kind pm takes mode, not %s".formatted(use, parameter));
            }
        }
        return Map.of("mode", parameters.getOrDefault("mode", "heap"));
    }

    @Override
    public synchronized IndexRegion create(RegionPlace place) {
        Content content = new Content();
        contents.put(place.regionId(), content);
        return new Region(content);
    }

    @Override
    public synchronized @Nullable IndexRegion open(RegionPlace place, long absorbedThrough) {
        Content content = contents.get(place.regionId());
        if (!keeps) {
            return null;
        }
        if (content == null || content.absorbedThrough < absorbedThrough) {
            throw CorruptionException.missing(place.file(), "this is not what was left");
        }
        content.lists
                .values()
                .forEach(list -> list.removeIf(entry -> entry.timestamp > absorbedThrough));
        content.foundThrough = content.reachedThrough;
        content.absorbedThrough = absorbedThrough;
        content.isOpen = false;
        return new Region(content);
    }

    @Override
    public @Nullable IndexRegion openCopy(RegionPlace place, long absorbedThrough) {
        return image().open(place, absorbedThrough);
    }

    @Override
    public synchronized void drop(RegionPlace place) {
        contents.remove(place.regionId());
    }

    private synchronized void step() {
        if (stepsLeft >= 0 && stepsLeft-- == 0) {
            Runnable thrown = failure;
            failure = null;
            if (thrown != null) {
                thrown.run();
            }
        }
    }

    private final class Region implements IndexRegion {
        private final Content content;

        Region(Content content) {
            if (content.isOpen) {
                throw new AssertionError("a region is open twice");
            }
            content.isOpen = true;
            this.content = content;
        }

        @Override
        public long absorbedThrough() {
            synchronized (content) {
                return content.absorbedThrough;
            }
        }

        @Override
        public long foundThrough() {
            return content.foundThrough;
        }

        @Override
        public Absorption absorb(long horizon, long through) {
            synchronized (content) {
                content.reachedThrough = Math.max(content.reachedThrough, through);
            }
            return new Layer(content, horizon, through);
        }

        @Override
        public boolean tidy(long horizon) {
            synchronized (HeapIndexKind.this) {
                boolean isHinted = hintCount > 0;
                tidiedCount += hintCount;
                hintCount = 0;
                return isHinted;
            }
        }

        @Override
        public void verify(Consumer<String> wrong) {
            synchronized (content) {
                content.lists.forEach((key, list) -> list.forEach(entry -> {
                    if (!content.versions.containsKey(entry.primaryKey)) {
                        wrong.accept("an entry of a key that has no version");
                    }
                }));
            }
        }

        @Override
        public Reader reader() {
            return new Searcher(HeapIndexKind.this, content);
        }

        @Override
        public long estimate(@Nullable Slice low, @Nullable Slice high) {
            synchronized (content) {
                long found = 0;
                for (Map.Entry<byte[], List<Entry>> list : content.lists.entrySet()) {
                    Slice key = Slice.of(list.getKey());
                    if ((low == null || key.compareBytes(low) >= 0)
                            && (high == null || key.compareBytes(high) < 0)) {
                        found += list.getValue().size();
                    }
                }
                return found;
            }
        }

        @Override
        public long entryCount() {
            synchronized (content) {
                return count(content);
            }
        }

        @Override
        public long byteSize() {
            return entryCount();
        }

        @Override
        public Map<String, String> statistics() {
            return Map.of("mode", "heap");
        }

        @Override
        public void close() {
            synchronized (content) {
                content.isOpen = false;
            }
        }
    }

    private final class Layer implements IndexRegion.Absorption {
        private final Content content;
        private final long horizon;
        private final long through;
        private final TreeMap<byte[], Integer> expected = new TreeMap<>(Arrays::compareUnsigned);
        private byte[] lastKey = {};
        private long lastTimestamp = -1;
        private boolean hasEntries;

        Layer(Content content, long horizon, long through) {
            this.content = content;
            this.horizon = horizon;
            this.through = through;
        }

        @Override
        public void version(Slice primaryKey, long timestamp, boolean hasEntry, int entryCount) {
            step();
            require(!hasEntries, "a version behind the entries");
            require(entryCount > 0 || !hasEntry, "a version whose entry is not counted");
            byte[] key = primaryKey.toByteArray();
            require(expected.put(key, entryCount) == null, "a key comes twice");
            synchronized (content) {
                require(timestamp > content.absorbedThrough, "a version of an older layer");
                require(timestamp <= through, "a version of a later layer");
                content.versions.merge(key, timestamp, Math::max);
            }
        }

        @Override
        public void entry(Slice secondaryKey, Slice primaryKey, long timestamp) {
            step();
            hasEntries = true;
            byte[] key = secondaryKey.toByteArray();
            int order = Arrays.compareUnsigned(key, lastKey);
            require(
                    order > 0 || (order == 0 && timestamp >= lastTimestamp),
                    "entries are out of order");
            lastKey = key;
            lastTimestamp = timestamp;
            byte[] primary = primaryKey.toByteArray();
            Integer left = expected.get(primary);
            require(left != null && left > 0, "an entry that no version has counted");
            expected.merge(primary, -1, Integer::sum);
            synchronized (content) {
                require(timestamp > content.absorbedThrough, "an entry of an older layer");
                content.lists
                        .computeIfAbsent(key, _ -> new ArrayList<>())
                        .addFirst(new Entry(primary, timestamp));
            }
        }

        @Override
        public void commit(long absorbed) {
            require(absorbed == through, "another end than was said");
            require(
                    expected.values().stream().allMatch(left -> left == 0),
                    "a version whose entries did not come");
            synchronized (content) {
                content.absorbedThrough = absorbed;
                content.lists
                        .values()
                        .forEach(list -> list.removeIf(entry -> isGarbage(content, entry)));
                content.lists.values().removeIf(List::isEmpty);
            }
            synchronized (HeapIndexKind.this) {
                absorptionCount++;
            }
        }

        private boolean isGarbage(Content of, Entry entry) {
            long newest = of.versions.getOrDefault(entry.primaryKey, 0L);
            return newest > entry.timestamp && newest <= horizon;
        }

        private static void require(boolean holds, String rule) {
            if (!holds) {
                throw new AssertionError(rule);
            }
        }
    }

    private record Searcher(HeapIndexKind kind, Content content) implements IndexRegion.Reader {
        @Override
        public boolean above(
                @Nullable Slice from,
                boolean inclusive,
                @Nullable Slice until,
                IndexRegion.Moment moment,
                RegionEntries into) {
            synchronized (content) {
                if (content.lists.isEmpty()) {
                    return false;
                }
                Map.Entry<byte[], List<Entry>> found = from == null
                        ? content.lists.firstEntry()
                        : inclusive
                                ? content.lists.ceilingEntry(from.toByteArray())
                                : content.lists.higherEntry(from.toByteArray());
                boolean isInside = found != null
                        && (until == null || Slice.of(found.getKey()).compareBytes(until) < 0);
                return give(isInside ? found : null, moment, into);
            }
        }

        @Override
        public boolean below(@Nullable Slice from, IndexRegion.Moment moment, RegionEntries into) {
            synchronized (content) {
                if (content.lists.isEmpty()) {
                    return false;
                }
                return give(
                        from == null
                                ? content.lists.lastEntry()
                                : content.lists.lowerEntry(from.toByteArray()),
                        moment,
                        into);
            }
        }

        @Override
        public boolean newest(
                Slice secondaryKey,
                IndexRegion.Moment moment,
                long below,
                int countMax,
                RegionEntries into) {
            synchronized (content) {
                into.begin(secondaryKey);
                long last = -1;
                for (Entry entry :
                        content.lists.getOrDefault(secondaryKey.toByteArray(), List.of())) {
                    if (entry.timestamp >= below || !isShown(entry, moment)) {
                        continue;
                    }
                    if (into.count() >= countMax && entry.timestamp != last) {
                        return true;
                    }
                    add(entry, into);
                    last = entry.timestamp;
                }
                return false;
            }
        }

        private boolean isShown(Entry entry, IndexRegion.Moment moment) {
            long newest = content.versions.getOrDefault(entry.primaryKey, 0L);
            boolean isStale = newest > entry.timestamp && newest <= moment.snapshot();
            if (isStale) {
                kind.hint();
            }
            return entry.timestamp <= Math.min(moment.snapshot(), moment.through()) && !isStale;
        }

        private void add(Entry entry, RegionEntries into) {
            long newest = content.versions.getOrDefault(entry.primaryKey, 0L);
            into.add(Slice.of(entry.primaryKey), entry.timestamp, newest == entry.timestamp);
        }

        private boolean give(
                Map.@Nullable Entry<byte[], List<Entry>> found,
                IndexRegion.Moment moment,
                RegionEntries into) {
            if (found == null) {
                return false;
            }
            into.begin(Slice.of(found.getKey()));
            for (Entry entry : found.getValue()) {
                if (isShown(entry, moment)) {
                    add(entry, into);
                }
            }
            return true;
        }

        @Override
        public void close() {}
    }
}
