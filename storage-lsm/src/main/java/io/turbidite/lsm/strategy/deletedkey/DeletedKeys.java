package io.turbidite.lsm.strategy.deletedkey;

import io.turbidite.core.bloom.BloomFilter;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.index.EntryKeys;
import io.turbidite.lsm.entry.Found;
import io.turbidite.lsm.memory.MemoryComponent;
import io.turbidite.lsm.version.ComponentHandle;

import java.util.List;

/**
 * The deleted-key trees of a deleted-key index: which primary keys were written in each of its
 * layers over something older (LUO19 §4.1, on AsterixDB's former way).
 *
 * <p>An entry of the index is obsolete for a reader if a deleted-key tree has its primary key with
 * a timestamp above the entry's, and at or below the reader's. An entry that was superseded within
 * its own memory component is not told of here: local anti-matter took it away.
 *
 * <p><em>Confined to one thread.</em> The layers are whoever's pinned them.
 */
public final class DeletedKeys {
    private final EntryKeys entryKeys;
    private final int headBytes;
    private final List<MemoryComponent> memoryNewestFirst;
    private final List<ComponentHandle> disksNewestFirst;
    private final Found found = new Found(0);
    private final Slice key = new Slice();
    private final Slice primaryKey = new Slice();

    /**
     * @param entryKeys tells where the primary key is in an entry's key
     * @param headBytes bytes in front of an entry's key
     * @param memoryNewestFirst deleted-key trees in memory, all of them newer than those on disk
     * @param disksNewestFirst deleted-key trees on disk
     */
    public DeletedKeys(
            EntryKeys entryKeys,
            int headBytes,
            List<MemoryComponent> memoryNewestFirst,
            List<ComponentHandle> disksNewestFirst) {
        this.entryKeys = entryKeys;
        this.headBytes = headBytes;
        this.memoryNewestFirst = List.copyOf(memoryNewestFirst);
        this.disksNewestFirst = List.copyOf(disksNewestFirst);
    }

    /**
     * Whether the entry of this key, put at {@code timestamp}, is obsolete for a reader at
     * {@code snapshot}.
     */
    boolean hides(Slice entryKey, long timestamp, long snapshot) {
        key.set(entryKey.segment(), entryKey.offset() + headBytes, entryKey.length() - headBytes);
        entryKeys.primaryKey(key, primaryKey);
        return isWrittenOver(timestamp, snapshot);
    }

    private boolean isWrittenOver(long timestamp, long snapshot) {
        // layers are searched newest first, so the first version found is the newest of all
        for (int i = 0; i < memoryNewestFirst.size(); i++) {
            if (isFound(memoryNewestFirst.get(i).find(primaryKey, snapshot, found, false))) {
                return found.timestamp > timestamp;
            }
        }
        long hash = 0;
        boolean hashed = false;
        for (int i = 0; i < disksNewestFirst.size(); i++) {
            ComponentHandle handle = disksNewestFirst.get(i);
            if (handle.state().maxTimestamp() <= timestamp) {
                return false;
            }
            if (handle.component().entryCount() == 0) {
                continue;
            }
            if (!hashed) {
                hash = BloomFilter.hash(primaryKey);
                hashed = true;
            }
            if (handle.component().mayContain(hash)
                    && isFound(handle.component().find(primaryKey, snapshot, found, false))) {
                return found.timestamp > timestamp;
            }
        }
        return false;
    }

    private static boolean isFound(int code) {
        return code != Found.ABSENT;
    }
}
