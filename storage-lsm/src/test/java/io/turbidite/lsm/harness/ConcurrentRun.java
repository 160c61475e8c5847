package io.turbidite.lsm.harness;

import io.turbidite.core.DuplicateKeyException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.KeyBatch;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordBatch;
import io.turbidite.core.scan.RecordCursor;
import io.turbidite.core.sim.RegisterCalls;
import io.turbidite.core.sim.RegisterCalls.Call;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.time.Clock;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.Inside;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.WriteBatch;

import org.jspecify.annotations.Nullable;

import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Several threads at a few keys of a dataset, with flushes, merges and repairs beside them; and
 * what each of them did and saw, to be checked for one order. Every write has a value of its own,
 * which stands in an indexed field, so that what an index says of a key is a read as well. Views
 * are read long after they were opened: what they show must have been there when they were.
 */
public final class ConcurrentRun {
    private static final int KEY_COUNT = 6;

    /** Most calls between the opening of a view and the look at what it shows. */
    private static final int VIEW_AGE_MAX = 400;

    private final Store store;
    private final Dataset dataset;
    private final long seed;
    private final int callCount;
    private final Clock clock = Clock.system();
    private final AtomicBoolean done = new AtomicBoolean();

    private ConcurrentRun(Store store, Dataset dataset, long seed, int callCount) {
        this.store = store;
        this.dataset = dataset;
        this.seed = seed;
        this.callCount = callCount;
    }

    /** The dataset of such a run: values are scores, and indexed. */
    public static DatasetSpec spec(String name) {
        return Row.spec(name).partitions(2);
    }

    /**
     * Runs.
     *
     * @param threads that write and read
     * @param callCount of each thread
     * @param dataset empty
     */
    public static RegisterCalls run(
            Store store, Dataset dataset, long seed, int threads, int callCount) throws Exception {
        Inside.core(store).liveVersions().lookAtOnce();
        return new ConcurrentRun(store, dataset, seed, callCount).run(threads);
    }

    private RegisterCalls run(int threads) throws Exception {
        RegisterCalls calls = new RegisterCalls(KEY_COUNT);
        try (ExecutorService pool = Executors.newFixedThreadPool(threads + 1)) {
            Future<?> background = pool.submit(this::disturb);
            List<Future<List<Call>>> clients = new ArrayList<>();
            for (int thread = 0; thread < threads; thread++) {
                Client client = new Client(thread);
                clients.add(pool.submit(client::run));
            }
            try {
                for (Future<List<Call>> client : clients) {
                    calls.addAll(client.get());
                }
            } finally {
                done.set(true);
            }
            background.get();
            Client last = new Client(threads);
            try (ReadView view = dataset.openView()) {
                last.read("the end", clock.monotonicNanos(), last.scan(view, true));
            }
            calls.addAll(last.calls);
        }
        return calls;
    }

    private void disturb() {
        boolean repairs = dataset.indexes().stream().anyMatch(index -> !index.alwaysValid());
        for (int i = 0; !done.get(); i++) {
            dataset.flush();
            if (i % 3 == 0) {
                dataset.mergeAll();
            }
            if (repairs && i % 5 == 0) {
                dataset.repair();
            }
        }
    }

    /** One thread's. */
    private final class Client {
        private final int thread;
        private final SplittableRandom random;
        private final RecordWriter writer = dataset.newRecordWriter();
        private final RecordView record = new RecordView(dataset.type());
        private final WriteBatch batch = store.newBatch();
        private final KeyBatch keys = new KeyBatch(1 << 10);
        private final RecordBatch records = new RecordBatch(1 << 16);
        private final List<Call> calls = new ArrayList<>();
        private int lastValue;
        private @Nullable ReadView view;
        private long viewInvoked;
        private long viewReturned;
        private int viewCallsLeft;

        Client(int thread) {
            this.thread = thread;
            this.random = new SplittableRandom(Seeds.mix(seed, thread));
            this.lastValue = thread << 24;
        }

        List<Call> run() {
            try {
                while (calls.size() < callCount) {
                    call();
                    age();
                }
                return calls;
            } finally {
                if (view != null) {
                    view.close();
                }
            }
        }

        private void call() {
            int dice = random.nextInt(100);
            if (dice < 30) {
                int key = key();
                int value = ++lastValue;
                long invoked = clock.monotonicNanos();
                dataset.upsertRecord(record(key, value));
                wrote("upsert", invoked, Map.of(key, value));
            } else if (dice < 40) {
                int key = key();
                long invoked = clock.monotonicNanos();
                dataset.delete((long) key);
                wrote("delete", invoked, Map.of(key, RegisterCalls.ABSENT));
            } else if (dice < 50) {
                insert(key(), ++lastValue);
            } else if (dice < 62) {
                batch();
            } else if (dice < 80) {
                int key = key();
                long invoked = clock.monotonicNanos();
                Map<String, ?> found = dataset.get((long) key);
                read("get", invoked, Map.of(key, value(found)));
            } else if (dice < 88) {
                getAll();
            } else if (view == null) {
                viewInvoked = clock.monotonicNanos();
                view = dataset.openView();
                viewReturned = clock.monotonicNanos();
                viewCallsLeft = random.nextInt(VIEW_AGE_MAX);
            }
        }

