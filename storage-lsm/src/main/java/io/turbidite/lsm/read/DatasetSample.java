package io.turbidite.lsm.read;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.scan.RecordSample;
import io.turbidite.lsm.component.DiskComponent;
import io.turbidite.lsm.sample.ComponentSample;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;

/**
 * The sample of a dataset: those of its components laid over one another. It is kept, and made
 * anew when other components are asked for; of those that stay, nothing is read again.
 *
 * <p><em>Thread-safe.</em> No lock is held while samples are read: two threads may make the same.
 * Keeps at most {@value #RECORDS_MAX} records, or about {@value #BYTES_MAX} bytes, and of each
 * component what goes into them.
 */
public final class DatasetSample {
    /** A share of 1 % is told by 40 records, within a sixth. */
    private static final int RECORDS_MAX = 4_096;

    private static final long BYTES_MAX = 2 << 20;

    /** Of fewer, as of small components after each flush, all is read again. */
    private static final int RECORDS_MIN = 1_024;

    /** Components with so large a part of the entries may be without a sample that fits. */
    private static final double LEFT_OUT_MAX = 0.1;

    private volatile @Nullable Known known;

    /**
     * What was made last.
     *
     * @param parts by component, newest first in each partition; null for one without a sample
     * @param isNarrowed whether the components have more
     */
    private record Known(
            List<DiskComponent> components,
            List<@Nullable ComponentSample> parts,
            boolean isNarrowed,
            Sampled sample) {}

    /**
     * The sample of these components.
     *
     * @param partitions of each partition its primary's components, newest first; held by the
     *     caller meanwhile
     */
    public RecordSample of(List<List<DiskComponent>> partitions) {
        List<DiskComponent> components = new ArrayList<>();
        partitions.forEach(components::addAll);
        Known last = known;
        if (last != null && last.components().equals(components)) {
            return last.sample();
        }
        try {
            Known made = make(components, last);
            known = made;
            return made.sample();
        } catch (StorageIoException _) {
            // an estimate does without; nothing is remembered, as the disk may read the next time
            return RecordSample.none();
        }
    }

    private static Known make(List<DiskComponent> components, @Nullable Known last) {
        Map<DiskComponent, @Nullable ComponentSample> old = new HashMap<>();
        boolean wasNarrowed = last != null && last.isNarrowed();
        if (last != null && !(wasNarrowed && last.sample().size() < RECORDS_MIN)) {
            for (int i = 0; i < last.parts().size(); i++) {
                old.put(last.components().get(i), last.parts().get(i));
            }
        }
        // what all have is narrowed while they are read: a store may have many components
        List<@Nullable ComponentSample> parts = new ArrayList<>(components.size());
        long bound = -1;
        for (DiskComponent component : components) {
            parts.add(old.containsKey(component) ? old.get(component) : read(component));
            while (isTooMuch(parts)) {
                bound >>>= 1;
                parts.replaceAll(narrowing(bound));
            }
        }
        long shared = sharedBound(components, parts);
        long least = Long.compareUnsigned(bound, shared) < 0 ? bound : shared;
        List<@Nullable ComponentSample> common = new ArrayList<>(parts);
        common.replaceAll(part -> part != null && Long.compareUnsigned(part.bound(), least) >= 0
                ? part.narrowed(least)
                : null);
        boolean isNarrowed = bound != -1 || (wasNarrowed && !old.isEmpty());
        return new Known(components, parts, isNarrowed, Sampled.over(common));
    }

    private static boolean isTooMuch(List<@Nullable ComponentSample> parts) {
        long bytes = 0;
        int records = 0;
        for (ComponentSample part : parts) {
            bytes += part == null ? 0 : part.byteSize();
            records += part == null ? 0 : part.count();
        }
        return bytes > BYTES_MAX || records > RECORDS_MAX;
    }

    private static UnaryOperator<@Nullable ComponentSample> narrowing(long bound) {
        return part -> part == null ? null : part.narrowed(bound);
    }

    private static @Nullable ComponentSample read(DiskComponent component) {
        if (component.damage() != null || !component.isOpen()) {
            return null;
        }
        try {
            return component.sample();
        } catch (CorruptionException _) {
            // who watches over the component has been told, and a merge makes another
            return null;
        }
    }

    /**
     * The bound that components with nearly all entries reach, and none that reaches a quarter of
     * it is left out: what its records have replaced would come back. 0 if there is none.
     */
    private static long sharedBound(
            List<DiskComponent> components, List<@Nullable ComponentSample> samples) {
        long all = 0;
        List<long[]> bounds = new ArrayList<>();
        for (int i = 0; i < samples.size(); i++) {
            long entries = components.get(i).entryCount();
            all += entries;
            ComponentSample sample = samples.get(i);
            if (sample != null) {
                bounds.add(new long[] {sample.bound(), entries});
            }
        }
        bounds.sort((a, b) -> Long.compareUnsigned(b[0], a[0]));
        long covered = 0;
        for (long[] one : bounds) {
            covered += one[1];
            if (covered >= (1 - LEFT_OUT_MAX) * all) {
                return lowestNear(one[0], bounds);
            }
        }
        return 0;
    }

    private static long lowestNear(long bound, List<long[]> bounds) {
        long lowest = bound;
        for (long[] one : bounds) {
            if (Long.compareUnsigned(one[0], bound >>> 2) >= 0
                    && Long.compareUnsigned(one[0], lowest) < 0) {
                lowest = one[0];
            }
        }
        return lowest;
    }

    /** The records of a sample. */
    private record Sampled(List<Place> records, double liveShare, long byteSize)
            implements RecordSample {
        static final Sampled NONE = new Sampled(List.of(), 1, 0);

        private record Place(ComponentSample sample, int entry) {}

        /** The newest version of each key decides. */
        static Sampled over(List<@Nullable ComponentSample> samples) {
            Set<Long> seen = new HashSet<>();
            List<Place> records = new ArrayList<>();
            long bytes = 0;
            int entries = 0;
            int live = 0;
            for (ComponentSample sample : samples) {
                if (sample == null) {
                    continue;
                }
                entries += sample.count();
                bytes += sample.byteSize();
                for (int i = 0; i < sample.count(); i++) {
                    // hashes of 64 bits: two keys with one hash are not met in a sample
                    if (seen.add(sample.mixedHash(i)) && !sample.isAntimatter(i)) {
                        live++;
                        if (sample.isRecord(i)) {
                            records.add(new Place(sample, i));
                        }
                    }
                }
            }
            return entries == 0
                    ? NONE
                    : new Sampled(List.copyOf(records), (double) live / entries, bytes);
        }

        @Override
        public int size() {
            return records.size();
        }

        @Override
        public Slice record(int index, Slice target) {
            Place place = records.get(index);
            return place.sample().value(place.entry(), target);
        }
    }
}
