package io.turbidite.lsm.write;

import io.turbidite.core.DuplicateKeyException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;
import io.turbidite.core.bloom.BloomFilter;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.key.KeyForm;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.IndexCursor;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.lsm.dataset.OpenDataset;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.partition.StoreHealth;
import io.turbidite.lsm.partition.ViewState;
import io.turbidite.lsm.read.PartitionReads;
import io.turbidite.lsm.schema.IndexSchema;

import java.util.Arrays;
import java.util.List;

/**
 * The keys that a batch would put into unique indexes, and the check that nobody else has them
 * (design §4 rule 11).
 *
 * <ol>
 *   <li>A key's own stripe is locked, across partitions, from before the probe until the entry is
 *       in memory: of two writers who want one key, the second sees the first's entry.
 *   <li>A record that gives a key up needs no lock: whoever finds it given up draws a later
 *       timestamp and a later place in the log.
 *   <li>What counts is the state after the whole batch: records may swap keys in it. A key with a
 *       null or missing field is equal to none.
 *   <li>Keys are compared and locked in the current {@link KeyForm}, in which the two zeros are
 *       one. An older index is probed for both.
 * </ol>
 *
 * <p><em>Confined to one thread.</em> Costs a search of every partition for each key that is new to
 * its record; nothing if the dataset has no unique index.
 */
final class UniqueKeys {
    private static final long INDEX_MASK = (1 << 20) - 1;

    private final ByteSink bytes = new ByteSink(256, Integer.MAX_VALUE - 16);
    private final ByteSink oldKey = new ByteSink(256, 2 * Limits.KEY_BYTES_MAX);
    private final Slice key = new Slice();
    private final Slice other = new Slice();
    private final Slice record = new Slice();
    private final Slice primaryKey = new Slice();
    private int count;
    private int[] operations = new int[4];
    private int[] offsets = new int[4];
    private int[] lengths = new int[4];
    private long[] hashes = new long[4];
    private IndexSchema[] indexes = new IndexSchema[4];

    /** Finds the keys that the records of a batch give. */
    void collect(WriteSet set) {
        bytes.clear();
        count = 0;
        for (int i = 0; i < set.size(); i++) {
            int at = set.at(i);
            OpenDataset dataset = set.dataset(at);
            List<IndexSchema> unique = dataset.uniqueIndexes();
            if (unique.isEmpty() || !set.leavesRecord(at)) {
                continue;
            }
            RecordView view = new RecordView(dataset.schema().type());
            view.wrap(set.record(at, record));
            for (int u = 0; u < unique.size(); u++) {
                if (!unique.get(u).fieldKey().hasNullOrMissing(view)) {
                    add(unique.get(u), view, at);
                }
            }
        }
    }

    private void add(IndexSchema index, RecordView view, int operation) {
        if (count == operations.length) {
            operations = Arrays.copyOf(operations, 2 * count);
            offsets = Arrays.copyOf(offsets, 2 * count);
            lengths = Arrays.copyOf(lengths, 2 * count);
            hashes = Arrays.copyOf(hashes, 2 * count);
            indexes = Arrays.copyOf(indexes, 2 * count);
        }
        operations[count] = operation;
        indexes[count] = index;
        offsets[count] = bytes.length();
        current(index).append(view, bytes);
        lengths[count] = bytes.length() - offsets[count];
        hashes[count] = BloomFilter.hash(key(count, key)) + index.id();
        count++;
    }

    private static KeySpec current(IndexSchema index) {
        return index.fieldKey().withForm(KeyForm.CURRENT);
    }

    private Slice key(int at, Slice slice) {
        return slice.set(bytes.segment(), offsets[at], lengths[at]);
    }

    int count() {
        return count;
    }

    /** The stripe to lock for a key. */
    int stripe(int at, WriteSet set, KeyStripes stripes) {
        return stripes.stripeOf(set.dataset(operations[at]).schema().id(), hashes[at]);
    }

    /**
     * Checks, under the stripes and with the old records read, that the batch leaves every key with
     * one record.
     *
     * @throws DuplicateKeyException naming index, key and both records
     */
    void check(WriteSet set, StoreHealth health) {
        if (count == 0) {
            return;
        }
        checkAmongThemselves(set);
        ViewState now = new ViewState(Limits.TIMESTAMP_MAX, health);
        for (int at = 0; at < count; at++) {
            if (!hasItAlready(set, at)) {
                probe(set, at, now);
            }
        }
    }

