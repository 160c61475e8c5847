package io.turbidite.feeds.store;

import io.turbidite.core.Undo;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.file.Disk;
import io.turbidite.core.time.Clock;
import io.turbidite.core.type.RecordType;
import io.turbidite.feeds.flow.Batch;
import io.turbidite.hashlog.HashLog;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Store;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Delivers into a dataset or a hash log. Dead letters of a batch are durable before the position
 * behind it is; {@link DatasetTarget} and {@link LogTarget} say how records and positions stay
 * together.
 */
public final class FeedDelivery implements Delivery {
    /** Where dead letters are, in the directory of the store or log. */
    public static final String LETTERS_DIRECTORY = "dead-letters";

    private final DeliveryTarget target;
    private final DeadLetterFile letters;
    private final Disk disk;
    private final Slice slice = new Slice();
    private final AtomicLong accepted = new AtomicLong();
    private final AtomicLong rejected = new AtomicLong();

    /** What is done with a record. */
    public enum Operation {
        UPSERT,
        INSERT,
        /** The records hold the key's fields only. */
        DELETE
    }

    private FeedDelivery(DeliveryTarget target, DeadLetterFile letters, Disk disk) {
        this.target = target;
        this.letters = letters;
        this.disk = disk;
    }

    /**
     * Opens the delivery of a feed into a dataset; one at a time for each feed.
     *
     * @param feed its name
     * @throws io.turbidite.core.InvalidRequestException if the dataset is another store's
     */
    public static FeedDelivery into(
            Store store, Dataset dataset, String feed, Operation operation) {
        store.requireOwn(dataset); // before anything is made for the feed
        return open(
                new DatasetTarget(store, dataset, feed, operation),
                store.environment().disk(),
                feed);
    }

    /**
     * Opens the delivery of a feed into a log; one at a time for each feed, and no other session
     * beside it.
     *
     * @param disk where positions and dead letters are kept
     */
    public static FeedDelivery into(HashLog log, Disk disk, Clock clock, String feed) {
        return open(LogTarget.open(log, disk, clock, feed), disk, feed);
    }

    private static FeedDelivery open(DeliveryTarget target, Disk disk, String feed) {
        try (Undo undo = Undo.of(target::close)) {
            DeadLetterFile letters = DeadLetterFile.open(
                    disk, LETTERS_DIRECTORY + "/" + feed + ".jsonl", target.letterBytes());
            return undo.keep(new FeedDelivery(target, letters, disk));
        }
    }

    /** Whether {@code feed} has read of a file of that name into this store. */
    public static boolean hasPosition(Store store, String feed, String file) {
        return store.findDataset(Positions.DATASET) != null
                && Positions.open(store, feed).file(file) != null;
    }

    /** Forgets how far a feed is in these files. Its dead letters stay. */
    public static void forget(Store store, String feed, List<String> files) {
        Positions.open(store, feed).forget(files);
    }

    /** The type of the records that {@link Operation#DELETE} takes: the primary key's fields. */
    public static RecordType keyType(RecordType type, List<String> primaryKey) {
        return type.only(primaryKey);
    }

    @Override
    public @Nullable FilePosition position(String file) {
        return target.position(file);
    }

    @Override
    public void deliver(Batch batch) {
        letters.append(batch.letters(slice));
        DeliveryTarget.Taken taken = target.take(batch, letters);
        accepted.addAndGet(taken.newCount());
        rejected.addAndGet(batch.rejectedCount() + taken.refusedCount());
    }

    @Override
    public boolean replaces(Slice before, Slice after) {
        return target.replaces(before, after);
    }

    @Override
    public void commit() {
        target.commit(letters);
    }

    @Override
    public long accepted() {
        return accepted.get();
    }

    @Override
    public long rejected() {
        return rejected.get();
    }

    @Override
    public @Nullable String deadLetters() {
        String name = letters.name();
        return name == null ? null : disk.description() + "/" + name;
    }

    @Override
    public void close() {
        try {
            target.close();
        } finally {
            letters.close();
        }
    }
}
