package io.turbidite.lsm.write;

import io.turbidite.core.DuplicateKeyException;
import io.turbidite.core.Limits;
import io.turbidite.core.StorageException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.log.Claim;
import io.turbidite.core.meter.Latency;
import io.turbidite.core.meter.SlowOperations;
import io.turbidite.lsm.background.BackgroundWork;
import io.turbidite.lsm.entry.Found;
import io.turbidite.lsm.order.Gate;
import io.turbidite.lsm.order.Timestamps;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.partition.StoreCore;
import io.turbidite.lsm.partition.VersionSearch;
import io.turbidite.lsm.schedule.WriterMeter;
import io.turbidite.lsm.strategy.KeyedRecord;
import io.turbidite.lsm.strategy.Maintainer;
import io.turbidite.lsm.strategy.OldRecord;
import io.turbidite.lsm.version.MemoryLayer;
import io.turbidite.lsm.version.Version;

import java.util.Arrays;

/**
 * The way of a write (design §4):
 *
 * <ol>
 *   <li>wait for memory and for room in the window of timestamps,
 *   <li>check again what a change of schema since may have made wrong,
 *   <li>lock the stripes of primary keys and of keys in unique indexes, ascending,
 *   <li>read old records where the strategy or an insert must, make their entry keys where that
 *       takes long (those of new records came with the operations); probe unique indexes,
 *   <li>claim log space,
 *   <li>enter the gates, draw a timestamp for each operation, write and publish one log record,
 *       apply to the memory components, leave,
 *   <li>unlock, wait until readers see it and until it is as durable as the mode says.
 * </ol>
 *
 * Nothing waits between claim and publish: everybody's later records stand behind the claim. What
 * step 4 read stays true until step 7: whoever writes the key needs the stripe. Where it was found
 * may change: under the mutable-bitmap strategy step 6 looks at that first. If a flush or a merge
 * came in between, the claim is given up, and steps 4 to 6 are done again.
 *
 * <p>Whatever is thrown between claim and publish, an {@link OutOfMemoryError} or a {@link
 * StackOverflowError} too, the claim is given up, the timestamp completed, gates and stripes are
 * left ({@link #giveUp}): nothing was changed, and nobody waits for it. What is thrown after
 * publish fails the store.
 *
 * <p><em>Thread-safe;</em> what a write needs comes with it, as a {@link Write}.
 */
public final class WritePath {
    private final StoreCore core;
    private final BackgroundWork background;
    private final KeyStripes stripes;
    private final SlowOperations slow;
    private final Latency times;

    /** Open while writes may come; unlike a partition's, whoever is inside may wait. */
    private final Gate inFlight;

    public WritePath(StoreCore core, BackgroundWork background) {
        this.core = core;
        this.background = background;
        this.slow = SlowOperations.of(core.meters());
        this.times = WriterMeter.of(core.meters()).times();
        this.stripes = new KeyStripes(core.tasks(), core.clock(), slow);
        this.inFlight = new Gate(core.tasks());
    }

    /**
     * Does all operations of a write or none; returns when it is visible and durable as promised.
     */
    public void write(Write write) {
        write(write, true);
    }

    /**
     * As {@link #write(Write)}, but returns as soon as readers see it.
     *
     * @return what to ask the log for: with it all that was written is durable, and what was found
     *     to be so already
     */
    public long writeAsync(Write write) {
        return write(write, false);
    }

    private long write(Write write, boolean waits) {
        long startNanos = core.clock().monotonicNanos();
        write.awaitedNanos = 0;
        long sequence = writeInTime(write, waits);
        long endNanos = core.clock().monotonicNanos();
        times.record(endNanos - startNanos, endNanos);
        slow.ended(
                SlowOperations.Kind.WRITE,
                startNanos,
                endNanos,
                write.awaitedNanos == 0 ? 0 : endNanos - write.awaitedNanos,
                core.clock());
        return sequence;
    }

    private long writeInTime(Write write, boolean waits) {
        Operations batch = write.operations;
        write.isRefused = false;
        write.version = 0;
        // before anything is held, the gate included: a schema change must not wait for memory
        background.awaitRoom(batch.byteCount(), batch.putByteCount());
        if (background.isFullOfInvalidations() && batch.mayInvalidate()) {
            background.awaitInvalidationRoom();
        }
        core.timestamps().awaitRoom();
        while (!inFlight.tryEnter()) {
            core.health().checkWritable();
            core.awaitBeforeWrite("a change of schema", inFlight::isOpen);
        }
        try {
            core.health().checkWritable();
            if (batch.size() == 0) {
                core.log().checkAccepting(); // it is refused when one with records would be
                return core.log().lastClaimed();
            }
            return writeInFlight(write, waits);
        } catch (RuntimeException | Error failure) {
            if (write.isHolding()) {
                giveUpAtLast(write, failure);
            }
            throw failure;
        } finally {
            inFlight.leave();
        }
    }

