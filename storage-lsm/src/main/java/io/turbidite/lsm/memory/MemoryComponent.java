package io.turbidite.lsm.memory;

import io.turbidite.core.ClosedException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.lsm.entry.EntryCursor;
import io.turbidite.lsm.entry.Found;

import org.jspecify.annotations.Nullable;

import java.util.Arrays;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The mutable layer of one index, for one generation: entries in the order (key ascending, timestamp
 * descending).
 *
 * <p><em>Thread-safe</em>: any number of writers and readers at the same time. A get or a cursor sees
 * every put that had returned before it began. The owner closes it when no operation uses it any more.
 */
public final class MemoryComponent implements AutoCloseable {
    private final ConcurrentSkipListMap<Version, Content> entries = new ConcurrentSkipListMap<>();
    private final AtomicLong bytesUsed = new AtomicLong();
    private volatile boolean closed;

    private MemoryComponent() {}

    public static MemoryComponent create(ChunkSource chunks) {
        if (Integer.bitCount(chunks.chunkBytes()) != 1) {
            throw new IllegalArgumentException("chunk of " + chunks.chunkBytes() + " bytes");
        }
        return new MemoryComponent();
    }

    /**
     * Adds a version of {@code key}. The bytes are copied. A second put with the same key and the same
     * timestamp replaces the first.
     */
    public void put(Slice key, long timestamp, boolean antimatter, Slice value) {
        checkOpen();
        byte[] bytes = value.toByteArray();
        entries.put(new Version(key.toByteArray(), timestamp), new Content(antimatter, bytes));
        bytesUsed.addAndGet(key.length() + bytes.length + 64L);
    }

    /**
     * Finds the newest version of {@code key} at or below {@code snapshot}.
     *
     * @param found filled in unless absent; its value only if {@code wantValue}
     * @return {@link Found#ABSENT}, {@link Found#MATTER} or {@link Found#ANTIMATTER}
     */
    public int find(Slice key, long snapshot, Found found, boolean wantValue) {
        checkOpen();
        byte[] bytes = key.toByteArray();
        var entry = entries.ceilingEntry(new Version(bytes, snapshot));
        if (entry == null || !Arrays.equals(entry.getKey().key, bytes)) {
            return Found.ABSENT;
        }
        found.timestamp = entry.getKey().timestamp;
        found.ordinal = -1;
        if (wantValue) {
            found.value.clear().putBytes(entry.getValue().value);
        }
        return entry.getValue().antimatter ? Found.ANTIMATTER : Found.MATTER;
    }

    /**
     * A cursor over all versions. It shows every entry that was there when it was sought, once and in
     * order, and may or may not show entries that were put since.
     */
    public EntryCursor cursor() {
        checkOpen();
        return new Cursor();
    }

    /** Memory taken from the source, in bytes; cheap. */
    public long bytesUsed() {
        return bytesUsed.get();
    }

    /** Entries put, all versions counted. */
    public long entryCount() {
        return entries.size();
    }

    @Override
    public void close() {
        closed = true;
        entries.clear();
    }

    private void checkOpen() {
        if (closed) {
            throw new ClosedException("the memory component");
        }
    }

    private static final class Version implements Comparable<Version> {
        final byte[] key;
        final long timestamp;

        Version(byte[] key, long timestamp) {
            this.key = key;
            this.timestamp = timestamp;
        }

        @Override
        public int compareTo(Version other) {
            int order = Arrays.compareUnsigned(key, other.key);
            return order != 0 ? order : Long.compare(other.timestamp, timestamp);
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Version version && compareTo(version) == 0;
        }

        @Override
        public int hashCode() {
            return Arrays.hashCode(key) * 31 + Long.hashCode(timestamp);
        }
    }

    private static final class Content {
        final boolean antimatter;
        final byte[] value;

        Content(boolean antimatter, byte[] value) {
            this.antimatter = antimatter;
            this.value = value;
        }
    }

    private final class Cursor implements EntryCursor {
        private final Slice key = new Slice();
        private final Slice value = new Slice();
        private Iterator<Map.Entry<Version, Content>> iterator =
                entries.entrySet().iterator();
        private long timestamp;
        private boolean antimatter;

        @Override
        public void seek(Slice target) {
            checkOpen();
            iterator = entries.tailMap(new Version(target.toByteArray(), Long.MAX_VALUE), true)
                    .entrySet()
                    .iterator();
        }

        @Override
        public boolean next() {
            checkOpen();
            if (!iterator.hasNext()) {
                return false;
            }
            var entry = iterator.next();
            key.set(Slice.of(entry.getKey().key));
            value.set(Slice.of(entry.getValue().value));
            timestamp = entry.getKey().timestamp;
            antimatter = entry.getValue().antimatter;
            return true;
        }

        @Override
        public Slice key() {
            return key;
        }

        @Override
        public long timestamp() {
            return timestamp;
        }

        @Override
        public boolean isAntimatter() {
            return antimatter;
        }

        @Override
        public Slice value() {
            return value;
        }

        @Override
        public void close() {}
    }
}
