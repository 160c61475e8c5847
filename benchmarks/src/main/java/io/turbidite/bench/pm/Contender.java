package io.turbidite.bench.pm;

import io.turbidite.core.epoch.EpochSession;
import io.turbidite.core.epoch.Epochs;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.time.Clock;
import io.turbidite.pm.index.PmIndex;
import io.turbidite.pm.region.RegionMemory;
import io.turbidite.pm.region.RegionSpec;
import io.turbidite.pm.region.SegmentMemory;

import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/** A {@link Rival} with its memory and all that it needs, fed with a load. */
final class Contender implements AutoCloseable {
    /** In the order of the reports' columns. */
    static final List<String> NAMES = List.of(TreeIndex.NAME, "composite", "log");

    private static final long BYTES_MAX = 64L << 30;
    private static final long STALE_BYTES_MAX = 8L << 30;
    private static final int EXTENT_BYTES = 1 << 22;
    private static final int SESSION_COUNT = 16;

    /** How a rival is fed. */
    enum Feeding {
        ONE_BY_ONE("one by one"),
        ABSORBED("absorbed");

        private final String label;

        Feeding(String label) {
            this.label = label;
        }

        String label() {
            return label;
        }
    }

    private final RegionMemory memory;
    private final Epochs epochs;
    private final Rival rival;
    private final EightBytes secondaryKey = new EightBytes();
    private final EightBytes primaryKey = new EightBytes();
    private final List<EpochSession> sessions = new ArrayList<>();
    private long absorbedThrough;

    private Contender(RegionMemory memory, Epochs epochs, Rival rival) {
        this.memory = memory;
        this.epochs = epochs;
        this.rival = rival;
    }

    static Contender of(String name) {
        return of(name, memory -> memory);
    }

    /**
     * @param around what its memory is wrapped in
     */
    static Contender of(String name, UnaryOperator<RegionMemory> around) {
        RegionMemory memory = around.apply(SegmentMemory.inMemory(name, EXTENT_BYTES));
        Epochs epochs = epochs();
        RegionSpec spec = spec();
        MemoryBudget.Account account = account();
        Rival rival = switch (name) {
            case TreeIndex.NAME -> new TreeIndex(PmIndex.create(memory, spec, epochs, account));
            case "composite" -> new CompositeIndex(Baseline.create(memory, spec, epochs, account));
            case "log" -> new LogIndex(Baseline.create(memory, spec, epochs, account));
            default -> throw new IllegalArgumentException(name);
        };
        return new Contender(memory, epochs, rival);
    }

    private static Epochs epochs() {
        return Epochs.create(SESSION_COUNT, Clock.system());
    }

    private static RegionSpec spec() {
        return new RegionSpec(1, 1, RegionSpec.PAGE_BYTES_DEFAULT, BYTES_MAX);
    }

    private static MemoryBudget.Account account() {
        return MemoryBudget.of(STALE_BYTES_MAX).account("stale keys");
    }

    /** The tree, in a memory that has one. */
    static Contender reopened(RegionMemory memory, long through) {
        Epochs epochs = epochs();
        Rival rival = new TreeIndex(PmIndex.open(memory, spec(), epochs, account(), through));
        Contender contender = new Contender(memory, epochs, rival);
        contender.absorbedThrough = through;
        return contender;
    }

    Rival rival() {
        return rival;
    }

    RegionMemory memory() {
        return memory;
    }

    /** For a reader's thread. */
    EpochSession openSession(String name) {
        EpochSession session = epochs.open(name);
        sessions.add(session);
        return session;
    }

    /** Ends the sessions of all who asked. */
    void closeSessions() {
        sessions.forEach(EpochSession::close);
        sessions.clear();
    }

    /** Everything up to here is in it. */
    long absorbedThrough() {
        return absorbedThrough;
    }

    /** Writes all of a load. */
    void feed(Operations operations, Feeding how) {
        for (Operations.Layer layer : operations.flushes()) {
            if (how == Feeding.ABSORBED) {
                absorb(operations, layer);
            } else {
                insert(operations, layer);
            }
        }
    }

