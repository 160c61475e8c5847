package io.turbidite.ops;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.memory.QueryMemory;
import io.turbidite.core.scan.IndexDescription;
import io.turbidite.core.scan.QueryMeans;
import io.turbidite.core.scan.Source;
import io.turbidite.core.sim.Fault;
import io.turbidite.core.sim.FaultScript;
import io.turbidite.core.sim.OperationKind;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.core.sim.Tier;
import io.turbidite.core.task.Tasks;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.core.time.Clock;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.aggregate.Aggregate;
import io.turbidite.ops.run.RunOptions;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/** Joins whose passing side several workers read, beside the same joins of one. */
class SharedJoinTest {
    private static final int TEXTS = 1_500;

    private final SimDisk disk = new SimDisk(1, Profile.STRICT);
    private MemorySource authors = newAuthors();
    private MemorySource texts = newTexts(2, false);

    private static MemorySource newAuthors() {
        return new MemorySource(
                RecordType.builder()
                        .field("id", "int64")
                        .field("key", "int32?")
                        .field("land", "string?")
                        .field("age", "int16?")
                        .field("pad", "string?")
                        .build(),
                List.of("id"),
                List.of(),
                List.of(),
                2);
    }

    private static MemorySource newTexts(int partitions, boolean isIndexed) {
        return newTexts(
                partitions,
                isIndexed
                        ? List.of(new IndexDescription(
                                "by_author", IndexDescription.Kind.BTREE, List.of("author"), true))
                        : List.of());
    }

    private static MemorySource newTexts(int partitions, List<IndexDescription> indexes) {
        return new MemorySource(
                RecordType.builder()
                        .field("no", "int64")
                        .field("author", "int64?")
                        .field("length", "int32?")
                        .field("score", "double?")
                        .field("kind", "string?")
                        .build(),
                List.of("no"),
                List.of(),
                indexes,
                partitions);
    }

    @AfterEach
    void nothing_is_left() {
        assertThat(authors.openCount).hasValue(0);
        assertThat(texts.openCount).hasValue(0);
        assertThat(disk.files()).isEmpty();
        assertThat(disk.openHandles()).isEmpty();
    }

    private static @Nullable Object some(SplittableRandom random, Object value) {
        return random.nextInt(8) == 0 ? null : value;
    }

    private void fill(SplittableRandom random, int authorCount, int keys) {
        for (long id = 0; id < authorCount; id++) {
            Map<String, @Nullable Object> row = new LinkedHashMap<>();
            row.put("id", id);
            row.put("key", some(random, random.nextInt(keys)));
            row.put("land", some(random, "land" + random.nextInt(5)));
            row.put("age", some(random, (short) random.nextInt(90)));
            row.put("pad", "p".repeat(random.nextInt(200)));
            authors.upsert(row);
        }
        for (long no = 0; no < TEXTS; no++) {
            Map<String, @Nullable Object> row = new LinkedHashMap<>();
            row.put("no", no);
            row.put("author", some(random, (long) random.nextInt(keys + keys / 3)));
            row.put("length", some(random, random.nextInt(280)));
            row.put("score", some(random, random.nextInt(100) / 4.0));
            row.put("kind", some(random, "k" + random.nextInt(3)));
            texts.upsert(row);
        }
    }

    private static RunOptions side(Tasks tasks, RunOptions options) {
        return options.withTasks(tasks).withSideBySideRows(0);
    }

    private RunOptions small() {
        return RunOptions.defaults()
                .withMemoryBytesMax(RunOptions.MEMORY_BYTES_MIN)
                .withSpill(disk, "spill");
    }

    private static List<String> rows(Relation relation) {
        List<String> rows = new ArrayList<>();
        try (QueryResult result = relation.run()) {
            for (Map<String, @Nullable Object> row : result) {
                rows.add(new TreeMap<>(row).toString());
            }
        }
        return rows;
    }

    /** The rows of each step, of a result that is read to its end. */
    private static List<String> counted(Relation relation) {
        try (QueryResult result = relation.run()) {
            result.count();
            return result.explain().operators().stream()
                    .map(step -> "%d %s %s".formatted(step.depth(), step.name(), step.actualRows()))
                    .toList();
        }
    }

    private Query authors() {
        return Query.on((Source) authors);
    }

    private Query texts() {
        return Query.on((Source) texts);
    }

    /** Counts workers by what they run. */
    private record CountedTasks(Tasks tasks, AtomicInteger started) implements Tasks {
        @Override
        public Worker start(String name, long idleMicros, Step step) {
            started.incrementAndGet();
            return tasks.start(name, idleMicros, step);
        }

