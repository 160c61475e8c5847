package io.turbidite.lsm.strategy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.log.Durability;
import io.turbidite.core.meter.StoreEvent;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.ValidSearch;
import io.turbidite.core.sim.Fault;
import io.turbidite.core.sim.FaultScript;
import io.turbidite.core.sim.OperationKind;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Inside;
import io.turbidite.lsm.Snapshot;
import io.turbidite.lsm.StoreDescription;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.component.ComponentOptions;
import io.turbidite.lsm.harness.AnswerCheck;
import io.turbidite.lsm.harness.Garbage;
import io.turbidite.lsm.harness.Row;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.lsm.schema.MergeRepair;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Maintenance auto: a workload that changes, and where repair is placed meanwhile; answers are the
 * oracle's throughout.
 */
class AutoRepairTest {
    private static final long SEED = Seeds.of("AutoRepairTest");
    private static final StoreOptions OPTIONS = SimStore.options(Durability.SYNC);
    private static final String BY_USER = "by_user";

    /** Shorter than writers have to be quiet, and long enough to look. */
    private static final long MOMENT_MICROS = 300_000;

    private final SimDisk disk = new SimDisk(SEED, Profile.STRICT);
    private final TreeMap<Long, Row> rows = new TreeMap<>();
    private SimStore sim = open(SEED);
    private Dataset dataset = sim.store.createDataset(spec("T", "no-merge"));
    private int round;

    private SimStore open(long seed) {
        return SimStore.open(disk, seed, OPTIONS);
    }

    private static DatasetSpec spec(String name, String policy) {
        return Row.blindSpec(name)
                .maintenance(Maintenance.AUTO)
                .index(IndexSpec.btree(BY_USER, "user"))
                .components(ComponentOptions.primary().withPageBytes(4096))
                .mergePolicy(MergePolicySpec.parse(policy));
    }

    @AfterEach
    void all_is_right_and_closed() {
        try (ReadView view = dataset.openView()) {
            AnswerCheck.run(dataset, view, rows);
        }
        sim.verify();
        assertThat(Inside.holdsNothing(sim.store)).isTrue();
        sim.close();
        assertThat(disk.openHandles()).isEmpty();
    }

    /** Writes records, flushes them, and lets the watch look. */
    private void write(long from, long to) {
        round++;
        for (long id = from; id < to; id++) {
            Row row = new Row(id, "u" + (id + round) % 1_000, 1, null, "body");
            rows.put(id, row);
            dataset.upsert(row.toMap());
        }
        dataset.flush();
        sim.tasks.runForMicros(MOMENT_MICROS);
    }

    /** Asks for the entries of users, without records; returns how many are valid. */
    private long ask(int from, int to) {
        IndexSchema index =
                Objects.requireNonNull(Inside.schema(dataset).catalog().find(BY_USER));
        KeySpec key = index.fieldKey();
        long found = 0;
        try (ReadView view = dataset.openView()) {
            for (int user = from; user < to; user++) {
                KeyRange range = KeyRange.startingWith(key.encode("u" + user));
                try (ValidSearch search = ValidSearch.open(
                        view, 0, index.describe(), range, FilterPredicate.none())) {
                    while (search.next()) {
                        found++;
                    }
                }
            }
        }
        sim.tasks.runForMicros(MOMENT_MICROS);
        return found;
    }

    /** What the oracle says to {@link #ask}. */
    private long expected(int from, int to) {
        return rows.values().stream()
                .mapToInt(row ->
                        Integer.parseInt(Objects.requireNonNull(row.user()).substring(1)))
                .filter(user -> user >= from && user < to)
                .count();
    }

    private String placed() {
        return Objects.requireNonNull(
                Garbage.describe(sim.store, dataset, BY_USER).repair());
    }

    private long invalidEntries() {
        return Garbage.describe(sim.store, dataset, BY_USER).components().stream()
                .mapToLong(StoreDescription.ComponentDescription::dead)
                .sum();
    }