    private void insert(Operations operations, Operations.Layer layer) {
        rival.begin(layer.end());
        for (int i = (int) absorbedThrough; i < layer.end(); i++) {
            insertOne(operations, i);
        }
        commit(layer);
    }

    /** Writes an operation by itself; begun, and committed, by the caller. */
    void insertOne(Operations operations, int operation) {
        rival.insert(
                secondaryKey.of(operations.keyNumber(operations.key(operation))),
                primaryKey.of(operations.recordNumber(operations.record(operation))),
                Operations.timestamp(operation));
    }

    /** Writes a layer at once, as a flush does. */
    void absorb(Operations operations, Operations.Layer layer) {
        rival.begin(layer.end());
        addVersions(operations, layer);
        Operations.IntList byKey = layer.byKey();
        int from = 0;
        while (from < byKey.size()) {
            int key = operations.key(byKey.get(from));
            int end = from + 1;
            while (end < byKey.size() && operations.key(byKey.get(end)) == key) {
                end++;
            }
            for (int i = from; i < end; i++) {
                int at = rival.takesNewestFirst() ? from + end - 1 - i : i;
                addEntry(operations, byKey.get(at));
            }
            from = end;
        }
        commit(layer);
    }

    /** Feeds the tables of versions alone. */
    void feedVersions(Operations operations) {
        for (Operations.Layer layer : operations.flushes()) {
            rival.begin(layer.end());
            addVersions(operations, layer);
            commit(layer);
        }
    }

    private void addVersions(Operations operations, Operations.Layer layer) {
        Operations.IntList byRecord = layer.byRecord();
        for (int i = 0; i < byRecord.size(); i++) {
            int operation = byRecord.get(i);
            rival.version(
                    primaryKey.of(operations.recordNumber(operations.record(operation))),
                    Operations.timestamp(operation));
        }
    }

    private void addEntry(Operations operations, int operation) {
        rival.entry(
                secondaryKey.of(operations.keyNumber(operations.key(operation))),
                primaryKey.of(operations.recordNumber(operations.record(operation))),
                Operations.timestamp(operation));
    }

    private void commit(Operations.Layer layer) {
        rival.commit(layer.end());
        absorbedThrough = layer.end();
    }

    /** Looks after all secondary keys. */
    void collectAll(Operations operations) {
        rival.begin(absorbedThrough);
        for (int key = 0; key < operations.keyCount(); key++) {
            rival.collect(secondaryKey.of(operations.keyNumber(key)));
        }
        rival.commit(absorbedThrough);
    }

    /** Asks it for the newest records, inside an epoch each time. */
    Asking.Way asker(Operations operations, int limit, Runnable after) {
        Rival.Search search = rival.search();
        EightBytes key = new EightBytes();
        EpochSession session = openSession("asker");
        long snapshot = absorbedThrough;
        return asked -> {
            session.protect();
            search.open(key.of(operations.keyNumber(asked)), snapshot);
            long sum = 0;
            for (int i = 0; i < limit && search.next(); i++) {
                sum = Operations.mixed(sum, EightBytes.number(search.primaryKey()));
            }
            session.unprotect();
            after.run();
            return sum;
        };
    }

    /** Asks it for the newest records of neighbouring keys. */
    Asking.Way ranger(Operations operations) {
        Rival.Search search = rival.search();
        EightBytes from = new EightBytes();
        EightBytes to = new EightBytes();
        EpochSession session = openSession("ranger");
        long snapshot = absorbedThrough;
        return asked -> {
            session.protect();
            long sum = search.range(
                    from.of(operations.keyNumber(asked)),
                    to.of(operations.keyNumber(asked + Asking.RANGE_KEYS)),
                    Asking.RANGE_LIMIT,
                    snapshot);
            session.unprotect();
            return sum;
        };
    }

    /** Leaves the region as a process does that is killed between two absorptions. */
    void kill() {
        rival.validation().close();
        memory.close();
    }

    @Override
    public void close() {
        rival.close();
        memory.close();
    }
}
