package io.turbidite.lsm.maintain;

import io.turbidite.core.StorageException;
import io.turbidite.core.bloom.BloomFilter;
import io.turbidite.core.bytes.Slice;
import io.turbidite.lsm.btree.TreeCursor;
import io.turbidite.lsm.component.DiskComponent;
import io.turbidite.lsm.entry.Found;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.version.ComponentHandle;
import io.turbidite.lsm.version.Version;

import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * About how many entries of a partition's deferred indexes are obsolete and wait for a merge of the primary
 * to find that out.
 *
 * <p>That is one for each key of a component of the primary that an older component has too: the pair has not
 * met in a merge yet, or one of the two would be gone. So a few hundred keys of each component, from places
 * spread over it, are looked for in the Bloom filters of the older ones. Nothing is kept on disk: the estimate
 * is as good after a restart, and merges that took garbage away need not account for it. What is still in
 * memory is not counted.
 *
 * <p>The pages read are as many as {@link #SPOTS}, once for each component.
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
        List<ComponentHandle> components = pinned.tree(IndexSchema.PRIMARY_ID);
        Set<Long> there = new HashSet<>();
        for (int i = 0; i < components.size(); i++) {
            long fileId = components.get(i).state().fileId();
            List<ComponentHandle> older = components.subList(i + 1, components.size());
            there.add(fileId);
            if (!shares.containsKey(fileId)) {
                shares.put(fileId, older.isEmpty() ? 0.0 : look(components.get(i), older));
            }
        }
        shares.keySet().retainAll(there);
        double largest = 0;
        for (IndexSchema index : DeferredAntimatter.deferred(pinned.schema())) {
            long entries = entriesOnDisk(pinned, index.id());
            if (entries > 0) {
                largest = Math.max(largest, Math.min(1, entries(pinned) / (double) entries));
            }
        }
        largestShare = largest;
    }

    /** Obsolete entries that each deferred index has, at most, by the last {@link #refresh}. */
    public long entries(Version pinned) {
        double entries = 0;
        for (ComponentHandle component : pinned.tree(IndexSchema.PRIMARY_ID)) {
            entries += shares.getOrDefault(component.state().fileId(), 0.0)
                    * component.component().entryCount();
        }
        return Math.round(entries);
    }

    private static long entriesOnDisk(Version pinned, int tree) {
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

    /** Which share of the keys looked at is in one of the older components. */
    private static double look(ComponentHandle newer, List<ComponentHandle> older) {
        DiskComponent component = newer.component();
        Found found = new Found(0);
        int looked = 0;
        int hits = 0;
        try (TreeCursor cursor = component.keyCursor()) {
            for (int spot = 0; spot < SPOTS && component.entryCount() > 0; spot++) {
                cursor.seekOrdinal(component.entryCount() * spot / SPOTS);
                for (int i = 0; i < KEYS_A_SPOT && cursor.next(); i++) {
                    looked++;
                    hits += isInOne(older, cursor.key(), found) ? 1 : 0;
                }
            }
        } catch (StorageException unreadable) {
            // this is a guess; whoever reads the page for an answer reports it
            return 0;
        }
        return looked == 0 ? 0 : hits / (double) looked;
    }

    private static boolean isInOne(List<ComponentHandle> older, Slice key, Found found) {
        long hash = BloomFilter.hash(key);
        for (int i = 0; i < older.size(); i++) {
            DiskComponent component = older.get(i).component();
            boolean there = component.hasBloom()
                    ? component.mayContain(hash)
                    : component.findKey(key, Long.MAX_VALUE, found) != Found.ABSENT;
            if (there) {
                return true;
            }
        }
        return false;
    }
}