    private <E extends StoreEvent> List<E> events(Class<E> kind) {
        return sim.store.events().recent().stream()
                .filter(kind::isInstance)
                .map(kind::cast)
                .toList();
    }

    private List<String> repairCauses() {
        return events(StoreEvent.Repaired.class).stream()
                .map(StoreEvent.Repaired::cause)
                .distinct()
                .toList();
    }

    /** What a store shows that is opened after a power cut; nothing is asked of this one. */
    private void checkImage() {
        try (SimStore image = SimStore.open(disk.crashImage(round), SEED, OPTIONS)) {
            Dataset there = image.store.dataset("T");
            try (ReadView view = there.openView()) {
                AnswerCheck.run(there, view, rows);
            }
            image.verify();
        }
    }

    @Test
    void repair_moves_as_the_workload_does() {
        // inserts alone: there is nothing to find, and nothing is looked for
        for (long i = 0; i < 4; i++) {
            write(i * 500, i * 500 + 500);
        }
        sim.tasks.runForMicros(5_000_000);
        assertThat(placed()).isEqualTo("never");
        assertThat(repairCauses()).isEmpty();

        // updates, and nobody asks: they wait
        for (int i = 0; i < 3; i++) {
            write(0, 1_000);
        }
        assertThat(placed()).isEqualTo("when idle");
        assertThat(repairCauses()).isEmpty();
        checkImage();

        // somebody asks a little, and updates go on: merges repair
        while (placed().equals("when idle")) {
            assertThat(ask(0, 1)).isEqualTo(expected(0, 1));
            write(0, 100);
        }
        assertThat(placed()).isEqualTo("at merge");
        assertThat(repairCauses()).isEmpty();
        checkImage();

        // queries are heavy: they have paid for a repair, and get one
        assertThat(ask(0, 1_000)).isEqualTo(expected(0, 1_000)).isEqualTo(2_000);
        sim.tasks.runForMicros(MOMENT_MICROS);
        assertThat(repairCauses()).containsExactly("auto");
        assertThat(invalidEntries()).isGreaterThan(2_900);
        assertThat(placed()).isEqualTo("at merge");

        // then nobody does anything: what was updated since is repaired
        long repaired = invalidEntries();
        write(0, 300);
        assertThat(invalidEntries()).isEqualTo(repaired);
        sim.tasks.runForMicros(2_000_000);
        assertThat(invalidEntries()).isEqualTo(repaired + 300);

        // inserts alone again, until the updates are forgotten
        for (long i = 0; i < 20; i++) {
            write(2_000 + i * 100, 2_100 + i * 100);
            sim.tasks.runForMicros(60_000_000);
        }
        assertThat(placed()).isEqualTo("never");

        assertThat(events(StoreEvent.RepairPlaced.class))
                .extracting(StoreEvent.RepairPlaced::after)
                .containsExactly("when idle", "at merge", "now", "at merge", "never");
        assertThat(events(StoreEvent.RepairPlaced.class))
                .allMatch(
                        event -> event.reason().length() > 20 && event.dataset().equals("T"));
        assertThat(sim.store.meters().counter("repair.moves").sum()).isEqualTo(5);
    }

    @Test
    void merges_repair_as_long_as_it_is_placed_there() {
        dataset = sim.store.createDataset(spec("M", "constant(componentCountMax=3)"));
        for (int i = 0; i < 8; i++) {
            write(0, 400);
        }
        assertThat(placed()).isEqualTo("when idle");
        assertThat(repairCauses()).isEmpty();
        while (!placed().equals("at merge")) {
            ask(0, 2);
            write(0, 20);
        }
        int before = events(StoreEvent.Repaired.class).size();
        for (int i = 0; i < 8; i++) {
            write(0, 100);
        }
        List<StoreEvent.Repaired> repairs = events(StoreEvent.Repaired.class);
        assertThat(repairs).hasSizeGreaterThan(before);
        assertThat(repairs.getLast().cause()).isEqualTo("merge");
    }

