package io.turbidite.lsm.partition;

import io.turbidite.core.Limits;
import io.turbidite.core.bytes.Slice;
import io.turbidite.lsm.entry.Found;
import io.turbidite.lsm.schema.TreeId;
import io.turbidite.lsm.version.ComponentHandle;
import io.turbidite.lsm.version.MemoryLayer;
import io.turbidite.lsm.version.Version;

/**
 * Searches for the newest version of one key in the layers of a pinned version, newest layer first.
 */
public final class VersionSearch {
    private VersionSearch() {}

    /**
     * Finds the newest version of a key at or below a snapshot, newest layer first.
     *
     * @param keyHash of {@link io.turbidite.core.bloom.BloomFilter#hash}
     * @return a code of {@link Found}
     */
    public static int find(Version pinned, Slice key, long keyHash, long snapshot, Found found) {
        int code = findInMemory(pinned, key, keyHash, snapshot, found, true);
        if (code != Found.ABSENT) {
            return code;
        }
        for (int i = 0; i < pinned.primaryCount(); i++) {
            ComponentHandle handle = pinned.primary(i);
            if (handle.component().mayContain(keyHash)) {
                code = handle.component().find(key, snapshot, found, true);
                if (code != Found.ABSENT) {
                    return code;
                }
            }
        }
        return Found.ABSENT;
    }

    /** As {@link #find}, but through the key trees: touches no record page. */
    public static int findKey(Version pinned, Slice key, long keyHash, long snapshot, Found found) {
        int code = findInMemory(pinned, key, keyHash, snapshot, found, false);
        if (code != Found.ABSENT) {
            return code;
        }
        for (int i = 0; i < pinned.primaryCount(); i++) {
            ComponentHandle handle = pinned.primary(i);
            if (handle.component().mayContain(keyHash)) {
                code = handle.component().findKey(key, snapshot, found);
                if (code != Found.ABSENT) {
                    return code;
                }
            }
        }
        return Found.ABSENT;
    }

    /** Finds the newest version of a key in the current layer alone. */
    public static int findInCurrent(Version pinned, Slice key, long keyHash, Found found) {
        return findInLayer(pinned.current(), key, keyHash, Limits.TIMESTAMP_MAX, found, true);
    }

    public static int findInMemory(
            Version pinned,
            Slice key,
            long keyHash,
            long snapshot,
            Found found,
            boolean wantValue) {
        int code = findInLayer(pinned.current(), key, keyHash, snapshot, found, wantValue);
        MemoryLayer frozen = pinned.frozen();
        return code == Found.ABSENT && frozen != null
                ? findInLayer(frozen, key, keyHash, snapshot, found, wantValue)
                : code;
    }

    public static int findInLayer(
            MemoryLayer layer,
            Slice key,
            long keyHash,
            long snapshot,
            Found found,
            boolean wantValue) {
        return layer.mayContainKey(keyHash)
                ? layer.tree(TreeId.PRIMARY).find(key, snapshot, found, wantValue)
                : Found.ABSENT;
    }
}
