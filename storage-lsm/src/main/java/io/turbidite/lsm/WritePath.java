package io.turbidite.lsm;

import io.turbidite.core.DuplicateKeyException;
import io.turbidite.core.Limits;
import io.turbidite.core.StorageException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.log.Claim;
import io.turbidite.core.log.WriteAheadLog;
import io.turbidite.lsm.background.BackgroundWork;
import io.turbidite.lsm.entry.Found;
import io.turbidite.lsm.order.Gate;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.partition.Substrate;
import io.turbidite.lsm.partition.VersionSearch;
import io.turbidite.lsm.strategy.Maintainer;
import io.turbidite.lsm.strategy.OldRecord;
import io.turbidite.lsm.version.MemoryLayer;
import io.turbidite.lsm.version.Version;
import io.turbidite.lsm.write.Change;
import io.turbidite.lsm.write.KeyStripes;
import io.turbidite.lsm.write.LogRecords;

import org.jspecify.annotations.Nullable;

import java.util.Arrays;

/**
 * The way of a write (design §4):
 *
 * <ol>
 *   <li>wait for memory and for room in the window of timestamps,
 *   <li>check again what a change of schema since may have made wrong,
 *   <li>lock the stripes of primary keys and of keys in unique indexes, ascending,
 *   <li>read old records where the strategy or an insert must; probe unique indexes,
 *   <li>claim log space,
 *   <li>enter the gates, draw one timestamp, write and publish one log record, apply to the memory
 *       components, leave,
 *   <li>unlock, wait until readers see it and until it is as durable as the mode says.
 * </ol>
 *
 * Nothing waits between claim and publish: everybody's later records stand behind the claim. What step 4 read stays true until step 7: whoever writes the key needs the
 * stripe. Where it was found may change: under the mutable-bitmap strategy step 6 looks at that first. If a
 * flush or a merge came in between, the claim is given up, and steps 4 to 6 are done again.
 *
 * <p>Whatever is thrown between claim and publish, an {@link OutOfMemoryError} or a {@link StackOverflowError}
 * too, the claim is given up, the timestamp completed, gates and stripes are left ({@link #giveUp}): nothing
 * was changed, and nobody waits for it. What is thrown after publish fails the store.
 *
 * <p><em>Thread-safe;</em> the scratch space of a write comes with its batch.
 */
final class WritePath {
    private final Substrate substrate;
    private final BackgroundWork background;
    private final KeyStripes stripes;

    /** Open while writes may come; unlike a partition's, whoever is inside may wait. */
    private final Gate inFlight;

    WritePath(Substrate substrate, BackgroundWork background) {
        this.substrate = substrate;
        this.background = background;
        this.stripes = new KeyStripes(substrate.tasks());
        this.inFlight = new Gate(substrate.tasks());
    }

    /** What one write needs beside the operations of its batch, which keeps it; reused. */
    static final class Scratch {
        final Found found = new Found(Limits.RECORD_BYTES_MAX);
        final Slice key = new Slice();
        final Slice record = new Slice();
        final Slice old = new Slice();
        final Change change = new Change();
        final UniqueKeys uniqueKeys = new UniqueKeys();
        final OldPositions positions = new OldPositions();
        int[] stripes = new int[16];
        int stripeCount;
        Partition[] partitions = new Partition[4];
        int partitionCount;

        /** Of the partitions, those whose gates were entered and not left. */
        int insideCount;

        /** Drawn and not completed; 0 if there is none. */
        long timestamp;

        /** Neither published nor given up, as far as is known; null if there is none. */
        @Nullable
        Claim claim;

        /** Of the claim. */
        long sequence;

        /** Whether others wait for something of it. */
        boolean isHolding() {
            return claim != null || timestamp != 0 || insideCount > 0;
        }
    }

    /** Does all of {@code batch} or nothing; returns when it is visible and durable as promised. */
    void write(WriteBatch batch) {
        batch.beginWrite();
        try {
            writeInside(batch);
        } finally {
            batch.endWrite();
        }
    }

    private void writeInside(WriteBatch batch) {
        // before anything is held, the gate included: a schema change must not wait for memory
        background.awaitRoom(batch.byteCount());
        if (background.isFullOfKills() && batch.mayKill()) {
            background.awaitKillRoom();
        }
        substrate.timestamps().awaitRoom();
        while (!inFlight.tryEnter()) {
            substrate.health().checkWritable();
            substrate.awaitBeforeWrite("a change of schema", inFlight::isOpen);
        }
        try {
            substrate.health().checkWritable();
            if (batch.size() > 0) {
                writeInFlight(batch);
            }
        } catch (RuntimeException | Error failure) {
            if (batch.scratch().isHolding()) {
                giveUpAtLast(batch.scratch(), failure);
            }
            throw failure;
        } finally {
            inFlight.leave();
        }
    }

