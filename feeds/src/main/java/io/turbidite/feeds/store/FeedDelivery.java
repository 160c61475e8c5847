package io.turbidite.feeds.store;

import io.turbidite.core.Cleanup;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Undo;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.file.Disk;
import io.turbidite.core.time.Clock;
import io.turbidite.core.type.RecordType;
import io.turbidite.feeds.flow.Batch;
import io.turbidite.feeds.source.PartitionState;
import io.turbidite.feeds.source.SourcePosition;
import io.turbidite.hashlog.HashLog;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Store;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
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
    private final boolean isShared;
    private final AtomicLong accepted = new AtomicLong();
    private final AtomicLong repeated = new AtomicLong();
    private final AtomicLong rejected = new AtomicLong();
    private volatile DurableListener durable = (partition, position) -> {};

    /** What is done with a record. */
    public enum Operation {
        UPSERT,
        INSERT,
        /** The records hold the key's fields only. */
        DELETE
    }

    private FeedDelivery(
            DeliveryTarget target, DeadLetterFile letters, Disk disk, boolean isShared) {
        this.isShared = isShared;
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
        return into(store, dataset, feed, feed, operation);
    }

    /**
     * As {@link #into(Store, Dataset, String, Operation)}, of a feed that shares how far it is.
     *
     * @param owner of that: see {@link #owner}
     */
    public static FeedDelivery into(
            Store store, Dataset dataset, String feed, String owner, Operation operation) {
        store.requireOwn(dataset); // before anything is made for the feed
        String other = readInto(store, dataset, owner);
        if (other != null) {
            throw new InvalidRequestException(
                    "feed '%s' has read records into %s: give it another name to load everything anew"
                            .formatted(feed, other));
        }
        Positions.open(store, owner).take(dataset, store.environment().clock().wallMicros());
        return open(
                new DatasetTarget(store, dataset, feed, owner, operation),
                store.environment().disk(),
                feed,
                !owner.equals(feed));
    }

    /** Under what name feeds into a dataset share how far they are; none of a feed. */
    public static String owner(String dataset, String group) {
        return dataset + "/" + group;
    }

    /**
     * Opens the delivery of a feed into a log; one at a time for each feed, and no other session
     * beside it.
     *
     * @param disk where positions and dead letters are kept
     */
    public static FeedDelivery into(HashLog log, Disk disk, Clock clock, String feed) {
        return open(LogTarget.open(log, disk, clock, feed), disk, feed, false);
    }

    private static FeedDelivery open(
            DeliveryTarget target, Disk disk, String feed, boolean isShared) {
        try (Undo undo = Undo.of(target::close)) {
            DeadLetterFile letters = DeadLetterFile.open(
                    disk, LETTERS_DIRECTORY + "/" + feed + ".jsonl", target.letterBytes());
            return undo.keep(new FeedDelivery(target, letters, disk, isShared));
        }
    }

    /** The partitions that {@code feed}, or another owner, has read into this store. */
    public static Set<String> partitions(Store store, String feed) {
        return store.findDataset(Positions.DATASET) == null
                ? Set.of()
                : Positions.open(store, feed).all().keySet();
    }

    /**
     * What {@code owner} has read partitions into, if that is another dataset than this one: to go
     * on behind them would leave this one without the records before.
     *
     * @return a text for a message; null if it has read nothing, or into this one
     */
    public static @Nullable String readInto(Store store, Dataset dataset, String owner) {
        if (store.findDataset(Positions.DATASET) == null) {
            return null;
        }
        Positions positions = Positions.open(store, owner);
        long id = positions.datasetId();
        if (id == Positions.UNKNOWN || id == dataset.id() || positions.all().isEmpty()) {
            return null;
        }
        return store.datasets().stream()
                .filter(other -> other.id() == id)
                .findFirst()
                .map(other -> "dataset " + other.name())
                .orElseGet(() ->
                        "a dataset that is gone (%s was made since)".formatted(dataset.name()));
    }

    /** Forgets how far a feed is in these partitions. Its dead letters stay. */
    public static void forget(Store store, String feed, List<String> partitions) {
        Positions.open(store, feed).forget(partitions);
    }

    /** The type of the records that {@link Operation#DELETE} takes: the primary key's fields. */
    public static RecordType keyType(RecordType type, List<String> primaryKey) {
        return type.only(primaryKey);
    }

    @Override
    public @Nullable PartitionState taken(String partition) {
        return target.taken(partition);
    }

    @Override
    public Map<String, PartitionState> taken() {
        return target.taken();
    }

    @Override
    public void whenDurable(DurableListener listener) {
        durable = listener;
    }

    @Override
    public void begin() {
        if (letters.isInDoubt() && target.knowsLetterBytes()) {
            letters.beginAnew(target.letterBytes());
        }
    }

    @Override
    public Lane newLane() {
        DeliveryTarget to = target.another();
        LetterWriter writer = new LetterWriter(letters);
        Slice slice = new Slice();
        return batch -> deliver(batch, to, writer, slice);
    }

    private @Nullable Delivered deliver(
            Batch batch, DeliveryTarget to, LetterWriter writer, Slice slice) {
        PartitionState last = to.last(batch.partition());
        SourcePosition position = last == null ? null : last.position();
        if (!Objects.equals(batch.follows(), position)) {
            last = to.reread(batch.partition()); // another feed of the group may have had it
            position = last == null ? null : last.position();
        }
        if (!Objects.equals(batch.follows(), position)) {
            pass(batch, position);
            return Delivered.NOTHING;
        }
        boolean isSettled = false;
        try {
            DeliveryTarget.Taken taken =
                    writer.append(batch.letters(slice)) ? to.take(batch, writer, durable) : null;
            isSettled = true;
            writer.end(taken != null);
            if (taken == null) {
                return null;
            }
            accepted.addAndGet(taken.newCount());
            rejected.addAndGet(batch.rejectedCount() + taken.refusedCount());
            return new Delivered(taken.newCount(), taken.refusedCount());
        } finally {
            if (!isSettled) {
                writer.fail();
            }
        }
    }

    /**
     * Passes over a batch that the feed has taken before.
     *
     * @param position behind all that was taken; null if that is nothing
     */
    private void pass(Batch batch, @Nullable SourcePosition position) {
        if (position == null || batch.position().compareTo(position) > 0) {
            String message = "%s goes on behind position %s, but the feed has taken it up to %s: %s"
                    .formatted(
                            batch.partition(),
                            batch.follows() == null ? "none" : batch.follows(),
                            position == null ? "none" : position,
                            isGap(batch.follows(), position)
                                    ? "the source has left out what is between"
                                    : "another run of the feed has read on meanwhile");
            throw OvertakenException.of(isShared, message);
        }
        repeated.addAndGet(batch.recordCount() + batch.rejectedCount());
        durable.durable(batch.partition(), position);
    }

    private static boolean isGap(
            @Nullable SourcePosition follows, @Nullable SourcePosition position) {
        return follows != null && (position == null || follows.compareTo(position) > 0);
    }

    @Override
    public boolean replaces(Slice before, Slice after) {
        return target.replaces(before, after);
    }

    @Override
    public Map<String, SourcePosition> forget(Map<String, SourcePosition> partitions) {
        return target.forget(partitions);
    }

    @Override
    public void touch(Map<String, SourcePosition> partitions, long wallMicros) {
        target.touch(partitions, wallMicros);
    }

    @Override
    public void commit() {
        target.commit(letters, durable);
    }

    @Override
    public long accepted() {
        return accepted.get();
    }

    @Override
    public long rejected() {
        return rejected.get();
    }

    /** Records that came again since opening, and were passed over. */
    public long repeated() {
        return repeated.get();
    }

    @Override
    public @Nullable String deadLetters() {
        String name = letters.name();
        return name == null ? null : disk.description() + "/" + name;
    }

    @Override
    public void close() {
        new Cleanup().add(target::close).add(letters::close).run();
    }
}