        private int key() {
            return random.nextInt(KEY_COUNT);
        }

        private Slice record(int key, int value) {
            return writer.write(
                    new Row(key, "user" + value % 7, value, Instant.ofEpochSecond(value), "body")
                            .toMap());
        }

        private static int value(@Nullable Map<String, ?> fields) {
            return fields == null
                    ? RegisterCalls.ABSENT
                    : (Integer) Objects.requireNonNull(fields.get("score"));
        }

        private void insert(int key, int value) {
            Slice encoded = record(key, value);
            long invoked = clock.monotonicNanos();
            try {
                dataset.insertRecord(encoded);
                add("insert", invoked, Map.of(key, RegisterCalls.ABSENT), Map.of(key, value));
            } catch (DuplicateKeyException taken) {
                read("refused insert", invoked, Map.of(key, RegisterCalls.PRESENT));
            }
        }

        private void batch() {
            batch.clear();
            Map<Integer, Integer> values = new HashMap<>();
            int size = 2 + random.nextInt(KEY_COUNT - 1);
            for (int i = 0; i < size; i++) {
                int key = key();
                if (random.nextInt(4) == 0) {
                    batch.delete(dataset, Slice.of(dataset.primaryKeySpec().encode((long) key)));
                    values.put(key, RegisterCalls.ABSENT);
                } else {
                    values.put(key, ++lastValue);
                    batch.upsert(dataset, record(key, lastValue));
                }
            }
            long invoked = clock.monotonicNanos();
            store.write(batch);
            wrote("batch", invoked, values);
        }

        private void getAll() {
            long invoked = clock.monotonicNanos();
            keys.clear();
            for (long key = 0; key < KEY_COUNT; key++) {
                keys.add(Slice.of(dataset.primaryKeySpec().encode(key)));
            }
            dataset.getRecords(keys, records);
            Map<Integer, Integer> values = new HashMap<>();
            for (int key = 0; key < KEY_COUNT; key++) {
                values.put(
                        key,
                        records.isPresent(key)
                                ? value(record.wrap(records.record(key, new Slice()))
                                        .toMap())
                                : RegisterCalls.ABSENT);
            }
            read("get of all", invoked, values);
        }

        /** Looks at what a view shows when it has been open for some time. */
        private void age() {
            ReadView old = view;
            if (old == null || viewCallsLeft-- > 0) {
                return;
            }
            Map<Integer, Integer> shown =
                    random.nextBoolean() ? scan(old, random.nextBoolean()) : search(old);
            old.close();
            view = null;
            calls.add(new Call(thread, viewInvoked, viewReturned, "view", shown, Map.of()));
        }

        Map<Integer, Integer> scan(ReadView shown, boolean forwards) {
            Map<Integer, Integer> values = nothing();
            for (int p = 0; p < shown.partitionCount(); p++) {
                try (RecordCursor cursor = shown.scan(p, KeyRange.all(), FilterPredicate.none())) {
                    if (!forwards) {
                        cursor.seekEnd();
                    }
                    while (forwards ? cursor.next() : cursor.previous()) {
                        Row row = Row.of(record.wrap(cursor.record()).toMap());
                        put(values, row.id(), Objects.requireNonNull(row.score()));
                    }
                }
            }
            return values;
        }

        private Map<Integer, Integer> search(ReadView shown) {
            Map<Integer, Integer> values = nothing();
            Garbage.valid(dataset, shown, "by_score")
                    .forEach((id, score) -> put(values, id, Integer.parseInt((String) score)));
            return values;
        }

        private static void put(Map<Integer, Integer> values, long id, int value) {
            Integer other = values.put((int) id, value);
            if (!Objects.equals(other, RegisterCalls.ABSENT)) {
                throw new AssertionError(
                        "key %d is shown twice: %d, %d".formatted(id, other, value));
            }
        }

        private static Map<Integer, Integer> nothing() {
            Map<Integer, Integer> values = new HashMap<>();
            for (int key = 0; key < KEY_COUNT; key++) {
                values.put(key, RegisterCalls.ABSENT);
            }
            return values;
        }

        private void wrote(String name, long invoked, Map<Integer, Integer> values) {
            add(name, invoked, Map.of(), values);
        }

        void read(String name, long invoked, Map<Integer, Integer> values) {
            add(name, invoked, values, Map.of());
        }

        private void add(
                String name, long invoked, Map<Integer, Integer> saw, Map<Integer, Integer> wrote) {
            calls.add(new Call(thread, invoked, clock.monotonicNanos(), name, saw, wrote));
        }
    }
}