    /** Returns when every write that is in flight now is through. */
    void awaitInFlight() {
        inFlight.close();
        inFlight.open();
    }

    /** Runs something while no write is in flight. */
    void whileIdle(Runnable change) {
        inFlight.close();
        try {
            change.run();
        } finally {
            inFlight.open();
        }
    }

    /** Lets no further write in until {@link #resume}; false if somebody else does that. */
    boolean tryPause() {
        return inFlight.tryClose();
    }

    /** Whether all writes are through that were in flight when {@link #tryPause} said yes. */
    boolean isPaused() {
        return inFlight.isEmpty();
    }

    void resume() {
        inFlight.open();
    }

    /** Returns when no write is in flight; no further one gets in. */
    void close() {
        inFlight.close();
    }

    private void writeInFlight(WriteBatch batch) {
        for (int i = 0; i < batch.size(); i++) {
            batch.dataset(i).admission().checkTakesWrites();
        }
        batch.recheckKeys();
        batch.resolveRepeats();
        Scratch scratch = batch.scratch();
        long timestamp = 0;
        long sequence = 0;
        try {
            lockStripes(batch, scratch);
            try {
                int operations = readOld(batch, scratch);
                if (operations > 0) {
                    scratch.uniqueKeys.check(batch, substrate.health());
                    int loggedBytes = (int) loggedBytes(batch, operations, scratch);
                    while (timestamp == 0) {
                        Claim claim = substrate.log().claim(loggedBytes);
                        sequence = claim.sequence();
                        scratch.sequence = sequence;
                        scratch.claim = claim;
                        timestamp = apply(batch, operations, claim, scratch);
                        if (timestamp == 0) {
                            findAgain(batch, scratch);
                        }
                    }
                }
            } finally {
                stripes.unlockAll(scratch.stripes, scratch.stripeCount);
            }
        } catch (DuplicateKeyException taken) {
            awaitOthers();
            throw taken;
        } finally {
            scratch.positions.clear();
        }
        if (timestamp == 0) {
            awaitOthers();
            return;
        }
        substrate.timestamps().awaitVisible(timestamp);
        awaitDurable(substrate.log(), sequence);
    }

    /**
     * Nothing was written because of what is there already. Whoever wrote that may still be on the way out:
     * nobody may be told of it before readers see it, and before a crash can no longer take it back.
     *
     * <p>It waits for all that has been written rather than for what it met: an entry has its timestamp, not its
     * place in the log, and timestamps are not drawn in the log's order. Under group commit that is seldom more
     * than one batch longer.
     */
    private void awaitOthers() {
        substrate.timestamps().awaitVisible(substrate.timestamps().lastDrawn());
        try {
            substrate.log().awaitAllDurable();
        } catch (StorageException failure) {
            substrate.health().fail(failure);
            throw failure;
        }
    }

    private void awaitDurable(WriteAheadLog log, long sequence) {
        try {
            log.awaitDurable(sequence);
        } catch (StorageException failure) {
            substrate.health().fail(failure);
            throw failure;
        }
    }

    private void lockStripes(WriteBatch batch, Scratch scratch) {
        UniqueKeys unique = scratch.uniqueKeys;
        unique.collect(batch);
        int most = batch.size() + unique.count();
        if (scratch.stripes.length < most) {
            scratch.stripes = new int[Integer.highestOneBit(most) * 2];
        }
        int count = 0;
        for (int i = 0; i < unique.count(); i++) {
            scratch.stripes[count++] = unique.stripe(i, batch, stripes);
        }
        for (int i = 0; i < batch.size(); i++) {
            if (!batch.isSuperseded(i)) {
                scratch.stripes[count++] =
                        stripes.stripeOf(batch.dataset(i).schema().id(), batch.hash(i));
            }
        }
        Arrays.sort(scratch.stripes, 0, count);
        int distinct = 0;
        for (int i = 0; i < count; i++) {
            if (i == 0 || scratch.stripes[i] != scratch.stripes[i - 1]) {
                scratch.stripes[distinct++] = scratch.stripes[i];
            }
        }
        stripes.lockAll(scratch.stripes, distinct);
        scratch.stripeCount = distinct;
    }

