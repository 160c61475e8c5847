package io.turbidite.lsm.sample;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.lsm.entry.EntryHead;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * Takes a sample of the entries that go into a component, in the pass that writes them: those whose
 * keys' hashes are not above a bound. When there are more than a share of the file allows, the
 * bound is lowered and what lies above it is thrown away.
 *
 * <p><em>Confined to one thread at a time.</em> Costs an entry a multiplication and a comparison;
 * one that is kept, a copy. Holds {@value #BYTES_MAX} bytes at most, and one entry.
 */
public final class SampleBuilder {
    /** The sample's share of the file: 0.47 %. */
    private static final int SHARE = 212;

    /** Of 212 MiB and more: some thousand records tell a share of 1 % within a third. */
    static final int BYTES_MAX = 1 << 20;

    /** With one entry that is about to be thrown away. */
    static final int PAYLOAD_BYTES_MAX = BYTES_MAX + (8 << 10);

    /** While the file is small nobody knows how large it will be. */
    private static final int BYTES_MIN = 16 << 10;

    /** A sample that would be smaller may still have so much. */
    private static final int SPARE_BYTES = 256;

    private final ByteSink entries = new ByteSink(1 << 10, PAYLOAD_BYTES_MAX);
    private long[] hashes = new long[64];
    private int[] offsets = new int[64];
    private int count;
    private long bound = -1;

    /**
     * Adds an entry, unless it is not in the sample. Only the newest of a key may come.
     *
     * @param keyHash {@link io.turbidite.core.bloom.BloomFilter#hash} of the key
     * @param fileBytes of the file so far
     */
    public void add(EntryHead entry, long keyHash, Slice value, long fileBytes) {
        long mixed = SampleFormat.mixed(keyHash);
        if (SampleFormat.isIn(mixed, bound)) {
            keep(entry, mixed, value);
            long most = Math.min(BYTES_MAX, Math.max(BYTES_MIN, fileBytes / SHARE));
            if (entries.length() > most) {
                // an eighth more goes than has to, so that entries are sorted once for many
                shrink(most - most / 8);
            }
        }
    }

    private void keep(EntryHead entry, long mixed, Slice value) {
        if (count == hashes.length) {
            hashes = Arrays.copyOf(hashes, 2 * count);
            offsets = Arrays.copyOf(offsets, 2 * count);
        }
        boolean isLong = value.length() > SampleFormat.VALUE_BYTES_MAX;
        hashes[count] = mixed;
        offsets[count] = entries.length();
        count++;
        entries.putByte(
                entry.antimatter ? SampleFormat.ANTIMATTER : isLong ? SampleFormat.TOO_LONG : 0);
        entries.putByte(0);
        entries.putByte(entry.keyBytes & 0xFF).putByte(entry.keyBytes >>> Byte.SIZE);
        entries.putInt(isLong ? 0 : value.length());
        entry.putKey(entries);
        if (!isLong) {
            entries.putBytes(value);
        }
    }

    /** Lowers the bound until what is left has no more bytes. */
    private void shrink(long most) {
        if (entries.length() <= most) {
            return;
        }
        Integer[] byHash = new Integer[count];
        Arrays.setAll(byHash, i -> i);
        Arrays.sort(byHash, (a, b) -> Long.compareUnsigned(hashes[a], hashes[b]));
        long bytes = 0;
        int kept = 0;
        while (kept < count && bytes + entryBytes(byHash[kept]) <= most) {
            bytes += entryBytes(byHash[kept++]);
        }
        if (kept == 0) {
            count = 0;
            entries.clear();
        } else {
            bound = hashes[byHash[kept - 1]];
            retain();
        }
    }

    private int entryBytes(int entry) {
        return (entry + 1 < count ? offsets[entry + 1] : entries.length()) - offsets[entry];
    }

    /** Throws away what is above the bound. */
    private void retain() {
        MemorySegment bytes = entries.segment();
        int kept = 0;
        int end = 0;
        for (int i = 0; i < count; i++) {
            int from = offsets[i];
            int length = entryBytes(i);
            if (SampleFormat.isIn(hashes[i], bound)) {
                // to the front: the copy never runs over what is yet to be copied
                MemorySegment.copy(bytes, from, bytes, end, length);
                hashes[kept] = hashes[i];
                offsets[kept++] = end;
                end += length;
            }
        }
        count = kept;
        entries.truncate(end);
    }

    /**
     * The payload of the sample's block; null if nothing is left of it.
     *
     * @param fileBytes of the file
     */
    public @Nullable MemorySegment build(long fileBytes) {
        shrink(Math.min(BYTES_MAX, fileBytes / SHARE + SPARE_BYTES));
        if (count == 0) {
            return null;
        }
        ByteSink payload =
                new ByteSink(SampleFormat.HEAD_BYTES + entries.length(), PAYLOAD_BYTES_MAX);
        payload.putLong(bound).putInt(count).putInt(0);
        payload.putBytes(entries.segment(), 0, entries.length());
        return payload.segment().asSlice(0, payload.length());
    }
}
