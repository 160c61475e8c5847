package io.turbidite.lsm.strategy;

import io.turbidite.core.log.Durability;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.harness.Refusals;
import io.turbidite.lsm.harness.Row;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.lsm.schema.MergeRepair;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What is refused of maintenance strategies and repair, and what is said then. */
public class StrategyBadInputTest {
    private static final MergePolicySpec CORRELATED = MergePolicySpec.parse("correlated-tiering");

    private final SimDisk disk = new SimDisk(5, Profile.STRICT);
    private final SimStore sim = SimStore.open(disk, 5, SimStore.options(Durability.SYNC));
    private final Refusals refusals = new Refusals();

    @AfterEach
    void close() {
        sim.close();
    }

    private void create(DatasetSpec spec) {
        Dataset made = sim.store.createDataset(spec);
        throw new AssertionError("made " + made.name());
    }

    private static DatasetSpec spec(Maintenance maintenance) {
        return Row.spec("T").maintenance(maintenance);
    }

    private static IndexSpec index(Maintenance maintenance) {
        return IndexSpec.btree("x", "body").withMaintenance(maintenance);
    }

    @Test
    void strategies_that_need_another_policy() {
        refusals.refuse(
                        "mutable-bitmap",
                        () -> create(spec(Maintenance.MUTABLE_BITMAP)),
                        "dataset T",
                        "mutable-bitmap needs a correlated merge policy",
                        "correlated-tiering, not tiering")
                .refuse(
                        "deferred dataset",
                        () -> create(spec(Maintenance.DEFERRED)),
                        "dataset T",
                        "index by_user",
                        "correlated-tiering, not tiering")
                .refuse(
                        "deferred index",
                        () -> create(spec(Maintenance.EAGER).index(index(Maintenance.DEFERRED))),
                        "dataset T",
                        "index x",
                        "correlated-tiering, not tiering")
                .check(sim);
    }

    @Test
    void unique_indexes_that_are_not_eager() {
        for (Maintenance maintenance : Maintenance.values()) {
            if (maintenance != Maintenance.EAGER) {
                refusals.refuse(
                        "of a dataset with " + maintenance,
                        () -> create(spec(maintenance)
                                .mergePolicy(CORRELATED)
                                .index(IndexSpec.btree("x", "body").asUnique())),
                        "dataset T",
                        "index x is unique and needs maintenance eager");
            }
            if (maintenance.isBlind()) {
                refusals.refuse(
                        "with " + maintenance,
                        () -> create(spec(Maintenance.EAGER)
                                .mergePolicy(CORRELATED)
                                .index(index(maintenance).asUnique())),
                        "dataset T",
                        "index x is unique and needs maintenance eager, not "
                                + maintenance.label());
            }
        }
        refusals.check(sim);
    }

    @Test
    void strategies_that_do_not_go_together() {
        DatasetSpec marks =
                Row.spec("Marks").maintenance(Maintenance.MUTABLE_BITMAP).mergePolicy(CORRELATED);
        Dataset there = sim.store.createDataset(marks);
        Dataset plain = sim.store.createDataset(Row.spec("Plain"));
        refusals.refuse(
                        "mutable-bitmap of an index",
                        () -> create(
                                spec(Maintenance.EAGER).index(index(Maintenance.MUTABLE_BITMAP))),
                        "dataset T",
                        "not for index x",
                        "validation")
                .refuse(
                        "later",
                        () -> plain.createIndex(index(Maintenance.MUTABLE_BITMAP)),
                        "dataset Plain",
                        "not for index x")
                .refuse(
                        "deferred, later, without its policy",
                        () -> plain.createIndex(index(Maintenance.DEFERRED)),
                        "dataset Plain",
                        "index x",
                        "correlated-tiering, not tiering");
        for (Maintenance maintenance :
                new Maintenance[] {Maintenance.EAGER, Maintenance.DEFERRED}) {
            refusals.refuse(
                            maintenance + " beside marks",
                            () -> create(spec(Maintenance.MUTABLE_BITMAP)
                                    .mergePolicy(CORRELATED)
                                    .index(index(maintenance))),
                            "dataset T",
                            "index x has maintenance " + maintenance.label(),
                            "does not go with mutable-bitmap")
                    .refuse(
                            maintenance + " beside marks, later",
                            () -> there.createIndex(index(maintenance)),
                            "dataset Marks",
                            "index x has maintenance " + maintenance.label());
        }
        refusals.check(sim);
    }

    @Test
    void unknown_labels() {
        refusals.refuse(
                        "strategy",
                        () -> {
                            Maintenance found = Maintenance.ofLabel("lazy");
                            throw new AssertionError("there is " + found);
                        },
                        "'lazy'",
                        "eager",
                        "validation",
                        "mutable-bitmap",
                        "deleted-key",
                        "deferred")
                .refuse(
                        "repair",
                        () -> {
                            MergeRepair found = MergeRepair.ofLabel("sometimes");
                            throw new AssertionError("there is " + found);
                        },
                        "'sometimes'",
                        "merge or off")
                .check(sim);
    }

    @Test
    void repairs_of_what_has_nothing_to_repair() {
        Dataset bare = sim.store.createDataset(Row.blindSpec("Bare"));
        Dataset eager = sim.store.createDataset(Row.spec("Eager"));
        Dataset blind =
                sim.store.createDataset(Row.spec("Blind").maintenance(Maintenance.VALIDATION));
        blind.disableIndex("by_score");
        refusals.refuse("no index", bare::repair, "Bare", "none at all")
                .refuse("all eager", eager::repair, "Eager", "all are eager")
                .refuse("by records", eager::repairByRecords, "Eager", "all are eager")
                .refuse("one eager", () -> eager.repair("by_user"), "by_user", "Eager", "is eager")
                .refuse("no such index", () -> blind.repair("no"), "Blind", "no")
                .refuse("the primary", () -> blind.repair("primary"), "Blind", "primary")
                .refuse("disabled", () -> blind.repair("by_score"), "Blind", "by_score")
                .check(sim);
    }
}
