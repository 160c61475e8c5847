package io.turbidite.lsm.partition;

import io.turbidite.core.StorageException;
import io.turbidite.core.bloom.BloomFilter;
import io.turbidite.core.bytes.Slice;
import io.turbidite.lsm.btree.TreeCursor;
import io.turbidite.lsm.component.DiskComponent;
import io.turbidite.lsm.entry.Found;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.schema.TreeId;
import io.turbidite.lsm.version.ComponentHandle;
import io.turbidite.lsm.version.Version;

import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.DoubleStream;

/**
 * About how many entries of a partition's deferred indexes are obsolete and wait for a merge of the
 * primary to find that out.
 *
 * <p>That is one for each key of a component of the primary that an older component has too: the
 * pair has not met in a merge yet, or one of the two would be gone. So a few hundred keys of each
 * component, from places spread over it, are looked for in the older ones, behind their Bloom
 * filters. Nothing is kept on disk: the estimate is as good after a restart, and merges that took
 * garbage away need not account for it. What is still in memory is not counted.
 *
 * <p>The pages read are as many as {@link #SPOTS}, once for each component, and those of key trees
 * where the keys that Bloom filters don't rule out would be: without a look there, with twenty
 * components at 1 % a fifth of all keys would seem to be written over.
 *
 * <p><em>Thread-safe.</em> Two who ask at once may both look; no lock is held over the look.
 */
public final class GarbageEstimate {
    /** Above this share of an index's entries its merges go first. */
    public static final double URGENT_SHARE = 0.2;

    private static final int SPOTS = 32;
    private static final int KEYS_A_SPOT = 8;

    /** By file id of a component of the primary: which share of its keys is in an older one too. */
    private final Map<Long, Double> shares = new ConcurrentHashMap<>();

    private volatile double largestShare;

    /** Looks at the components that were not looked at before. */
    public void refresh(Version pinned) {
        List<ComponentHandle> components = pinned.tree(TreeId.PRIMARY);
        Set<Long> there = new HashSet<>();
        for (int i = 0; i < components.size(); i++) {
            long fileId = components.get(i).state().fileId();
            List<ComponentHandle> older = components.subList(i + 1, components.size());
            there.add(fileId);
            if (!shares.containsKey(fileId)) {
                shares.put(
                        fileId, DoubleStream.of(look(components.get(i), older)).sum());
            }
        }
        shares.keySet().retainAll(there);
        double largest = 0;
        for (IndexSchema index : pinned.schema().deferredIndexes()) {
            long entries = entriesOnDisk(pinned, index.tree());
            if (entries > 0) {
                largest = Math.max(largest, Math.min(1, entries(pinned) / (double) entries));
            }
        }
        largestShare = largest;
    }

    /** Obsolete entries that each deferred index has, at most, by the last {@link #refresh}. */
    public long entries(Version pinned) {
        double entries = 0;
        for (ComponentHandle component : pinned.tree(TreeId.PRIMARY)) {
            entries += shares.getOrDefault(component.state().fileId(), 0.0)
                    * component.component().entryCount();
        }
        return Math.round(entries);
    }

    private static long entriesOnDisk(Version pinned, TreeId tree) {
        return pinned.tree(tree).stream()
                .mapToLong(handle -> handle.component().entryCount())
                .sum();
    }

    /** The share of obsolete entries in the deferred index that has most of them; 0 to 1. */
    public double largestShare() {
        return largestShare;
    }

    public boolean isUrgent() {
        return largestShare > URGENT_SHARE;
    }

    /**
     * Where the two versions lie that have not met: at {@code [i][j]} about how many keys of the
     * component of the primary with number i, newest first, have their next older version in that
     * with number j, above i. Reads as much as a first {@link #refresh}.
     */
    public static double[][] pairs(List<ComponentHandle> newestFirst) {
        int count = newestFirst.size();
        double[][] pairs = new double[count][count];
        for (int i = 0; i < count; i++) {
            ComponentHandle newer = newestFirst.get(i);
            double[] shares = look(newer, newestFirst.subList(i + 1, count));
            for (int j = 0; j < shares.length; j++) {
                pairs[i][i + 1 + j] = shares[j] * newer.component().entryCount();
            }
        }
        return pairs;
    }

    /**
     * Which share of the keys looked at has its next older version in each of the older components.
     */
    private static double[] look(ComponentHandle newer, List<ComponentHandle> older) {
        DiskComponent component = newer.component();
        double[] hits = new double[older.size()];
        if (older.isEmpty()) {
            return hits;
        }
        Found found = new Found(0);
        int looked = 0;
        try (TreeCursor cursor = component.keyCursor()) {
            for (int spot = 0; spot < SPOTS && component.entryCount() > 0; spot++) {
                cursor.seekOrdinal(component.entryCount() * spot / SPOTS);
                for (int i = 0; i < KEYS_A_SPOT && cursor.next(); i++) {
                    looked++;
                    int where = newestWith(older, cursor.key(), found);
                    if (where >= 0) {
                        hits[where]++;
                    }
                }
            }
        } catch (StorageException unreadable) {
            // this is a guess; whoever reads the page for an answer reports it
            return new double[older.size()];
        }
        for (int i = 0; i < hits.length; i++) {
            hits[i] /= Math.max(1, looked);
        }
        return hits;
    }

    /** The number of the newest component that has the key; -1 if none has. */
    private static int newestWith(List<ComponentHandle> older, Slice key, Found found) {
        long hash = BloomFilter.hash(key);
        for (int i = 0; i < older.size(); i++) {
            DiskComponent component = older.get(i).component();
            if (component.mayContain(hash)
                    && component.findKey(key, Long.MAX_VALUE, found) != Found.ABSENT) {
                return i;
            }
        }
        return -1;
    }
}