    /**
     * Reads what the operations replace, checks inserts, leaves out deletes of nothing.
     *
     * @return how many operations are left to do
     */
    private int readOld(WriteBatch batch, Scratch scratch) {
        int left = 0;
        scratch.positions.begin(batch.size());
        for (int i = 0; i < batch.size(); i++) {
            if (batch.isSuperseded(i)) {
                continue;
            }
            Dataset dataset = batch.dataset(i);
            int outcome = batch.outcome(i);
            OldRecord reads = dataset.oldRecord();
            if (outcome == WriteBatch.INSERT || outcome == WriteBatch.INSERT_AND_DELETE) {
                if (find(batch, i, scratch, OldRecord.KEY) == Found.MATTER) {
                    throw dataset.duplicate(scratch.key);
                }
                if (outcome == WriteBatch.INSERT_AND_DELETE) {
                    batch.skip(i);
                    continue;
                }
            } else if (reads != OldRecord.NOTHING) {
                int code = find(batch, i, scratch, reads);
                if (reads == OldRecord.RECORD || reads == OldRecord.KEY) {
                    dataset.partition(batch.hash(i)).work().lookedUp(code == Found.MATTER);
                }
                if (code == Found.MATTER) {
                    batch.setOld(i, scratch.found.value);
                } else if (outcome == WriteBatch.DELETE && reads.isComplete()) {
                    batch.skip(i);
                    continue;
                }
            }
            left++;
        }
        return left;
    }

