package io.turbidite.lsm.background;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.log.Durability;
import io.turbidite.core.meter.StoreEvent;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.Tier;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.harness.Row;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schema.Retention;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.HashSet;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;

/**
 * Retention against a model: what is young enough is there as it was last written, what is gone
 * stays gone and was old, nothing older ever comes back, and every index agrees; through updates
 * that move records in time, deletes, snapshots, reopenings and power cuts.
 */
class RetentionTest {
    private static final int ROUNDS = Tier.count(3, 12, 200);
    private static final int STEPS = Tier.count(500, 500, 3_000);
    private static final Duration AGE = Duration.ofDays(30);
    private static final long DAY_MICROS = 86_400_000_000L;
    private static final StoreOptions OPTIONS = SimStore.options(Durability.SYNC);
    private static final String POLICY =
            "correlated-prefix(mergeableBytesMax=16KiB,toleranceCount=2)";

    private final SimClock clock = new SimClock();
    private final SplittableRandom random;
    private final long seed = Seeds.of("RetentionTest");
    private final NavigableMap<Long, Row> model = new TreeMap<>();
    private final Set<Long> gone = new HashSet<>();
    private SimDisk disk = new SimDisk(seed, Profile.STRICT);
    private SimStore sim;
    private long dropped;

    RetentionTest() {
        random = new SplittableRandom(seed);
        sim = open(disk, seed);
    }

    private SimStore open(SimDisk on, long withSeed) {
        return SimStore.open(on, withSeed, OPTIONS, same -> same, clock);
    }

    private Dataset create(String policy) {
        return sim.store.createDataset(Row.spec("T")
                .mergePolicy(MergePolicySpec.parse(policy))
                .retain(AGE)
                .partitions(2));
    }

    private Instant now() {
        return Instant.EPOCH.plusNanos(1_000 * clock.wallMicros());
    }

    private Row row(long id, @Nullable Instant at) {
        return new Row(
                id, "user" + random.nextInt(5), random.nextInt(5), at, "b" + random.nextInt());
    }

    private void upsert(Row row) {
        sim.store.dataset("T").upsert(row.toMap());
        model.put(row.id(), row);
        gone.remove(row.id());
    }

    /** Lets background work do what it has to. */
    private void settle() {
        for (int i = 0; i < 20; i++) {
            sim.tasks.runForMicros(200_000);
        }
    }

    /** What is missing is gone for good; everything else is as it was written last. */
    private void check() {
        Dataset dataset = sim.store.dataset("T");
        NavigableMap<Long, Row> found = SimStore.rows(dataset);
        Instant limit = now().minus(AGE);
        for (Row row : model.values()) {
            Row there = found.remove(row.id());
            if (there == null) {
                assertThat(row.created()).as("%s is gone", row).isNotNull().isBefore(limit);
                gone.add(row.id());
            } else {
                assertThat(there).isEqualTo(row);
                assertThat(gone).as("%s is back", row).doesNotContain(row.id());
            }
        }
        assertThat(found).as("never written, or deleted").isEmpty();
        sim.verify();
    }

    private void model(long roundSeed) {
        SplittableRandom dice = new SplittableRandom(roundSeed);
        boolean undated = dice.nextInt(4) == 0; // one record without a value stops all drops
        create(dice.nextBoolean() ? POLICY : "correlated-tiering(mergeableBytesMax=16KiB)");
        @Nullable ReadView held = null;
        NavigableMap<Long, Row> shown = new TreeMap<>();
        for (int i = 0; i < STEPS; i++) {
            clock.advanceMicros(dice.nextLong(DAY_MICROS));
            long id = dice.nextInt(120);
            switch (dice.nextInt(20)) {
                case 0 -> {
                    sim.store.dataset("T").delete(id);
                    model.remove(id);
                    gone.remove(id);
                }
                // late, early and undated records
                case 1 -> upsert(row(id, now().minus(Duration.ofDays(dice.nextInt(60)))));
                case 2 -> upsert(row(id, undated && dice.nextInt(20) == 0 ? null : now()));
                case 3, 4 -> sim.store.dataset("T").flush();
                case 5 -> settle();
                case 6 -> check();
                case 7 -> {
                    if (held == null) {
                        held = sim.store.dataset("T").openView();
                        shown = SimStore.rows(sim.store.dataset("T"), held);
                    } else {
                        assertThat(SimStore.rows(sim.store.dataset("T"), held)).isEqualTo(shown);
                        held.close();
                        held = null;
                    }
                }
                case 8 -> {
                    if (dice.nextInt(4) == 0) {
                        if (held != null) {
                            held.close();
                            held = null;
                        }
                        dropped += drops();
                        SimDisk before = disk;
                        if (dice.nextBoolean()) {
                            disk = before.crashImage(dice.nextLong());
                        }
                        sim.close();
                        sim = open(disk, dice.nextLong());
                        check();
                    }
                }
                default -> upsert(row(id, now()));
            }
        }
        if (held != null) {
            assertThat(SimStore.rows(sim.store.dataset("T"), held)).isEqualTo(shown);
            held.close();
        }
        settle();
        check();
        dropped += drops();
        sim.close();
        assertThat(disk.openHandles()).isEmpty();
    }

