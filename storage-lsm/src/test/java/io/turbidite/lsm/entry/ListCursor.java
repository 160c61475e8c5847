package io.turbidite.lsm.entry;

import io.turbidite.core.bytes.Slice;

import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/** Entries of a list, sorted; for tests. */
public final class ListCursor implements EntryCursor {
    /** Key ascending, timestamp descending. */
    public static final Comparator<Row> ORDER = Comparator.comparing(
                    Row::key, Arrays::compareUnsigned)
            .thenComparing(Comparator.comparingLong(Row::timestamp).reversed());

    private final List<Row> rows;

    /** The entry it stands on; without one, the entry before the gap. */
    private int index = -1;

    private boolean standsOnEntry;
    private boolean closed;

    public ListCursor(List<Row> rows) {
        this.rows = rows.stream().sorted(ORDER).toList();
    }

    /** An entry, with its bytes on the heap; equal by content. */
    public static final class Row {
        private final byte[] key;
        private final long timestamp;
        private final boolean antimatter;
        private final byte[] value;

        public Row(byte[] key, long timestamp, boolean antimatter, byte[] value) {
            this.key = key;
            this.timestamp = timestamp;
            this.antimatter = antimatter;
            this.value = value;
        }

        /** The entry that {@code cursor} stands on. */
        public static Row of(EntryStream cursor) {
            return new Row(
                    cursor.key().toByteArray(),
                    cursor.timestamp(),
                    cursor.isAntimatter(),
                    cursor.value().toByteArray());
        }

        public byte[] key() {
            return key;
        }

        public long timestamp() {
            return timestamp;
        }

        public boolean antimatter() {
            return antimatter;
        }

        public byte[] value() {
            return value;
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Row row
                    && timestamp == row.timestamp
                    && antimatter == row.antimatter
                    && Arrays.equals(key, row.key)
                    && Arrays.equals(value, row.value);
        }

        @Override
        public int hashCode() {
            return Arrays.hashCode(key) * 31 + Long.hashCode(timestamp);
        }

        @Override
        public String toString() {
            return Arrays.toString(key)
                    + "@"
                    + timestamp
                    + (antimatter ? "-" : "+")
                    + Arrays.toString(value);
        }
    }

    @Override
    public void seek(Slice key) {
        byte[] target = key.toByteArray();
        int at = 0;
        while (at < rows.size() && Arrays.compareUnsigned(rows.get(at).key, target) < 0) {
            at++;
        }
        index = at - 1;
        standsOnEntry = false;
    }

    /** Stands before the first entry. */
    public void rewind() {
        index = -1;
        standsOnEntry = false;
    }

    @Override
    public void seekEnd() {
        index = rows.size() - 1;
        standsOnEntry = false;
    }

    @Override
    public boolean next() {
        standsOnEntry = index + 1 < rows.size();
        index += standsOnEntry ? 1 : 0;
        return standsOnEntry;
    }

    @Override
    public boolean previous() {
        index = Math.max(-1, standsOnEntry ? index - 1 : index);
        standsOnEntry = index >= 0;
        return standsOnEntry;
    }

    @Override
    public Slice key() {
        return Slice.of(rows.get(index).key);
    }

    @Override
    public long timestamp() {
        return rows.get(index).timestamp;
    }

    @Override
    public boolean isAntimatter() {
        return rows.get(index).antimatter;
    }

    @Override
    public Slice value() {
        return Slice.of(rows.get(index).value);
    }

    public boolean closed() {
        return closed;
    }

    @Override
    public void close() {
        closed = true;
    }
}
