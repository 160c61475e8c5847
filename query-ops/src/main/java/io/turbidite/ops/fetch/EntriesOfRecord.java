package io.turbidite.ops.fetch;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.geo.Box;
import io.turbidite.core.geo.Zone;
import io.turbidite.core.index.EntryKeyList;
import io.turbidite.core.index.EntryKeys;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.scan.IndexSearch;
import io.turbidite.core.scan.RecordStream;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.search.IndexRange;

import org.jspecify.annotations.Nullable;

import java.util.List;

/** Makes the entries that an index has for a record. <em>Confined to one thread.</em> */
final class EntriesOfRecord {
    private final EntryKeys entryKeys;
    private final IndexSearch search;

    /** Where the values of an R-tree's entries must lie; none of another index. */
    private final List<Zone> zones;

    private final Box value = new Box();
    private final RecordView record;
    private final EntryKeyList keys = new EntryKeyList();
    private final Slice key = new Slice();

    EntriesOfRecord(RecordType type, IndexRange range) {
        this.entryKeys = range.index().entryKeys(type);
        this.search = range.search();
        this.zones = search instanceof IndexSearch.Spatial spatial ? spatial.zones() : List.of();
        this.record = new RecordView(type);
    }

    /** The smallest one that was searched for; null if there is none. */
    @Nullable
    Slice smallest(RecordStream cursor) {
        entryKeys.append(record.wrap(cursor.record()), cursor.key(), keys.clear());
        for (int i = 0; i < keys.count(); i++) {
            if (isSearchedFor(keys.key(i, key))) {
                return key;
            }
        }
        return null;
    }

    /** As {@link IndexSearch#contains}, without garbage. */
    private boolean isSearchedFor(Slice entryKey) {
        if (!(search instanceof IndexSearch.Spatial spatial)) {
            return search.contains(entryKey);
        }
        spatial.kind().decode(entryKey, 0, value);
        for (int i = 0; i < zones.size(); i++) {
            if (zones.get(i).holds(value)) {
                return true;
            }
        }
        return false;
    }
}