    private long drops() {
        return sim.store.events().recent().stream()
                .filter(StoreEvent.Expired.class::isInstance)
                .count();
    }

    @Test
    void what_is_old_goes_and_nothing_older_comes_back() {
        long all = 0;
        for (int i = 0; i < ROUNDS; i++) {
            long roundSeed = Seeds.mix(seed, i);
            RetentionTest round = new RetentionTest();
            try {
                round.model(roundSeed);
            } catch (Throwable failure) {
                throw new AssertionError(
                        "round %d; %s".formatted(i, Seeds.replay("RetentionTest", seed)), failure);
            }
            all += round.dropped;
        }
        System.out.printf("RetentionTest: %d drops in %d rounds%n", all, ROUNDS);
        assertThat(all).isGreaterThan(ROUNDS);
        sim.close();
    }

    @Test
    void a_power_cut_at_any_step_of_a_drop_leaves_all_or_nothing_of_it() {
        create("correlated-no-merge");
        for (long id = 0; id < 10; id++) {
            upsert(row(id, now()));
        }
        sim.store.dataset("T").flush();
        clock.advanceMicros(20 * DAY_MICROS);
        for (long id = 5; id < 15; id++) {
            upsert(row(id, now()));
        }
        sim.store.dataset("T").flush();
        clock.advanceMicros(20 * DAY_MICROS);
        NavigableMap<Long, Row> before = new TreeMap<>(model);
        NavigableMap<Long, Row> after = new TreeMap<>(model.tailMap(5L));
        Set<Integer> sizes = new HashSet<>();
        disk.onOperation(step -> {
            for (Profile profile : Profile.values()) {
                SimDisk image = disk.crashImage(step.index(), profile);
                try (SimStore again = open(image, step.index())) {
                    // by partition: some may be done, some not
                    NavigableMap<Long, Row> rows = SimStore.rows(again.store.dataset("T"));
                    sizes.add(rows.size());
                    assertThat(before).containsAllEntriesOf(rows);
                    assertThat(rows).containsAllEntriesOf(after);
                    again.verify();
                }
            }
        });
        settle();
        disk.onOperation(step -> {});
        assertThat(SimStore.rows(sim.store.dataset("T"))).isEqualTo(after);
        assertThat(sizes).contains(15);
        assertThat(sim.store.describe().datasets().getFirst().options().retention())
                .hasToString("30d");
        sim.close();
    }

    private long heldBackCount() {
        return sim.store.events().recent().stream()
                .filter(StoreEvent.RetentionHeldBack.class::isInstance)
                .count();
    }

    @Test
    void a_clock_that_jumps_forward_drops_nothing_and_is_told_of() {
        Dataset dataset = create("correlated-no-merge");
        for (long day = 0; day < 20; day++) {
            upsert(row(day, now()));
            dataset.flush();
            clock.advanceMicros(DAY_MICROS);
            settle();
        }
        clock.jumpWallMicros(3_650 * DAY_MICROS);
        settle();
        check();
        assertThat(SimStore.rows(dataset)).hasSize(20);
        assertThat(heldBackCount()).isEqualTo(1);
        sim.close();
        sim = open(disk, seed + 1);
        settle();
        assertThat(SimStore.rows(sim.store.dataset("T"))).hasSize(20);
        assertThat(heldBackCount()).isEqualTo(1);
        // running time counts, whatever the clock says
        clock.advanceMicros(20 * DAY_MICROS);
        settle();
        assertThat(SimStore.rows(sim.store.dataset("T"))).hasSizeBetween(9, 11);
        sim.verify();
        sim.close();
    }

    @Test
    void a_clock_that_jumps_forward_and_is_believed_by_one_record_drops_no_more_than_that_tells() {
        Dataset dataset = create("correlated-no-merge");
        upsert(row(1, now()));
        dataset.flush();
        clock.jumpWallMicros(25 * DAY_MICROS);
        upsert(row(2, now()));
        dataset.flush();
        clock.jumpWallMicros(1_000 * DAY_MICROS);
        settle();
        assertThat(SimStore.rows(dataset)).containsOnlyKeys(1L, 2L);
        clock.advanceMicros(6 * DAY_MICROS);
        settle();
        assertThat(SimStore.rows(dataset)).containsOnlyKeys(2L);
        sim.close();
    }