        @Override
        public Worker start(String name, LongSupplier idleMicros, Step step) {
            started.incrementAndGet();
            return tasks.start(name, idleMicros, step);
        }

        @Override
        public void await(BooleanSupplier condition) {
            tasks.await(condition);
        }

        @Override
        public boolean awaitUnlessInterrupted(BooleanSupplier condition) {
            return tasks.awaitUnlessInterrupted(condition);
        }

        @Override
        public void signal() {
            tasks.signal();
        }

        @Override
        public void close() {
            tasks.close();
        }
    }

    // ---- answers --------------------------------------------------------------------------------

    @Test
    void several_workers_give_the_answers_of_one() {
        String test = "SharedJoinTest#several_workers_give_the_answers_of_one";
        long first = Seeds.of(test);
        int shared = 0;
        int alone = 0;
        int most = 0;
        int count = Tier.count(24, 200, 10_000);
        for (int i = 0; i < (Seeds.isReplay() ? 1 : count); i++) {
            long seed = Seeds.isReplay() ? first : Seeds.mix(first, i);
            try {
                int workers = compare(new SplittableRandom(seed));
                shared += workers > 0 ? 1 : 0;
                alone += workers == 0 ? 1 : 0;
                most = Math.max(most, workers);
            } catch (RuntimeException | AssertionError e) {
                throw new AssertionError(e.getMessage() + "\n" + Seeds.replay(test, seed), e);
            }
        }
        if (!Seeds.isReplay()) {
            assertThat(shared).isGreaterThan(count / 4);
            assertThat(most).as("more than have notes").isGreaterThan(4);
            assertThat(alone).as("narrowed, spilled, or held too many").isGreaterThan(count / 20);
        }
    }

    /** How many workers there were. */
    private int compare(SplittableRandom random) {
        authors = newAuthors();
        int partitions = random.nextInt(2, 9);
        texts = newTexts(partitions, random.nextInt(4) == 0);
        fill(random, random.nextInt(200), 8 + random.nextInt(60));
        boolean isSmall = random.nextInt(3) == 0;
        RunOptions one = isSmall
                ? small()
                : RunOptions.defaults()
                        .withMemoryBytesMax(random.nextBoolean() ? 32 << 20 : 64 << 20);
        AtomicInteger started = new AtomicInteger();
        // threads meet where steps in turn do not
        try (Tasks tasks = random.nextBoolean()
                ? ThreadTasks.create("shared-join-test")
                : new SimTasks(random.nextLong(), new SimClock())) {
            RunOptions several = side(new CountedTasks(tasks, started), one);
            long seed = random.nextLong();
            // with few groups alone the memory of two is enough
            boolean isCounted = isSmall || random.nextInt(4) == 0;
            List<String> expected =
                    rows(asked(new SplittableRandom(seed), isCounted).with(one));
            assertThat(rows(asked(new SplittableRandom(seed), isCounted).with(several)))
                    .isEqualTo(expected);
            int workers = started.get();
            assertThat(workers).isLessThanOrEqualTo(partitions);
            assertThat(counted(asked(new SplittableRandom(seed), isCounted).with(several)))
                    .isEqualTo(
                            counted(asked(new SplittableRandom(seed), isCounted).with(one)));
            nothing_is_left();
            return workers;
        }
    }

    /** Groups or a count of a join, the same for the same seed. */
    private Query asked(SplittableRandom random, boolean isCounted) {
        Query all = random.nextInt(4) == 0 ? texts().where("length > 20") : texts();
        boolean hasPairs = random.nextInt(5) > 0;
        Join join = switch (random.nextInt(7)) {
            case 3 -> Join.full(all, authors()).on("author", "key");
            case 0 -> Join.inner(authors(), all).on("key", "author");
            case 1 -> Join.left(authors(), all).on("key", "author");
            case 2 -> Join.left(all, authors()).on("author", "key");
            default -> Join.inner(all, authors()).on("author", "key");
        };
        if (!hasPairs) {
            join = (random.nextBoolean()
                            ? Join.semi(all, authors())
                            : random.nextBoolean()
                                    ? Join.anti(all, authors())
                                    : Join.notIn(all, authors()))
                    .on("author", "key");
        } else if (random.nextInt(3) == 0) {
            join = join.where("length > 20 or land = 'land1'");
        } else if (random.nextInt(4) == 0) {
            Query others = authors().select("id as other", "age as older");
            join = Join.inner(join, others).on("id", "other");
        }
        Query query = Query.on(join);
        if (random.nextInt(3) == 0) {
            query = query.where("score > 3");
        }
        if (isCounted) {
            return query.count();
        }
        List<String> by = hasPairs
                ? BY.get(random.nextInt(BY.size()))
                : random.nextBoolean() ? List.of("kind") : List.of("author", "length % 7 as rest");
        query = by.isEmpty() ? query : query.groupBy(by.toArray(String[]::new));
        query = query.aggregate(
                Aggregate.count(),
                Aggregate.sum("length"),
                Aggregate.max("score"),
                Aggregate.countDistinct("kind"),
                hasPairs ? Aggregate.min("age") : Aggregate.min("length"));
        return by.contains("land") && random.nextBoolean()
                ? query.orderBy("land", Order.DESC).limit(3)
                : query;
    }

