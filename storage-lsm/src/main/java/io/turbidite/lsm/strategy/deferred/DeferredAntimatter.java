package io.turbidite.lsm.strategy.deferred;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.index.EntryKeyList;
import io.turbidite.core.record.RecordView;
import io.turbidite.lsm.entry.EntryStream;
import io.turbidite.lsm.merge.Discards;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.sort.Duplicates;
import io.turbidite.lsm.sort.EntrySort;
import io.turbidite.lsm.sort.SortStorage;

import java.util.ArrayList;
import java.util.List;

/**
 * Makes, of the records that a merge of the primary finds superseded, anti-matter for each deferred
 * secondary (DEFER18 §4; design §4 rule 8).
 *
 * <p>The anti-matter for an entry of an old record has its key and the <em>overwriter's</em>
 * timestamp: a snapshot between the two still finds the entry, and an entry that came later with
 * the same key is not touched. Where the new record has the same entry there is none: that has the
 * same key, and hides the old one.
 *
 * <p>Records come in the order of primary keys, entries are wanted in that of secondary keys: they
 * are sorted, in memory while they fit (DEFER18's memory-sort), else in runs on disk that are
 * merged (its disk-merge).
 *
 * <p><em>Confined to one thread at a time.</em> Owns its sorts: their memory and files are gone
 * after {@link #close}, and files also when the store is opened after a crash.
 */
public final class DeferredAntimatter implements Discards, AutoCloseable {
    private static final Slice NOTHING = new Slice();

    private final List<Target> targets = new ArrayList<>();
    private final RecordView oldRecord;
    private final RecordView newRecord;
    private final EntryKeyList oldKeys = new EntryKeyList();
    private final EntryKeyList newKeys = new EntryKeyList();
    private final Slice oldSlice = new Slice();

    /** A deferred secondary and what it gets. */
    private record Target(IndexSchema index, EntrySort sort) {}

    /**
     * @param sortBytesMax for all indexes together; each gets four chunks at least
     */
    public DeferredAntimatter(DatasetSchema schema, SortStorage storage, long sortBytesMax) {
        this(schema, schema.deferredIndexes(), storage, sortBytesMax);
    }

    /** For these secondaries, whatever their strategy is. */
    public DeferredAntimatter(
            DatasetSchema schema,
            List<IndexSchema> indexes,
            SortStorage storage,
            long sortBytesMax) {
        this.oldRecord = new RecordView(schema.type());
        this.newRecord = new RecordView(schema.type());
        for (IndexSchema index : indexes) {
            targets.add(new Target(
                    index,
                    EntrySort.create(
                            storage, sortBytesMax / indexes.size(), new Duplicates.Keep())));
        }
    }

    @Override
    public void superseded(
            Slice key, long timestamp, Slice value, long successorTimestamp, Slice successor) {
        oldRecord.wrap(value);
        boolean deleted = successor.length() == 0;
        if (!deleted) {
            newRecord.wrap(successor);
        }
        for (int i = 0; i < targets.size(); i++) {
            Target target = targets.get(i);
            if (!target.index.makeIfFits(oldRecord, key, oldKeys)) {
                continue;
            }
            newKeys.clear();
            if (!deleted) {
                target.index.makeIfFits(newRecord, key, newKeys);
            }
            for (int k = 0; k < oldKeys.count(); k++) {
                if (!newKeys.contains(oldKeys.key(k, oldSlice))) {
                    target.sort.add(oldSlice, successorTimestamp, true, NOTHING);
                }
            }
        }
    }

    /** Anti-matter made for an index so far. */
    public long count(int indexId) {
        return target(indexId).sort.entryCount();
    }

    /**
     * The anti-matter for an index, by key and then newest first; nothing is superseded any more.
     * To be closed before this is.
     */
    public EntryStream sorted(int indexId) {
        return target(indexId).sort.sorted();
    }

    private Target target(int indexId) {
        for (Target target : targets) {
            if (target.index.id() == indexId) {
                return target;
            }
        }
        throw new IllegalArgumentException("index %d is not deferred".formatted(indexId));
    }

    @Override
    public void close() {
        targets.forEach(target -> target.sort.close());
    }
}