    @Test
    void a_view_shows_what_it_showed_until_it_is_closed() {
        Dataset dataset = create("correlated-no-merge");
        upsert(row(1, now()));
        dataset.flush();
        clock.advanceMicros(40 * DAY_MICROS);
        try (ReadView view = dataset.openView()) {
            settle();
            assertThat(SimStore.rows(dataset, view)).containsOnlyKeys(1L);
            // others go on meanwhile
            upsert(row(2, now()));
            dataset.flush();
            dataset.mergeAll();
            assertThat(SimStore.rows(dataset, view)).containsOnlyKeys(1L);
        }
        settle();
        assertThat(SimStore.rows(dataset)).containsOnlyKeys(2L);
        sim.verify();
        sim.close();
        assertThat(disk.openHandles()).isEmpty();
    }

    @Test
    void a_component_with_a_record_without_a_value_stays_and_keeps_what_is_above_it() {
        Dataset dataset = create("correlated-no-merge");
        for (long id = 0; id < 40; id++) {
            upsert(row(id, id < 20 ? null : now()));
        }
        dataset.flush();
        for (long id = 40; id < 60; id++) {
            upsert(row(id, now()));
        }
        dataset.flush();
        clock.advanceMicros(100 * DAY_MICROS);
        settle();
        assertThat(SimStore.rows(dataset)).isEqualTo(model);
        sim.close();
    }

    @Test
    void a_day_that_is_not_over_is_kept() {
        Dataset dataset = sim.store.createDataset(DatasetSpec.named("Days")
                .field("id", "int64")
                .field("day", "date")
                .primaryKey("id")
                .filter("day")
                .mergePolicy(MergePolicySpec.parse("correlated-no-merge"))
                .retain(AGE)
                .partitions(1));
        clock.advanceMicros(100 * DAY_MICROS + DAY_MICROS / 4);
        LocalDate oldest = now().minus(AGE).atOffset(ZoneOffset.UTC).toLocalDate();
        dataset.upsert(Map.of("id", 1L, "day", oldest));
        dataset.flush();
        LocalDate today = now().atOffset(ZoneOffset.UTC).toLocalDate();
        dataset.upsert(Map.of("id", 2L, "day", today)); // without it the clock is not believed
        settle();
        assertThat(dataset.get(1L)).containsEntry("day", oldest);
        clock.advanceMicros(DAY_MICROS);
        settle();
        assertThat(dataset.get(1L)).isNull();
        sim.close();
    }

    @Test
    void an_index_keeps_a_record_whose_fields_were_the_same_in_a_component_that_went() {
        Dataset dataset = create("correlated-no-merge");
        Instant then = now();
        Row same = new Row(1, "user", 1, then, "first");
        upsert(same);
        dataset.flush();
        clock.advanceMicros(40 * DAY_MICROS);
        // beside young ones of every partition: the component of the update stays
        for (long id = 1; id < 20; id++) {
            upsert(id == 1 ? new Row(1, "user", 1, then, "second") : row(id, now()));
        }
        dataset.flush();
        settle();
        assertThat(drops()).isPositive();
        check();
        sim.close();
    }

    @Test
    void an_index_that_is_built_later_keeps_such_a_record_too() {
        Dataset dataset = create("correlated-no-merge");
        Instant then = now();
        upsert(new Row(1, "user", 1, then, "first"));
        dataset.flush();
        for (long id = 1; id < 20; id++) {
            Instant young = then.plus(Duration.ofDays(40));
            upsert(id == 1 ? new Row(1, "user", 1, then, "second") : row(id, young));
        }
        dataset.flush();
        dataset.createIndex(IndexSpec.btree("by_user_and_time", "user", "created"));
        clock.advanceMicros(40 * DAY_MICROS);
        settle();
        assertThat(drops()).isPositive();
        check();
        sim.close();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"prefix", "tiering", "no-merge", "correlated-constant", "correlated-leveling"
            })
    void a_policy_that_does_not_fit_is_refused(String policy) {
        assertThatThrownBy(() -> create(policy))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("retain needs a merge policy")
                .hasMessageContaining("dataset T");
        assertThat(sim.store.findDataset("T")).isNull();
        sim.close();
    }

    @Test
    void retention_needs_a_filter_that_tells_a_time() {
        DatasetSpec spec =
                Row.spec("T").mergePolicy(MergePolicySpec.parse(POLICY)).retain(AGE);
        spec.filter();
        assertThatThrownBy(() -> sim.store.createDataset(spec))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("needs a filter field");
        spec.filter("score", "created");
        assertThatThrownBy(() -> sim.store.createDataset(spec))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("'score' is no datetime or date");
        sim.close();
    }

    @Test
    void an_age_is_written_as_it_is_read() {
        for (String text : new String[] {"30d", "12h", "90m", "45s", "1s"}) {
            assertThat(Retention.parse(text)).hasToString(text);
        }
        assertThat(Retention.of(AGE)).hasToString("30d");
        assertThat(Retention.parse("48h")).hasToString("2d");
        for (String text :
                new String[] {"", "0d", "30", "d", "-1d", "1.5d", "30 d", "999999999999d"}) {
            assertThatThrownBy(() -> Retention.parse(text))
                    .as(text)
                    .isInstanceOf(InvalidRequestException.class);
        }
        sim.close();
    }
}