    private static final List<List<String>> BY = List.of(
            List.of("land"),
            List.of("kind", "land"),
            List.of("author"),
            List.of("key", "kind"),
            List.of("id", "pad"),
            List.of("length % 5 as rest", "land"),
            List.of());

    // ---- who reads ------------------------------------------------------------------------------

    private Query groups() {
        return Query.on(Join.inner(texts(), authors()).on("author", "key"))
                .groupBy("land")
                .aggregate(Aggregate.count(), Aggregate.sum("length"));
    }

    /** Threads that moved a cursor of the texts. */
    private Set<String> readers(Query query, Tasks tasks) {
        Set<String> readers = ConcurrentHashMap.newKeySet();
        texts.onMove = () -> readers.add(Thread.currentThread().getName());
        rows(query.with(side(tasks, RunOptions.defaults())));
        texts.onMove = () -> {};
        return readers;
    }

    @Test
    void each_worker_reads_partitions_of_its_own() {
        fill(new SplittableRandom(3), 200, 50);
        String own = Thread.currentThread().getName();
        try (ThreadTasks tasks = ThreadTasks.create("shared-join-test")) {
            assertThat(readers(groups(), tasks)).doesNotContain(own).hasSize(2);
            assertThat(readers(
                            Query.on(Join.inner(texts(), authors()).on("author", "key"))
                                    .count(),
                            tasks))
                    .doesNotContain(own)
                    .hasSize(2);
        }
    }

    @Test
    void what_is_read_by_the_keys_that_are_held_one_reads() {
        texts = newTexts(3, true);
        fill(new SplittableRandom(4), 3, 2_000);
        String own = Thread.currentThread().getName();
        List<String> expected = rows(groups());
        try (ThreadTasks tasks = ThreadTasks.create("shared-join-test")) {
            assertThat(readers(groups(), tasks)).containsExactly(own);
            Query again = groups().with(side(tasks, RunOptions.defaults()));
            assertThat(rows(again)).isEqualTo(expected);
        }
    }

    @Test
    void what_spills_one_reads() {
        fill(new SplittableRandom(5), 1, 40);
        // more than the table may have of the join's half of the memory
        for (long id = 10; id < 700; id++) {
            authors.upsert(
                    Map.of("id", id, "key", (int) (id % 50), "land", "l".repeat(16_000) + id % 7));
        }
        String own = Thread.currentThread().getName();
        RunOptions little =
                RunOptions.defaults().withMemoryBytesMax(32 << 20).withSpill(disk, "spill");
        List<String> expected = rows(groups().with(little));
        long spilled = disk.stepCount();
        assertThat(spilled).isPositive();
        try (ThreadTasks tasks = ThreadTasks.create("shared-join-test")) {
            Set<String> readers = ConcurrentHashMap.newKeySet();
            texts.onMove = () -> readers.add(Thread.currentThread().getName());
            assertThat(rows(groups().with(side(tasks, little)))).isEqualTo(expected);
            assertThat(readers).containsExactly(own);
            assertThat(disk.stepCount()).isGreaterThan(spilled);
        }
    }

