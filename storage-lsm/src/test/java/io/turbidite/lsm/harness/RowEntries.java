package io.turbidite.lsm.harness;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.index.EntryKeyList;
import io.turbidite.core.index.EntryKeys;
import io.turbidite.core.record.RecordView;
import io.turbidite.lsm.Dataset;

import org.jspecify.annotations.Nullable;

import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/**
 * The entries that rows have in indexes. Each is computed once: a history asks for those of the
 * same rows at each check. <em>Confined to one thread.</em>
 */
final class RowEntries {
    /** Indexes that are remembered: those of a history's store since it was opened twice or so. */
    private static final int INDEX_COUNT_MAX = 32;

    private final IdentityHashMap<EntryKeys, Map<Row, List<Entry>>> known = new IdentityHashMap<>();
    private final EntryKeyList keys = new EntryKeyList();

    /** The entries of a row, which follow from it alone. */
    List<Entry> of(Dataset dataset, EntryKeys index, Row row) {
        if (known.size() > INDEX_COUNT_MAX) {
            known.clear();
        }
        return known.computeIfAbsent(index, first -> new HashMap<>())
                .computeIfAbsent(row, asked -> computed(dataset, index, asked));
    }

    private List<Entry> computed(Dataset dataset, EntryKeys index, Row row) {
        RecordView record = new RecordView(dataset.type());
        record.wrap(dataset.newRecordWriter().write(row.toMap(dataset.type())));
        byte[] primary = dataset.primaryKeySpec().encode(row.id());
        index.append(record, Slice.of(primary), keys.clear());
        Entry[] entries = new Entry[keys.count()];
        for (int i = 0; i < entries.length; i++) {
            entries[i] = new Entry(keys.key(i, new Slice()).toByteArray());
        }
        return List.of(entries);
    }

    /** An entry of an index. */
    static final class Entry implements Comparable<Entry> {
        private final byte[] key;
        private final int hash;

        Entry(byte[] key) {
            this.key = key;
            this.hash = Arrays.hashCode(key);
        }

        Entry(byte[] secondary, byte[] primary) {
            this(joined(secondary, primary));
        }

        byte[] key() {
            return key;
        }

        private static byte[] joined(byte[] secondary, byte[] primary) {
            byte[] both = Arrays.copyOf(secondary, secondary.length + primary.length);
            System.arraycopy(primary, 0, both, secondary.length, primary.length);
            return both;
        }

        @Override
        public int compareTo(Entry other) {
            return Arrays.compareUnsigned(key, other.key);
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Entry entry && Arrays.equals(key, entry.key);
        }

        @Override
        public int hashCode() {
            return hash;
        }

        @Override
        public String toString() {
            return HexFormat.of().formatHex(key);
        }
    }
}