    /** Returns when every write that is in flight now is through. */
    public void awaitInFlight() {
        inFlight.close();
        inFlight.open();
    }

    /** Runs something while no write is in flight. */
    public void whileIdle(Runnable change) {
        inFlight.close();
        try {
            change.run();
        } finally {
            inFlight.open();
        }
    }

    /** Lets no further write in until {@link #resume}; false if somebody else does that. */
    public boolean tryPause() {
        return inFlight.tryClose();
    }

    /** Whether all writes are through that were in flight when {@link #tryPause} said yes. */
    public boolean isPaused() {
        return inFlight.isEmpty();
    }

    /** Lets writes in again. */
    public void resume() {
        inFlight.open();
    }

    /** Returns when no write is in flight; no further one gets in. */
    public void close() {
        inFlight.close();
    }

    private long writeInFlight(Write write, boolean waits) {
        write.operations.checkTaken();
        write.set.resolve();
        long timestamp = 0;
        long sequence = 0;
        try {
            lockStripes(write);
            try {
                readOld(write);
                if (write.set.size() > 0) {
                    write.uniqueKeys.check(write.set, core.health());
                    int loggedBytes = (int) loggedBytes(write);
                    while (timestamp == 0) {
                        Claim claim = core.log().claim(loggedBytes);
                        sequence = claim.sequence();
                        write.sequence = sequence;
                        write.claim = claim;
                        timestamp = apply(claim, write);
                        if (timestamp == 0) {
                            findAgain(write);
                        }
                    }
                }
            } finally {
                stripes.unlockAll(write.stripes, write.stripeCount);
            }
        } catch (DuplicateKeyException taken) {
            awaitDurable(awaitOthersVisible());
            throw taken;
        } finally {
            write.positions.clear();
        }
        if (timestamp == 0) {
            sequence = awaitOthersVisible();
        } else {
            if (write.version == 0) {
                write.version = timestamp;
            }
            core.timestamps().awaitVisible(timestamp);
        }
        if (waits) {
            write.awaitedNanos = core.clock().monotonicNanos();
            awaitDurable(sequence);
        }
        return sequence;
    }

    /**
     * Nothing was written because of what is there already. Whoever wrote that may still be on the
     * way out: nobody may be told of it before readers see it, and before a crash can no longer
     * take it back.
     *
     * <p>It waits for all that has been written rather than for what it met: an entry has its
     * timestamp, not its place in the log, and timestamps are not drawn in the log's order. Under
     * group commit that is seldom more than one batch longer.
     */
    private long awaitOthersVisible() {
        core.timestamps().awaitVisible(core.timestamps().lastDrawn());
        return core.log().lastClaimed();
    }

    /** Returns when the log has all up to {@code sequence} as safe as its mode says. */
    public void awaitDurable(long sequence) {
        try {
            core.log().awaitDurable(sequence);
        } catch (StorageException failure) {
            core.health().fail(failure);
            throw failure;
        }
    }

    private void lockStripes(Write write) {
        WriteSet set = write.set;
        UniqueKeys unique = write.uniqueKeys;
        unique.collect(set);
        int most = set.size() + unique.count();
        if (write.stripes.length < most) {
            write.stripes = new int[Integer.highestOneBit(most) * 2];
        }
        int count = 0;
        for (int i = 0; i < unique.count(); i++) {
            write.stripes[count++] = unique.stripe(i, set, stripes);
        }
        for (int i = 0; i < set.size(); i++) {
            int at = set.at(i);
            write.stripes[count++] = stripes.stripeOf(set.dataset(at).schema().id(), set.hash(at));
        }
        Arrays.sort(write.stripes, 0, count);
        int distinct = 0;
        for (int i = 0; i < count; i++) {
            if (i == 0 || write.stripes[i] != write.stripes[i - 1]) {
                write.stripes[distinct++] = write.stripes[i];
            }
        }
        stripes.lockAll(write.stripes, distinct);
        write.stripeCount = distinct;
    }

    /** Whether the record that is there is the one that a conditional write is meant for. */
    private static boolean meetsExpected(Write write) {
        WriteSet set = write.set;
        long version = Operations.NO_VERSION;
        // several keys only where one value has several: at most one of them has a record
        for (int i = 0; i < set.size(); i++) {
            boolean asked = write.operations.isExpected(set.at(i));
            if (asked && find(set.at(i), write, OldRecord.KEY) == Found.MATTER) {
                version = write.found.timestamp;
            }
        }
        return version == write.operations.expectedVersion();
    }

