package io.turbidite.feeds.store;

import io.turbidite.core.ClosedException;
import io.turbidite.core.DuplicateKeyException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.key.KeyForm;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.time.Clock;
import io.turbidite.core.type.RecordType;
import io.turbidite.feeds.flow.Batch;
import io.turbidite.feeds.source.PartitionState;
import io.turbidite.feeds.source.Rejection;
import io.turbidite.feeds.source.SourcePosition;
import io.turbidite.feeds.store.Delivery.DurableListener;
import io.turbidite.feeds.store.FeedDelivery.Operation;
import io.turbidite.feeds.store.Positions.Row;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.WriteBatch;

import org.jspecify.annotations.Nullable;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A dataset, in whose store the positions are too. The way of a batch:
 *
 * <ol>
 *   <li>each record is put into one write batch; what the store refuses at once becomes a dead
 *       letter,
 *   <li>all dead letters of the batch are appended to their file and made durable; if another lane
 *       has the file, all that was done is forgotten, and the batch comes again,
 *   <li>the position behind the batch, and the length of that file, go into the same write batch,
 *   <li>the store writes it atomically, if the row of the position is still the one that the batch
 *       follows. If an insert meets a duplicate it has written nothing: the
 *       duplicates are found, become dead letters, and the rest goes again from step 2.
 * </ol>
 *
 * A crash before the end of step 4 leaves no trace but letters behind the committed length, which
 * the next opening cuts off.
 */
final class DatasetTarget implements DeliveryTarget {
    /** Another writer can take keys between two tries; not for ever. */
    private static final int DUPLICATE_ROUNDS_MAX = 16;

    /** Some megabytes; producers may be far more, in the course of time. */
    private static final int ROW_COUNT_MAX = 8_192;

    private final Store store;
    private final Dataset dataset;
    private final String feed;
    private final String owner;
    private final Operation operation;
    private final Positions positions;
    private final Positions ofLetters;
    private final boolean isShared;
    private final Clock clock;

    /** How often rows were deleted; of all lanes. */
    private final AtomicLong forgetCount;

    private long forgetsHeard;

    private final WriteBatch write;
    private final WriteBatch probe;
    private final RecordView view;
    private final KeySpec keySpec;

    /** Of what a delete gives: the key's fields. */
    private final RecordView keyView;

    private final KeySpec deleteSpec;

    /** Equal for equal values, in a dataset of an older key form too. */
    private final KeySpec valueSpec;

    private final ByteSink key = new ByteSink(64, 64 * Limits.KEY_BYTES_MAX);
    private final ByteSink found = new ByteSink(64, Limits.RECORD_BYTES_MAX + 64);
    private final ByteSink refused = new ByteSink(64, Integer.MAX_VALUE - 16);
    private final Slice slice = new Slice();
    private @Nullable String[] reasons = new String[0];