    /** One who has it all has the memory of all: here the groups fit in no fourth of it. */
    @Test
    void one_who_reads_all_has_all_memory() {
        texts = newTexts(4, true);
        fill(new SplittableRandom(10), 3, 2_000);
        authors.upsert(Map.of("id", 7L, "key", 5_000, "land", "l"));
        for (long no = TEXTS; no < TEXTS + 32; no++) {
            texts.upsert(Map.of("no", no, "author", 5_000L, "kind", "k".repeat(240_000) + no));
        }
        try (ThreadTasks tasks = ThreadTasks.create("shared-join-test")) {
            // the join has half of it, and the groups the other
            RunOptions one = RunOptions.defaults().withMemoryBytesMax(64 << 20);
            String own = Thread.currentThread().getName();
            for (boolean inPairs : new boolean[] {true, false}) {
                for (boolean inOrder : new boolean[] {false, true}) {
                    Join join = Join.inner(texts(), authors()).on("author", "key");
                    Query query = inPairs ? Query.on(join) : Query.on(join).where("no >= 0");
                    Query groups = query.groupBy("kind").aggregate(Aggregate.max("no"));
                    Query asked = inOrder ? groups.orderBy("max_no", Order.DESC) : groups;
                    List<String> expected = rows(asked.with(one));
                    assertThat(expected).hasSizeGreaterThanOrEqualTo(32);
                    Set<String> readers = ConcurrentHashMap.newKeySet();
                    texts.onMove = () -> readers.add(Thread.currentThread().getName());
                    List<String> same = rows(asked.with(side(tasks, one)));
                    assertThat(same.equals(expected)).isTrue();
                    assertThat(readers).containsExactly(own);
                    texts.onMove = () -> {};
                }
            }
        }
    }

    /** Each of two has half: candidates for which that does not do are left to the records. */
    @Test
    void several_indexes_share_the_memory_among_the_workers() {
        texts = newTexts(
                2,
                List.of(
                        new IndexDescription(
                                "by_length", IndexDescription.Kind.BTREE, List.of("length"), true),
                        new IndexDescription(
                                "by_score", IndexDescription.Kind.BTREE, List.of("score"), true)));
        fill(new SplittableRandom(11), 20, 50);
        String notIntersected = "2 intersect OptionalLong[0]";
        try (ThreadTasks tasks = ThreadTasks.create("shared-join-test")) {
            RunOptions ample = RunOptions.defaults().withMemoryBytesMax(256 << 10);
            assertThat(counted(ofSeveralIndexes(side(tasks, ample))))
                    .isEqualTo(counted(ofSeveralIndexes(ample)))
                    .doesNotContain(notIntersected);
            RunOptions half = RunOptions.defaults().withMemoryBytesMax(128 << 10);
            assertThat(counted(ofSeveralIndexes(half))).doesNotContain(notIntersected);
            assertThat(counted(ofSeveralIndexes(side(tasks, half)))).contains(notIntersected);
            assertThat(rows(ofSeveralIndexes(side(tasks, half))))
                    .isEqualTo(rows(ofSeveralIndexes(half)));
        }
    }

    private Query ofSeveralIndexes(RunOptions options) {
        Query some =
                texts().where("length < 200 and score < 12").usingIndexes("by_length", "by_score");
        return Query.on(Join.inner(some, authors()).on("author", "key")).count().with(options);
    }

    // ---- failures -------------------------------------------------------------------------------

    @Test
    void a_failure_at_any_move_leaves_nothing() {
        fill(new SplittableRandom(6), 200, 50);
        try (ThreadTasks tasks = ThreadTasks.create("shared-join-test")) {
            for (boolean isSmall : new boolean[] {false, true}) {
                Query query = isSmall
                        ? Query.on(Join.inner(texts(), authors()).on("author", "key"))
                                .count()
                                .with(side(tasks, small()))
                        : groups().with(side(tasks, RunOptions.defaults()));
                for (MemorySource source : List.of(authors, texts)) {
                    int before = source.moveCount.get();
                    rows(query);
                    int moves = source.moveCount.get() - before;
                    for (int move = 0; move < moves; move += 1 + moves / 40) {
                        source.failAfterMoves = source.moveCount.get() + move;
                        assertThatThrownBy(() -> rows(query))
                                .isInstanceOf(CorruptionException.class);
                        nothing_is_left();
                    }
                    source.failAfterMoves = Integer.MAX_VALUE;
                }
            }
        }
    }

    @Test
    void a_failure_of_the_disk_leaves_nothing() {
        fill(new SplittableRandom(7), 300, 50);
        try (ThreadTasks tasks = ThreadTasks.create("shared-join-test")) {
            Query query = Query.on(Join.inner(texts(), authors()).on("author", "key"))
                    .groupBy("id", "pad")
                    .count()
                    .with(side(tasks, small()));
            FaultScript counting = disk.fault(
                    FaultScript.with(Fault.EIO).on(OperationKind.WRITE).call(0));
            rows(query);
            disk.clearFaults();
            int writes = (int) counting.matchCount();
            assertThat(writes).isPositive();
            for (int call = 1; call <= writes; call += 1 + writes / 10) {
                disk.fault(FaultScript.with(Fault.EIO).on(OperationKind.WRITE).call(call));
                assertThatThrownBy(() -> rows(query)).isInstanceOf(StorageIoException.class);
                disk.clearFaults();
                nothing_is_left();
            }
        }
    }