    /** Whether each operation meets the record that it is meant for; notes those that don't. */
    private static boolean areUnchanged(Write write) {
        WriteSet set = write.set;
        Operations operations = write.operations;
        write.changed.clear();
        int count = set.operationCount();
        int number = 0;
        int at = 0;
        while (at < count) {
            boolean counts = false;
            long version = Operations.NO_VERSION;
            // several keys of one value lie side by side: at most one of them has a record
            do {
                if (!set.isVoid(at)) {
                    counts = true;
                    if (find(at, write, OldRecord.KEY) == Found.MATTER) {
                        version = write.found.timestamp;
                    }
                }
                at++;
            } while (at < count && operations.isTwin(at));
            if (counts && !operations.isUnchanged(version)) {
                write.changed.set(number);
            }
            number++;
        }
        return write.changed.isEmpty();
    }

    /** Reads what the operations replace, checks inserts, leaves out deletes of nothing. */
    private static void readOld(Write write) {
        WriteSet set = write.set;
        int left = 0;
        write.positions.begin(set.operationCount());
        write.isRefused = write.operations.isConditional() && !meetsExpected(write);
        if (write.operations.hasToBeUnchanged() && !write.isRefused) {
            write.isRefused = !areUnchanged(write);
        }
        if (write.isRefused) {
            set.keepFirst(0);
            return;
        }
        for (int i = 0; i < set.size(); i++) {
            int at = set.at(i);
            int outcome = set.outcome(at);
            OldRecord reads = set.dataset(at).oldRecord();
            if (outcome == Operations.INSERT || outcome == Operations.INSERT_AND_DELETE) {
                if (find(at, write, OldRecord.KEY) == Found.MATTER) {
                    throw set.dataset(at).duplicate(write.key);
                }
                if (outcome == Operations.INSERT_AND_DELETE) {
                    continue;
                }
            } else if (reads != OldRecord.NOTHING) {
                int code = find(at, write, reads);
                if (reads == OldRecord.RECORD || reads == OldRecord.KEY) {
                    set.partition(at).work().lookedUp(code == Found.MATTER);
                }
                if (code == Found.MATTER) {
                    set.setOld(at, write.found.value);
                } else if (outcome == Operations.DELETE && reads.isComplete()) {
                    continue;
                }
            }
            set.keep(left++, at);
        }
        set.keepFirst(left);
    }

    private static int find(int at, Write write, OldRecord reads) {
        WriteSet set = write.set;
        long hash = set.hash(at);
        Partition partition = set.partition(at);
        Slice key = set.key(at, write.key);
        Found found = write.found;
        if (partition.hasLiveBitmaps()) {
            boolean wantRecord = reads == OldRecord.RECORD;
            return write.positions.of(at).find(partition, key, hash, wantRecord, found);
        }
        Version pinned = partition.pin();
        try {
            return switch (reads) {
                case NOTHING -> Found.ABSENT;
                case CURRENT_LAYER -> VersionSearch.findInCurrent(pinned, key, hash, found);
                case KEY -> VersionSearch.findKey(pinned, key, hash, Limits.TIMESTAMP_MAX, found);
                case RECORD -> VersionSearch.find(pinned, key, hash, Limits.TIMESTAMP_MAX, found);
            };
        } finally {
            pinned.unpin();
        }
    }

    private static long loggedBytes(Write write) {
        WriteSet set = write.set;
        long payload = 0;
        for (int i = 0; i < set.size(); i++) {
            payload += set.byteCount(set.at(i));
        }
        return LogRecords.bytesMax(set.size(), payload);
    }

    /**
     * Does the batch and ends the claim.
     *
     * @return the last timestamp; 0 if what is superseded has moved: nothing was done
     */
    private long apply(Claim claim, Write write) {
        try {
            enterGates(write);
            if (isStale(write)) {
                leaveGates(write);
                claim.cancel();
                write.claim = null;
                return 0;
            }
            int count = write.set.size();
            write.draw = core.timestamps().draw(count);
            long last = Timestamps.lastOf(write.draw);
            long first = last - count + 1;
            note(write);
            log(claim, first, write);
            applyToMemory(first, write);
            write.claim = null;
            complete(write);
            leaveGates(write);
            return last;
        } catch (RuntimeException | Error failure) {
            giveUp(write, failure);
            throw failure;
        }
    }

    private void complete(Write write) {
        core.timestamps().complete(write.draw);
        write.draw = 0;
    }

    /**
     * Lets go of all that others wait for; may be tried again if it fails. If the record was
     * published the store is failed: memory would not show what the log has.
     */
    private void giveUp(Write write, Throwable failure) {
        Claim claim = write.claim;
        if (claim != null) {
            if (!claim.giveUp(write.sequence)) {
                core.health().fail(failure);
            }
            write.claim = null;
        }
        if (write.draw != 0) {
            core.timestamps().completeAgain(write.draw);
        }
        write.draw = 0;
        leaveGates(write);
    }