    @Test
    void where_repair_was_placed_is_known_after_reopening_and_by_advice() {
        for (int i = 0; i < 3; i++) {
            write(0, 1_000);
        }
        assertThat(placed()).isEqualTo("when idle");
        assertThat(dataset.advise().indexes().getFirst().reasons())
                .anyMatch(reason -> reason.startsWith("repair is placed when idle: ")
                        && reason.contains("% of the entries are obsolete"));
        sim.close();
        sim = open(SEED + 1);
        dataset = sim.store.dataset("T");
        assertThat(placed()).isEqualTo("when idle");
        assertThat(dataset.advise().indexes().getFirst().reasons())
                .anyMatch(reason -> reason.startsWith("repair is placed when idle: "));
        // and it goes on from there
        sim.tasks.runForMicros(3_000_000);
        assertThat(invalidEntries()).isEqualTo(2_000);
    }

    /**
     * No answer changes, and no file is left over, wherever the power goes while the store repairs
     * by itself.
     */
    @Test
    void a_power_cut_at_any_step_of_a_repair_that_nobody_asked_for_loses_nothing() {
        write(0, 40);
        write(0, 40);
        write(0, 10);
        int[] cuts = {0};
        disk.onOperation(step -> {
            for (Profile profile : Profile.values()) {
                try (SimStore image = SimStore.open(
                        disk.crashImage(Seeds.mix(SEED, step.index()), profile), SEED, OPTIONS)) {
                    Dataset there = image.store.dataset("T");
                    try (ReadView view = there.openView()) {
                        AnswerCheck.run(there, view, rows);
                    }
                    image.verify();
                }
            }
            cuts[0]++;
        });
        sim.tasks.runForMicros(3_000_000);
        disk.onOperation(step -> {});
        assertThat(invalidEntries()).isEqualTo(50);
        assertThat(cuts[0]).isGreaterThan(10);
    }

    @Test
    void a_snapshot_that_keeps_everything_is_not_repaired_against_again_and_again() {
        write(0, 1_000);
        try (Snapshot snapshot = sim.store.openSnapshot()) {
            write(0, 1_000);
            write(0, 1_000);
            sim.tasks.runForMicros(20_000_000);
            int repairs = events(StoreEvent.Repaired.class).size();
            sim.tasks.runForMicros(60_000_000);
            assertThat(events(StoreEvent.Repaired.class)).hasSize(repairs);
            assertThat(invalidEntries()).isZero();
            assertThat(snapshot.timestamp()).isPositive();
        }
        sim.tasks.runForMicros(20_000_000);
        assertThat(invalidEntries()).isEqualTo(2_000);
    }

    @Test
    void a_full_disk_stops_no_writer_and_repair_is_tried_again() {
        AtomicBoolean full = new AtomicBoolean(true);
        disk.fault(FaultScript.with(Fault.ENOSPC)
                .on(OperationKind.WRITE)
                .named(name -> full.get() && name.endsWith(".dead"))
                .forever());
        write(0, 1_000);
        write(0, 1_000);
        sim.tasks.runForMicros(3_000_000);
        write(0, 10);
        assertThat(invalidEntries()).isZero();
        full.set(false);
        sim.tasks.runForMicros(5_000_000);
        assertThat(invalidEntries()).isEqualTo(1_010);
    }

    @Test
    void what_does_not_go_together_is_refused() {
        assertThatThrownBy(() ->
                        sim.store.createDataset(spec("Off", "tiering").repair(MergeRepair.OFF)))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("maintenance auto")
                .hasMessageContaining("repair off");
        sim.store.createDataset(
                Row.spec("Valid").maintenance(Maintenance.VALIDATION).repair(MergeRepair.OFF));
        Dataset valid = sim.store.dataset("Valid");
        assertThatThrownBy(() -> valid.createIndex(
                        IndexSpec.btree("more", "score").withMaintenance(Maintenance.AUTO)))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("index more")
                .hasMessageContaining("repair off");
        assertThatThrownBy(
                        () -> dataset.createIndex(IndexSpec.btree("once", "id").asUnique()))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("needs maintenance eager, not auto");
    }
}