    /** Groups of more than each of two workers may keep; those of authors are noted, too. */
    @Test
    void what_workers_spill_is_put_together_and_a_failure_of_the_disk_leaves_nothing() {
        for (long id = 0; id < 700; id++) {
            authors.upsert(Map.of("id", id, "key", (int) id, "land", "land" + id % 5));
        }
        for (long no = 0; no < TEXTS; no++) {
            String kind = "k".repeat(24_000) + no % 1_400;
            texts.upsert(Map.of("no", no, "author", no % 700, "kind", kind, "length", 1));
        }
        Join join = Join.inner(texts(), authors()).on("author", "key");
        RunOptions much = RunOptions.defaults().withMemoryBytesMax(128 << 20);
        RunOptions little =
                RunOptions.defaults().withMemoryBytesMax(32 << 20).withSpill(disk, "spill");
        for (Query query : List.of(
                Query.on(join).groupBy("id").aggregate(Aggregate.max("kind"), Aggregate.count()),
                Query.on(join).groupBy("kind").aggregate(Aggregate.sum("age"), Aggregate.count()),
                Query.on(join).where("no >= 0").groupBy("kind").count())) {
            List<String> expected = rows(query.with(much));
            AtomicInteger started = new AtomicInteger();
            try (Tasks tasks = new CountedTasks(ThreadTasks.create("shared-join-test"), started)) {
                Query shared = query.with(side(tasks, little));
                FaultScript counting = disk.fault(
                        FaultScript.with(Fault.EIO).on(OperationKind.WRITE).call(0));
                assertThat(rows(shared).equals(expected)).isTrue();
                disk.clearFaults();
                int writes = (int) counting.matchCount();
                assertThat(writes).isPositive();
                assertThat(started).hasValue(2);
                nothing_is_left();
                for (int call = 1; call <= writes; call += 1 + writes / 3) {
                    disk.fault(
                            FaultScript.with(Fault.EIO).on(OperationKind.WRITE).call(call));
                    assertThatThrownBy(() -> rows(shared)).isInstanceOf(StorageIoException.class);
                    disk.clearFaults();
                    nothing_is_left();
                }
            }
        }
    }

    @Test
    void a_stop_at_any_look_ends_all_workers() {
        fill(new SplittableRandom(8), 200, 50);
        try (ThreadTasks tasks = ThreadTasks.create("shared-join-test")) {
            AtomicInteger looks = new AtomicInteger();
            rows(groups().with(side(
                    tasks, RunOptions.defaults().withStop(() -> looks.incrementAndGet() < 0))));
            int all = looks.get();
            for (int look = 1; look < all - 2; look += 1 + all / 30) {
                int last = look;
                looks.set(0);
                assertThatThrownBy(() -> rows(groups().with(side(
                                tasks,
                                RunOptions.defaults()
                                        .withStop(() -> looks.incrementAndGet() >= last)))))
                        .isInstanceOf(CancellationException.class);
                nothing_is_left();
            }
        }
    }

    /** What the table and the groups took is given back, whoever closes the table. */
    @Test
    void memory_is_the_querys_and_given_back() {
        fill(new SplittableRandom(9), 300, 50);
        try (ThreadTasks tasks = ThreadTasks.create("shared-join-test")) {
            QueryMemory memory = QueryMemory.of(
                    MemoryBudget.of(64 << 20).account("queries"), tasks, Clock.system());
            QueryMeans means = new QueryMeans(memory, disk, "spill", tasks);
            texts.means = means;
            authors.means = means;
            Query query = groups().with(RunOptions.defaults().withSideBySideRows(0));
            Set<String> readers = ConcurrentHashMap.newKeySet();
            texts.onMove = () -> readers.add(Thread.currentThread().getName());
            List<String> expected = rows(query);
            assertThat(readers).hasSize(2);
            assertThat(expected).hasSize(6);
            assertThat(memory.bytesUsed()).isZero();
            texts.failAfterMoves = texts.moveCount.get() + TEXTS / 2;
            assertThatThrownBy(() -> rows(query)).isInstanceOf(CorruptionException.class);
            assertThat(memory.bytesUsed()).isZero();
            // the first one fails before the other has begun
            texts.failAfterMoves = texts.moveCount.get();
            for (Query each : List.of(groups(), groups().where("length >= 0 or length is null"))) {
                SimTasks inTurn = new SimTasks(7, new SimClock());
                assertThatThrownBy(() -> rows(each.with(side(inTurn, RunOptions.defaults()))))
                        .isInstanceOf(CorruptionException.class);
                assertThat(memory.bytesUsed()).isZero();
            }
        }
    }
}
