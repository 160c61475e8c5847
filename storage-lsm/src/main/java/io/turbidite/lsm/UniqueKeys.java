package io.turbidite.lsm;

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
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.partition.StoreHealth;
import io.turbidite.lsm.partition.ViewState;
import io.turbidite.lsm.read.PartitionReads;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.write.KeyStripes;

import java.util.Arrays;
import java.util.List;

/**
 * The keys that a batch would put into unique indexes, and the check that nobody else has them (design §4
 * rule 11).
 *
 * <ol>
 *   <li>A key's own stripe is locked, across partitions, from before the probe until the entry is in memory:
 *       of two writers who want one key, the second sees the first's entry.
 *   <li>A record that gives a key up needs no lock: whoever finds it given up draws a later timestamp and a
 *       later place in the log.
 *   <li>What counts is the state after the whole batch: records may swap keys in it. A key with a null or
 *       missing field is equal to none.
 *   <li>Keys are compared and locked in the current {@link KeyForm}, in which the two zeros are one. An older index
 *       is probed for both.
 * </ol>
 *
 * <p><em>Confined to one thread.</em> Costs a search of every partition for each key that is new to its
 * record; nothing if the dataset has no unique index.
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
    void collect(WriteBatch batch) {
        bytes.clear();
        count = 0;
        for (int i = 0; i < batch.size(); i++) {
            List<IndexSchema> unique = batch.dataset(i).uniqueIndexes();
            if (unique.isEmpty() || batch.isSuperseded(i) || !batch.leavesRecord(i)) {
                continue;
            }
            RecordView view = new RecordView(batch.dataset(i).type());
            view.wrap(batch.record(i, record));
            for (int u = 0; u < unique.size(); u++) {
                if (!unique.get(u).key().hasNullOrMissing(view)) {
                    add(unique.get(u), view, i);
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
        return index.key().withForm(KeyForm.CURRENT);
    }

    private Slice key(int at, Slice slice) {
        return slice.set(bytes.segment(), offsets[at], lengths[at]);
    }

    int count() {
        return count;
    }

    /** The stripe to lock for a key. */
    int stripe(int at, WriteBatch batch, KeyStripes stripes) {
        return stripes.stripeOf(batch.dataset(operations[at]).schema().id(), hashes[at]);
    }

    /**
     * Checks, under the stripes and with the old records read, that the batch leaves every key with one
     * record.
     *
     * @throws DuplicateKeyException naming index, key and both records
     */
    void check(WriteBatch batch, StoreHealth health) {
        if (count == 0) {
            return;
        }
        checkAmongThemselves(batch);
        ViewState now = new ViewState(Limits.TIMESTAMP_MAX, health);
        for (int at = 0; at < count; at++) {
            if (!batch.isSuperseded(operations[at]) && !hasItAlready(batch, at)) {
                probe(batch, at, now);
            }
        }
    }

    /** High bits of the hash, then the position: sorting brings equal keys together. */
    private void checkAmongThemselves(WriteBatch batch) {
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
                        && sameDataset(batch, operations[earlier], operations[later])
                        && key(earlier, key).contentEquals(key(later, other))) {
                    batch.key(operations[earlier], primaryKey);
                    throw duplicate(batch, later, primaryKey);
                }
            }
        }
    }

    private static boolean sameDataset(WriteBatch batch, int a, int b) {
        return batch.dataset(a).equals(batch.dataset(b));
    }

    /** Whether the record that is replaced has the same key: then nobody else has. */
    private boolean hasItAlready(WriteBatch batch, int at) {
        Slice old = batch.old(operations[at], record);
        if (old.length() == 0) {
            return false;
        }
        RecordView view = new RecordView(batch.dataset(operations[at]).type());
        oldKey.clear();
        if (!indexes[at].appendIfFits(view.wrap(old), oldKey)) {
            return false;
        }
        if (indexes[at].key().isAmbiguous()) {
            oldKey.clear();
            current(indexes[at]).append(view, oldKey);
        }
        return oldKey.asSlice(other).contentEquals(key(at, key));
    }

    private void probe(WriteBatch batch, int at, ViewState now) {
        probe(batch, at, now, key(at, key));
        if (indexes[at].key().isAmbiguous()) {
            for (Slice same : indexes[at].key().alternatives(key(at, key))) {
                probe(batch, at, now, same);
            }
        }
    }

    private void probe(WriteBatch batch, int at, ViewState now, Slice indexKey) {
        Dataset dataset = batch.dataset(operations[at]);
        KeyRange range = KeyRange.startingWith(indexKey.toByteArray());
        for (Partition partition : dataset.partitions()) {
            try (IndexCursor cursor = PartitionReads.search(
                    partition, indexes[at], now, range, FilterPredicate.none())) {
                while (cursor.next()) {
                    if (!isChangedBy(batch, dataset, cursor.primaryKey())) {
                        throw duplicate(batch, at, cursor.primaryKey());
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
    private boolean isChangedBy(WriteBatch batch, Dataset dataset, Slice holder) {
        long hash = BloomFilter.hash(holder);
        for (int i = 0; i < batch.size(); i++) {
            if (batch.hash(i) == hash
                    && !batch.isSuperseded(i)
                    && batch.dataset(i).equals(dataset)
                    && batch.key(i, primaryKey).contentEquals(holder)) {
                return true;
            }
        }
        return false;
    }

    private DuplicateKeyException duplicate(WriteBatch batch, int at, Slice holder) {
        Dataset dataset = batch.dataset(operations[at]);
        String holderKey = dataset.primaryKeySpec().decode(holder, 0).toString();
        Slice own = batch.key(operations[at], primaryKey);
        return DuplicateKeyException.ofWrite(
                dataset.name(),
                indexes[at].name(),
                indexes[at].key().decode(key(at, key), 0).toString(),
                List.of(dataset.primaryKeySpec().decode(own, 0).toString(), holderKey),
                batch.number(operations[at]));
    }
}