    /** High bits of the hash, then the position: sorting brings equal keys together. */
    private void checkAmongThemselves(WriteSet set) {
        long[] sorted = new long[count];
        for (int at = 0; at < count; at++) {
            sorted[at] = (hashes[at] & ~INDEX_MASK) | at;
        }
        Arrays.sort(sorted);
        for (int i = 1; i < count; i++) {
            int later = (int) (sorted[i] & INDEX_MASK);
            long high = sorted[i] & ~INDEX_MASK;
            for (int j = i - 1; j >= 0 && (sorted[j] & ~INDEX_MASK) == high; j--) {
                int earlier = (int) (sorted[j] & INDEX_MASK);
                if (indexes[earlier].id() == indexes[later].id()
                        && sameDataset(set, operations[earlier], operations[later])
                        && key(earlier, key).contentEquals(key(later, other))) {
                    set.key(operations[earlier], primaryKey);
                    throw duplicate(set, later, primaryKey);
                }
            }
        }
    }

    private static boolean sameDataset(WriteSet set, int a, int b) {
        return set.dataset(a).equals(set.dataset(b));
    }

    /** Whether the record that is replaced has the same key: then nobody else has. */
    private boolean hasItAlready(WriteSet set, int at) {
        Slice old = set.old(operations[at], record);
        if (old.length() == 0) {
            return false;
        }
        RecordView view = new RecordView(set.dataset(operations[at]).schema().type());
        oldKey.clear();
        try {
            current(indexes[at]).append(view.wrap(old), oldKey);
        } catch (InvalidRequestException tooLong) {
            return false; // it is older than the index
        }
        return oldKey.asSlice(other).contentEquals(key(at, key));
    }

    private void probe(WriteSet set, int at, ViewState now) {
        probe(set, at, now, key(at, key));
        if (indexes[at].fieldKey().isAmbiguous()) {
            for (Slice same : indexes[at].fieldKey().alternatives(key(at, key))) {
                probe(set, at, now, same);
            }
        }
    }

    private void probe(WriteSet set, int at, ViewState now, Slice indexKey) {
        OpenDataset dataset = set.dataset(operations[at]);
        KeyRange range = KeyRange.startingWith(indexKey.toByteArray());
        for (Partition partition : dataset.partitions()) {
            try (IndexCursor cursor = PartitionReads.search(
                    partition, indexes[at], now, range, FilterPredicate.none())) {
                while (cursor.next()) {
                    if (!isChangedBy(set, dataset, cursor.primaryKey())) {
                        throw duplicate(set, at, cursor.primaryKey());
                    }
                }
            } catch (DuplicateKeyException taken) {
                throw taken;
            } catch (InvalidRequestException gone) {
                // dropped while this write was under way: nothing is to be kept unique any more
                if (partition.schema().index(indexes[at].id()) != null) {
                    throw gone;
                }
            }
        }
    }

    /** Whether the batch writes that record too: then its key afterwards was compared already. */
    private boolean isChangedBy(WriteSet set, OpenDataset dataset, Slice holder) {
        long hash = BloomFilter.hash(holder);
        for (int i = 0; i < set.size(); i++) {
            int at = set.at(i);
            if (set.hash(at) == hash
                    && set.dataset(at).equals(dataset)
                    && set.key(at, primaryKey).contentEquals(holder)) {
                return true;
            }
        }
        return false;
    }

    private DuplicateKeyException duplicate(WriteSet set, int at, Slice holder) {
        OpenDataset dataset = set.dataset(operations[at]);
        KeySpec primaryKeys = dataset.schema().primaryKey();
        String holderKey = primaryKeys.decode(holder, 0).toString();
        Slice own = set.key(operations[at], primaryKey);
        return DuplicateKeyException.ofWrite(
                dataset.name(),
                indexes[at].name(),
                indexes[at].fieldKey().decode(key(at, key), 0).toString(),
                List.of(primaryKeys.decode(own, 0).toString(), holderKey),
                set.number(operations[at]));
    }
}
