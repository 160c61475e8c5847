package io.turbidite.lsm.sort;

import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.lsm.entry.EntryStream;

import java.lang.foreign.MemorySegment;

/** Writes and reads entries as {@link RunFormat} has them: in memory as in run files. Stateless. */
final class RunEntry {
    private RunEntry() {}

    /** Bytes of an entry. */
    static int bytes(Slice key, Slice value) {
        return RunFormat.KEY_OFFSET + key.length() + value.length();
    }

    static long version(long timestamp, boolean antimatter) {
        return timestamp << 1 | (antimatter ? 1 : 0);
    }

    /** Writes the entry that a stream stands on. */
    static void write(EntryStream entry, MemorySegment target, long at) {
        long version = version(entry.timestamp(), entry.isAntimatter());
        write(entry.key(), version, entry.value(), target, at);
    }

    static void write(Slice key, long version, Slice value, MemorySegment target, long at) {
        target.set(Bytes.I32, at + RunFormat.KEY_BYTES_OFFSET, key.length());
        target.set(Bytes.I32, at + RunFormat.VALUE_BYTES_OFFSET, value.length());
        target.set(Bytes.I64, at + RunFormat.VERSION_OFFSET, version);
        long keyAt = at + RunFormat.KEY_OFFSET;
        MemorySegment.copy(key.segment(), key.offset(), target, keyAt, key.length());
        MemorySegment.copy(
                value.segment(), value.offset(), target, keyAt + key.length(), value.length());
    }

    static int keyBytes(MemorySegment source, long at) {
        return source.get(Bytes.I32, at + RunFormat.KEY_BYTES_OFFSET);
    }

    static int valueBytes(MemorySegment source, long at) {
        return source.get(Bytes.I32, at + RunFormat.VALUE_BYTES_OFFSET);
    }

    /** The timestamp times two, plus one for anti-matter. */
    static long version(MemorySegment source, long at) {
        return source.get(Bytes.I64, at + RunFormat.VERSION_OFFSET);
    }
}