    /** What was last read or written of partitions' rows, of those that came last. */
    private final Map<String, Row> rows = new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Row> eldest) {
            return size() > ROW_COUNT_MAX;
        }
    };

    /**
     * A target.
     *
     * @param owner of the rows that say how far partitions were read: the feed, or its group
     */
    DatasetTarget(Store store, Dataset dataset, String feed, String owner, Operation operation) {
        this(store, dataset, feed, owner, operation, new AtomicLong());
    }

    private DatasetTarget(
            Store store,
            Dataset dataset,
            String feed,
            String owner,
            Operation operation,
            AtomicLong forgetCount) {
        this.store = store;
        this.forgetCount = forgetCount;
        this.dataset = dataset;
        this.feed = feed;
        this.owner = owner;
        this.operation = operation;
        this.ofLetters = Positions.open(store, feed);
        this.isShared = !owner.equals(feed);
        this.positions = isShared ? Positions.open(store, owner) : ofLetters;
        this.clock = store.environment().clock();
        this.write = store.newBatch();
        this.probe = store.newBatch();
        RecordType type = recordType();
        this.view = new RecordView(type);
        this.keySpec = KeySpec.of(type, dataset.primaryKey(), "primary key", dataset.keyForm());
        RecordType keyType = FeedDelivery.keyType(dataset.type(), dataset.primaryKey());
        this.keyView = new RecordView(keyType);
        this.deleteSpec =
                KeySpec.of(keyType, dataset.primaryKey(), "primary key", dataset.keyForm());
        this.valueSpec = keySpec.withForm(KeyForm.CURRENT);
    }

    @Override
    public DeliveryTarget another() {
        return new DatasetTarget(store, dataset, feed, owner, operation, forgetCount);
    }

    @Override
    public long letterBytes() {
        return ofLetters.letterBytes();
    }

    /** The row is written with the batch of the letters, or neither is. */
    @Override
    public boolean knowsLetterBytes() {
        return true;
    }

    @Override
    public @Nullable PartitionState taken(String partition) {
        Row row = positions.row(partition);
        return row == null ? null : row.state();
    }

    @Override
    public Map<String, PartitionState> taken() {
        return positions.all();
    }

    @Override
    public Map<String, SourcePosition> forget(Map<String, SourcePosition> partitions) {
        try {
            return positions.forget(partitions);
        } finally {
            forgetCount.incrementAndGet();
        }
    }

    @Override
    public void touch(Map<String, SourcePosition> partitions, long wallMicros) {
        positions.touch(partitions, wallMicros);
    }

    @Override
    public @Nullable PartitionState last(String partition) {
        long forgets = forgetCount.get();
        if (forgets != forgetsHeard) {
            forgetsHeard = forgets;
            rows.clear(); // one of them may be of a partition's former life
        }
        Row row = rows.get(partition);
        if (row == null) {
            row = positions.row(partition);
            if (row == null) {
                return null;
            }
            rows.put(partition, row);
        }
        return row.state();
    }

    @Override
    public @Nullable PartitionState reread(String partition) {
        rows.remove(partition);
        return last(partition);
    }

    @Override
    public @Nullable Taken take(Batch batch, LetterWriter letters, DurableListener durable) {
        String partition = batch.partition();
        Row row = rows.get(partition);
        PartitionState before = row == null ? null : row.state();
        int count = batch.recordCount();
        if (reasons.length < count) {
            reasons = new String[Math.max(count, 512)];
        }
        Arrays.fill(reasons, 0, count, null);
        int refusedCount = fill(batch);
        if (!letters.append(refused.asSlice(slice))) {
            return null;
        }
        for (int round = 1; ; round++) {
            long nowMicros = clock.wallMicros();
            long toldMicros = before == null ? 0 : before.writtenMicros();
            PartitionState behind = batch.stateBehind(before, count - refusedCount, refusedCount)
                    .writtenAt(Math.max(nowMicros, toldMicros));
            positions.put(write, partition, behind);
            write.onlyIf(row == null ? 0 : row.version());
            if (batch.rejectedCount() + refusedCount > 0) {
                ofLetters.putLetterBytes(write, letters.byteCount(), nowMicros);
            }
            try {
                store.write(write);
                if (write.isRefused()) {
                    row = rewritten(partition, row);
                    before = row.state();
                    refusedCount = fill(batch);
                    if (!letters.append(refused.asSlice(slice))) {
                        return null;
                    }
                    continue;
                }
                rows.put(partition, new Row(behind, write.version()));
                tellRejected(batch, durable);
                durable.durable(partition, behind.position());
                return new Taken(count - refusedCount, 0, refusedCount);
            } catch (DuplicateKeyException e) {
                refused.clear();
                if (e.index() != null) {
                    refuseOperation(batch, e);
                } else if (refuseDuplicates(batch) == 0 && round == DUPLICATE_ROUNDS_MAX) {
                    throw e;
                }
                if (!letters.append(refused.asSlice(slice))) {
                    return null;
                }
                refusedCount = fill(batch);
                if (!letters.append(refused.asSlice(slice))) {
                    return null;
                }
            }
        }
    }

    /**
     * The row, if it was only {@linkplain #touch written anew}.
     *
     * @throws OvertakenException if it says something else than {@code before}
     */
    private Row rewritten(String partition, @Nullable Row before) {
        rows.remove(partition);
        Row now = positions.row(partition);
        if (before == null
                || now == null
                || now.state().sequence() != before.state().sequence()
                || !now.state().position().equals(before.state().position())) {
            throw OvertakenException.of(
                    isShared,
                    "another run of the feed has read %s on meanwhile: this one ends"
                            .formatted(partition));
        }
        return now;
    }

    private void tellRejected(Batch batch, DurableListener durable) {
        if (!batch.isTold()) {
            batch.rejections().forEach(one -> durable.rejected(batch.partition(), one));
            batch.forEachDropped(place -> durable.dropped(batch.partition(), place));
        }
        long told = -1; // several records may be made of one
        for (int i = 0; i < batch.recordCount(); i++) {
            String reason = reasons[i];
            if (reason != null) {
                Rejection rejection = batch.rejection(i, reason);
                if (rejection.offset() != told) {
                    durable.rejected(batch.partition(), rejection);
                    told = rejection.offset();
                }
            }
        }
    }

    /** Each batch is as durable as the store makes it. */
    @Override
    public void commit(DeadLetterFile letters, DurableListener durable) {
        // nothing waits
    }

    @Override
    public boolean replaces(Slice before, Slice after) {
        if (operation == Operation.INSERT) {
            return false;
        }
        // objects of its own: the delivering thread works with the others
        RecordView record = new RecordView(recordType());
        ByteSink keyBefore = new ByteSink(64, 64 * Limits.KEY_BYTES_MAX);
        ByteSink keyAfter = new ByteSink(64, 64 * Limits.KEY_BYTES_MAX);
        KeySpec spec = KeySpec.of(recordType(), dataset.primaryKey(), "primary key");
        spec.append(record.wrap(before), keyBefore);
        spec.append(record.wrap(after), keyAfter);
        return keyBefore.asSlice(new Slice()).compareBytes(keyAfter.asSlice(new Slice())) == 0;
    }

    private RecordType recordType() {
        return operation == Operation.DELETE
                ? FeedDelivery.keyType(dataset.type(), dataset.primaryKey())
                : dataset.type();
    }

    /** The store stays open. */
    @Override
    public void close() {
        // nothing is held
    }

    /**
     * Puts all records that are not refused into the write batch, and makes the letters of those
     * that the store refuses now.
     *
     * @return how many are refused by now
     */
    private int fill(Batch batch) {
        write.clear();
        refused.clear();
        int refusedCount = 0;
        for (int i = 0; i < batch.recordCount(); i++) {
            if (reasons[i] == null) {
                try {
                    put(write, batch, i);
                } catch (ClosedException e) {
                    throw e;
                } catch (InvalidRequestException e) {
                    checkAlone(batch, i);
                    refuse(batch, i, e);
                }
            }
            refusedCount += reasons[i] == null ? 0 : 1;
        }
        return refusedCount;
    }

    private void put(WriteBatch target, Batch batch, int index) {
        Slice record = batch.record(index, slice);
        if (batch.isDelete(index)) {
            target.delete(dataset, key(record, deleteSpec, keyView));
            return;
        }
        switch (operation) {
            case UPSERT -> target.upsert(dataset, record);
            case INSERT -> target.insert(dataset, record);
            case DELETE -> target.delete(dataset, key(record, keySpec, view));
        }
    }

    private Slice key(Slice record, KeySpec spec, RecordView of) {
        key.clear();
        spec.append(of.wrap(record), key);
        Limits.checkKeyBytes("primary key of " + dataset.name(), key.length());
        return key.asSlice(slice);
    }

    /**
     * A record may be refused because the batch is too large for the log: that is not its fault.
     */
    private void checkAlone(Batch batch, int index) {
        boolean good;
        try {
            put(probe.clear(), batch, index);
            good = true;
        } catch (InvalidRequestException e) {
            good = false; // the caller has its reason
        }
        if (good) {
            throw new InvalidRequestException(
                    "the store's log takes no batch of %d bytes with one record more: give it more overflowBytesMax"
                            .formatted(write.byteCount()));
        }
    }

    private void refuse(Batch batch, int index, InvalidRequestException cause) {
        String reason = String.valueOf(cause.getMessage());
        reasons[index] = reason;
        batch.appendLetter(index, reason, refused);
    }

    /** Refuses the record that would take another one's key in a unique index. */
    private void refuseOperation(Batch batch, DuplicateKeyException cause) {
        int at = cause.operation();
        for (int i = 0; i < batch.recordCount(); i++) {
            if (reasons[i] == null && at-- == 0) {
                refuse(batch, i, cause);
                return;
            }
        }
        throw cause;
    }

    /**
     * Refuses inserts whose key is in the dataset, or in the batch before them.
     *
     * @return how many those were
     */
    private int refuseDuplicates(Batch batch) {
        int duplicateCount = 0;
        Set<ByteBuffer> seen = new HashSet<>();
        Set<ByteBuffer> freed = new HashSet<>();
        for (int i = 0; i < batch.recordCount(); i++) {
            if (reasons[i] == null) {
                boolean deletes = batch.isDelete(i);
                KeySpec spec = deletes ? deleteSpec.withForm(KeyForm.CURRENT) : valueSpec;
                key.clear();
                spec.append((deletes ? keyView : view).wrap(batch.record(i, slice)), key);
                ByteBuffer value = ByteBuffer.wrap(key.asSlice(slice).toByteArray());
                if (deletes) {
                    seen.remove(value);
                    freed.add(value);
                    continue;
                }
                boolean taken = !seen.add(value);
                Slice recordKey = key(batch.record(i, slice), keySpec, view);
                if (taken || (!freed.contains(value) && dataset.getRecord(recordKey, found))) {
                    String decoded = keySpec.decode(recordKey, 0).toString();
                    refuse(batch, i, new DuplicateKeyException(dataset.name(), decoded));
                    duplicateCount++;
                }
            }
        }
        return duplicateCount;
    }
}
