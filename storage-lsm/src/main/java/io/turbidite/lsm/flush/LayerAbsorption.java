package io.turbidite.lsm.flush;

import io.turbidite.core.Limits;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.index.EntryKeys;
import io.turbidite.core.index.IndexRegion;
import io.turbidite.core.index.RegionEntries;
import io.turbidite.lsm.entry.EntryStream;
import io.turbidite.lsm.merge.VersionRetention;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.schema.TreeId;
import io.turbidite.lsm.version.MemoryLayer;

/**
 * How a region takes in a frozen layer, whose log is durable (design §4 rule 16):
 *
 * <ol>
 *   <li>of each primary key of the layer the newest operation, deletes too, and how many versions
 *       with an entry are kept;
 *   <li>the entries in the order of their secondary keys, those of one by timestamp;
 *   <li>the end, which makes them durable.
 * </ol>
 *
 * <p>What was superseded within the layer and no snapshot reads stays out: both passes keep the
 * same versions, as an entry is followed in its key by that of its successor or by anti-matter.
 *
 * <p><em>Confined to one thread.</em>
 */
final class LayerAbsorption {
    private final IndexRegion.Absorption absorption;
    private final EntryKeys entryKeys;
    private final RegionEntries entries = new RegionEntries();
    private final Slice secondaryKey = new Slice();
    private final Slice primaryKey = new Slice();

    private LayerAbsorption(IndexRegion.Absorption absorption, EntryKeys entryKeys) {
        this.absorption = absorption;
        this.entryKeys = entryKeys;
    }

    /**
     * Absorbs a layer.
     *
     * @param readers what snapshots read
     */
    static void run(
            IndexRegion region, IndexSchema index, MemoryLayer layer, VersionRetention readers) {
        VersionRetention kept = readers.droppingAntimatter(false);
        LayerAbsorption work = new LayerAbsorption(
                region.absorb(readers.horizon(), layer.maxTimestamp()), index.entryKeys());
        try (EntryStream versions = kept.retain(layer.tree(TreeId.PRIMARY).cursor())) {
            work.versions(versions);
        }
        try (EntryStream all = kept.retain(layer.tree(index.tree()).cursor())) {
            work.entries(all);
        }
        work.absorption.commit(layer.maxTimestamp());
    }

    private void versions(EntryStream versions) {
        ByteSink key = new ByteSink(64, Limits.KEY_BYTES_MAX);
        Slice keySlice = new Slice();
        long newest = -1;
        boolean hasEntry = false;
        int entryCount = 0;
        while (versions.next()) {
            Slice next = versions.key();
            if (newest < 0 || !next.contentEquals(key.asSlice(keySlice))) {
                if (newest >= 0) {
                    absorption.version(key.asSlice(keySlice), newest, hasEntry, entryCount);
                }
                key.clear().putBytes(next);
                newest = versions.timestamp();
                hasEntry = !versions.isAntimatter();
                entryCount = 0;
            }
            entryCount += versions.isAntimatter() ? 0 : 1;
        }
        if (newest >= 0) {
            absorption.version(key.asSlice(keySlice), newest, hasEntry, entryCount);
        }
    }

    private void entries(EntryStream all) {
        boolean begun = false;
        while (all.next()) {
            if (all.isAntimatter()) {
                continue; // the newer version tells
            }
            Slice key = all.key();
            int secondaryBytes = entryKeys.secondaryBytes(key);
            secondaryKey.set(key.segment(), key.offset(), secondaryBytes);
            if (!begun || !secondaryKey.contentEquals(entries.secondaryKey())) {
                if (begun) {
                    give();
                }
                begun = true;
                entries.begin(secondaryKey);
            }
            entries.add(
                    primaryKey.set(
                            key.segment(),
                            key.offset() + secondaryBytes,
                            key.length() - secondaryBytes),
                    all.timestamp(),
                    true);
        }
        if (begun) {
            give();
        }
    }

    /** The entries of one secondary key, which came by primary key. */
    private void give() {
        int[] order = entries.byTimestamp();
        for (int i = 0; i < entries.count(); i++) {
            absorption.entry(
                    entries.secondaryKey(),
                    entries.primaryKey(order[i], primaryKey),
                    entries.timestamp(order[i]));
        }
    }
}