    /**
     * Where the stack was too short for it before. If it still is, the store fails, which wakes who
     * waits.
     */
    private void giveUpAtLast(Write write, Throwable failure) {
        boolean free = false;
        try {
            giveUp(write, failure);
            free = true;
        } finally {
            if (!free) {
                core.health().fail(failure);
                leaveGates(write);
            }
        }
    }

    private static void leaveGates(Write write) {
        try {
            for (int i = 0; i < write.insideCount; i++) {
                write.partitions[i].reportGrowth();
            }
        } finally {
            while (write.insideCount > 0) {
                write.insideCount--;
                write.partitions[write.insideCount].gate().leave();
            }
        }
    }

    /**
     * Whether a version that is superseded may lie elsewhere than where it was found; inside the
     * gates.
     */
    private static boolean isStale(Write write) {
        WriteSet set = write.set;
        for (int i = 0; i < set.size(); i++) {
            int at = set.at(i);
            if (write.positions.of(at).isStale(set.partition(at))) {
                return true;
            }
        }
        return false;
    }

    /**
     * Finds what is superseded once more; with nothing held but the stripes, as it may read pages.
     */
    private static void findAgain(Write write) {
        WriteSet set = write.set;
        for (int i = 0; i < set.size(); i++) {
            int at = set.at(i);
            Partition partition = set.partition(at);
            if (set.outcome(at) != Operations.INSERT && partition.hasLiveBitmaps()) {
                Slice key = set.key(at, write.key);
                write.positions.of(at).find(partition, key, set.hash(at), false, write.found);
            }
        }
    }

    /** Enters the gate of each partition once, in the order of their numbers in the store. */
    private static void enterGates(Write write) {
        WriteSet set = write.set;
        int count = 0;
        for (int i = 0; i < set.size(); i++) {
            Partition partition = set.partition(set.at(i));
            int at = count;
            boolean known = false;
            while (at > 0 && !known && write.partitions[at - 1].order() >= partition.order()) {
                at--;
                known = write.partitions[at].order() == partition.order();
            }
            if (!known) {
                if (count == write.partitions.length) {
                    write.partitions = Arrays.copyOf(write.partitions, count * 2);
                }
                System.arraycopy(write.partitions, at, write.partitions, at + 1, count - at);
                write.partitions[at] = partition;
                count++;
            }
        }
        write.partitionCount = count;
        for (int i = 0; i < count; i++) {
            write.partitions[i].gate().enter();
            write.insideCount = i + 1;
        }
    }

    /**
     * Tells the layers' filters what comes. Before the log record is written, although it need not
     * be: filters are changed by atomic instructions, and one behind the copy of a record would
     * wait until all of that is in the cache. So the copy goes on while the trees are searched.
     */
    private static void note(Write write) {
        WriteSet set = write.set;
        for (int i = 0; i < set.size(); i++) {
            int at = set.at(i);
            MemoryLayer layer = set.partition(at).currentLayer();
            layer.noteKey(set.hash(at));
            Slice record = set.record(at, write.record);
            set.maintainer(at).widen(layer, record, set.old(at, write.old));
        }
    }

    private static void log(Claim claim, long first, Write write) {
        WriteSet set = write.set;
        long end = LogRecords.begin(claim.segment(), claim.offset(), first, set.size());
        for (int i = 0; i < set.size(); i++) {
            int at = set.at(i);
            int datasetId = set.dataset(at).schema().id();
            Slice key = set.key(at, write.key);
            Change change = set.outcome(at) == Operations.DELETE
                    ? write.change.delete(datasetId, key)
                    : write.change.upsert(datasetId, key, set.record(at, write.record));
            change.update(write.positions.of(at).needsMark(set.partition(at)));
            end = LogRecords.put(claim.segment(), end, change);
        }
        claim.publish((int) (end - claim.offset()));
    }

    private static void applyToMemory(long first, Write write) {
        WriteSet set = write.set;
        boolean isExpectedPut = false;
        for (int i = 0; i < set.size(); i++) {
            int at = set.at(i);
            long timestamp = first + i;
            Partition partition = set.partition(at);
            MemoryLayer layer = partition.currentLayer();
            Maintainer maintainer = set.maintainer(at);
            Slice key = set.key(at, write.key);
            KeyedRecord old = set.old(at, write.keyedOld);
            if (set.outcome(at) == Operations.DELETE) {
                maintainer.delete(layer, timestamp, key, old);
            } else {
                maintainer.upsert(layer, timestamp, key, set.record(at, write.keyedRecord), old);
                if (!isExpectedPut) {
                    write.version = timestamp;
                    isExpectedPut =
                            write.operations.isConditional() && write.operations.isExpected(at);
                }
            }
            write.positions.of(at).supersede(partition, key, timestamp);
        }
    }

    /** Whether every stripe is free; for leak checks. */
    public boolean isIdle() {
        return stripes.allFree();
    }
}