    private static int find(WriteBatch batch, int at, Scratch scratch, OldRecord reads) {
        long hash = batch.hash(at);
        Partition partition = batch.dataset(at).partition(hash);
        Slice key = batch.key(at, scratch.key);
        Found found = scratch.found;
        if (partition.hasLiveBitmaps()) {
            boolean wantRecord = reads == OldRecord.RECORD;
            return scratch.positions.of(at).find(partition, key, hash, wantRecord, found);
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

    private static long loggedBytes(WriteBatch batch, int operations, Scratch scratch) {
        long payload = 0;
        for (int i = 0; i < batch.size(); i++) {
            if (!batch.isSuperseded(i)) {
                payload += batch.key(i, scratch.key).length();
                payload += batch.record(i, scratch.record).length();
            }
        }
        return LogRecords.bytesMax(operations, payload);
    }

    /**
     * Does the batch and ends the claim.
     *
     * @return the timestamp; 0 if what is superseded has moved: nothing was done
     */
    private long apply(WriteBatch batch, int operations, Claim claim, Scratch scratch) {
        try {
            enterGates(batch, scratch);
            if (isStale(batch, scratch)) {
                leaveGates(scratch);
                claim.cancel();
                scratch.claim = null;
                return 0;
            }
            long timestamp = substrate.timestamps().draw();
            scratch.timestamp = timestamp;
            note(batch, scratch);
            log(batch, operations, claim, timestamp, scratch);
            applyToMemory(batch, timestamp, scratch);
            scratch.claim = null;
            complete(scratch);
            leaveGates(scratch);
            return timestamp;
        } catch (RuntimeException | Error failure) {
            giveUp(scratch, failure);
            throw failure;
        }
    }

    private void complete(Scratch scratch) {
        substrate.timestamps().complete(scratch.timestamp);
        scratch.timestamp = 0;
    }

    /**
     * Lets go of all that others wait for; may be tried again if it fails. If the record was published the store is
     * failed: memory would not show what the log has.
     */
    private void giveUp(Scratch scratch, Throwable failure) {
        Claim claim = scratch.claim;
        if (claim != null) {
            if (!claim.giveUp(scratch.sequence)) {
                substrate.health().fail(failure);
            }
            scratch.claim = null;
        }
        if (scratch.timestamp > 0) {
            substrate.timestamps().completeAgain(scratch.timestamp);
        }
        scratch.timestamp = 0;
        leaveGates(scratch);
    }

    /** Where the stack was too short for it before. If it still is, the store fails, which wakes who waits. */
    private void giveUpAtLast(Scratch scratch, Throwable failure) {
        boolean free = false;
        try {
            giveUp(scratch, failure);
            free = true;
        } finally {
            if (!free) {
                substrate.health().fail(failure);
                leaveGates(scratch);
            }
        }
    }

    private static void leaveGates(Scratch scratch) {
        try {
            for (int i = 0; i < scratch.insideCount; i++) {
                scratch.partitions[i].reportGrowth();
            }
        } finally {
            while (scratch.insideCount > 0) {
                scratch.insideCount--;
                scratch.partitions[scratch.insideCount].gate().leave();
            }
        }
    }

    /** Whether a version that is superseded may lie elsewhere than where it was found; inside the gates. */
    private static boolean isStale(WriteBatch batch, Scratch scratch) {
        for (int i = 0; i < batch.size(); i++) {
            if (!batch.isSuperseded(i) && scratch.positions.of(i).isStale(partition(batch, i))) {
                return true;
            }
        }
        return false;
    }

    /** Finds what is superseded once more; with nothing held but the stripes, as it may read pages. */
    private static void findAgain(WriteBatch batch, Scratch scratch) {
        for (int i = 0; i < batch.size(); i++) {
            if (!batch.isSuperseded(i) && batch.outcome(i) != WriteBatch.INSERT) {
                Partition partition = partition(batch, i);
                if (partition.hasLiveBitmaps()) {
                    Slice key = batch.key(i, scratch.key);
                    scratch.positions
                            .of(i)
                            .find(partition, key, batch.hash(i), false, scratch.found);
                }
            }
        }
    }

    private static Partition partition(WriteBatch batch, int at) {
        return batch.dataset(at).partition(batch.hash(at));
    }

    /** Enters the gate of each partition once, in the order of their numbers in the store. */
    private static void enterGates(WriteBatch batch, Scratch scratch) {
        int count = 0;
        for (int i = 0; i < batch.size(); i++) {
            if (batch.isSuperseded(i)) {
                continue;
            }
            Partition partition = batch.dataset(i).partition(batch.hash(i));
            int at = count;
            boolean known = false;
            while (at > 0 && !known && scratch.partitions[at - 1].order() >= partition.order()) {
                at--;
                known = scratch.partitions[at].order() == partition.order();
            }
            if (!known) {
                if (count == scratch.partitions.length) {
                    scratch.partitions = Arrays.copyOf(scratch.partitions, count * 2);
                }
                System.arraycopy(scratch.partitions, at, scratch.partitions, at + 1, count - at);
                scratch.partitions[at] = partition;
                count++;
            }
        }
        scratch.partitionCount = count;
        for (int i = 0; i < count; i++) {
            scratch.partitions[i].gate().enter();
            scratch.insideCount = i + 1;
        }
    }

    /**
     * Tells the layers' filters what comes. Before the log record is written, although it need not be: filters are
     * changed by atomic instructions, and one behind the copy of a record would wait until all of that is
     * in the cache. So the copy goes on while the trees are searched.
     */
    private static void note(WriteBatch batch, Scratch scratch) {
        for (int i = 0; i < batch.size(); i++) {
            if (!batch.isSuperseded(i)) {
                MemoryLayer layer = partition(batch, i).currentLayer();
                layer.noteKey(batch.hash(i));
                Slice record = batch.record(i, scratch.record);
                batch.maintainer(batch.dataset(i)).widen(layer, record, batch.old(i, scratch.old));
            }
        }
    }

    private static void log(
            WriteBatch batch, int operations, Claim claim, long timestamp, Scratch scratch) {
        long at = LogRecords.begin(claim.segment(), claim.offset(), timestamp, operations);
        for (int i = 0; i < batch.size(); i++) {
            if (batch.isSuperseded(i)) {
                continue;
            }
            int datasetId = batch.dataset(i).schema().id();
            Slice key = batch.key(i, scratch.key);
            Change change = batch.outcome(i) == WriteBatch.DELETE
                    ? scratch.change.delete(datasetId, key)
                    : scratch.change.upsert(datasetId, key, batch.record(i, scratch.record));
            change.update(scratch.positions.of(i).needsMark(partition(batch, i)));
            at = LogRecords.put(claim.segment(), at, change);
        }
        claim.publish((int) (at - claim.offset()));
    }

    private static void applyToMemory(WriteBatch batch, long timestamp, Scratch scratch) {
        for (int i = 0; i < batch.size(); i++) {
            if (batch.isSuperseded(i)) {
                continue;
            }
            Dataset dataset = batch.dataset(i);
            MemoryLayer layer = dataset.partition(batch.hash(i)).currentLayer();
            Maintainer maintainer = batch.maintainer(dataset);
            Slice key = batch.key(i, scratch.key);
            Slice old = batch.old(i, scratch.old);
            if (batch.outcome(i) == WriteBatch.DELETE) {
                maintainer.delete(layer, timestamp, key, old);
            } else {
                maintainer.upsert(layer, timestamp, key, batch.record(i, scratch.record), old);
            }
            scratch.positions.of(i).supersede(partition(batch, i), key, timestamp);
        }
    }

    /** Whether every stripe is free; for leak checks. */
    boolean isIdle() {
        return stripes.allFree();
    }
}
