package io.turbidite.lsm.api;

import io.turbidite.core.log.Durability;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.time.Clock;
import io.turbidite.lsm.BulkLoader;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.DuplicateKeys;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.backup.CopyMode;
import io.turbidite.lsm.backup.Restore;
import io.turbidite.lsm.component.ComponentOptions;
import io.turbidite.lsm.component.Compression;
import io.turbidite.lsm.component.PageOptions;
import io.turbidite.lsm.harness.Refusals;
import io.turbidite.lsm.harness.Row;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schedule.BackgroundOptions;
import io.turbidite.lsm.schedule.MergeScheduler;
import io.turbidite.lsm.schema.Retention;
import io.turbidite.lsm.strategy.StrategyBadInputTest;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What the engine refuses, and what it says then. Strategies have {@link StrategyBadInputTest}. */
class EngineBadInputTest {
    private final SimDisk disk = new SimDisk(5, Profile.STRICT);
    private final SimStore sim = SimStore.open(disk, 5, SimStore.options(Durability.SYNC));
    private final Refusals refusals = new Refusals();
    private Dataset there = sim.store.createDataset(Row.spec("There"));

    @BeforeEach
    void fill() {
        for (long id = 0; id < 10; id++) {
            there.upsert(new Row(id, "user", 1, null, "body").toMap());
        }
        there.flush();
    }

    @AfterEach
    void close() {
        sim.close();
    }

    private Runnable policy(String text) {
        return () -> create(Row.spec("T").mergePolicy(MergePolicySpec.parse(text)));
    }

    private void create(DatasetSpec spec) {
        Dataset made = sim.store.createDataset(spec);
        throw new AssertionError("made " + made.name());
    }

    @Test
    void merge_policies() {
        refusals.refuse("unknown kind", policy("fancy"), "kind", "fancy", "lazy-leveling")
                .refuse("unknown kind, correlated", policy("correlated-fancy"), "correlated-fancy")
                .refuse("no parenthesis", policy("tiering(sizeRatio=2"), "closing parenthesis")
                .refuse("no value", policy("tiering(sizeRatio)"), "name=value", "sizeRatio")
                .refuse("twice", policy("tiering(sizeRatio=2,sizeRatio=3)"), "sizeRatio", "twice")
                .refuse(
                        "foreign parameter",
                        policy("tiering(toleranceCount=2)"),
                        "toleranceCount",
                        "sizeRatio, mergeCountMin, mergeableBytesMax")
                .refuse("no parameter there", policy("no-merge(a=1)"), "a", "takes none")
                .refuse("no number", policy("leveling(sizeRatio=ten)"), "sizeRatio", "ten")
                .refuse("a fraction", policy("leveling(sizeRatio=2.5)"), "sizeRatio", "2.5")
                .refuse("no bytes", policy("prefix(mergeableBytesMax=big)"), "mergeableBytesMax")
                .refuse("0 bytes", policy("prefix(mergeableBytesMax=0)"), "mergeableBytesMax")
                .refuse("ratio 0", policy("tiering(sizeRatio=0)"), "sizeRatio", "above 0")
                .refuse("ratio NaN", policy("tiering(sizeRatio=NaN)"), "sizeRatio", "NaN")
                .refuse("level ratio 1", policy("leveling(sizeRatio=1)"), "sizeRatio", "from 2")
                .refuse(
                        "one component merged",
                        policy("tiering(mergeCountMin=1)"),
                        "mergeCountMin",
                        "at least 2")
                .refuse(
                        "most below least",
                        policy("concurrent(mergeCountMin=4,mergeCountMax=3)"),
                        "mergeCountMax",
                        "4")
                .refuse(
                        "no component",
                        policy("constant(componentCountMax=0)"),
                        "componentCountMax",
                        "at least 1")
                .refuse(
                        "negative tolerance",
                        policy("prefix(toleranceCount=-1)"),
                        "toleranceCount",
                        "-1")
                .check(sim);
    }

    @Test
    void definitions_of_datasets() {
        refusals.refuse("taken", () -> create(Row.spec("There")), "There", "already")
                .refuse("no name", () -> create(Row.spec("")), "dataset name ''")
                .refuse("a path", () -> create(Row.spec("../x")), "'../x'", "letters")
                .refuse("NUL", () -> create(Row.spec("a\0b")), "letters, digits")
                .refuse("long name", () -> create(Row.spec("x".repeat(65))), "1 to 64")
                .refuse(
                        "no key",
                        () -> create(DatasetSpec.named("T").field("id", "int64")),
                        "dataset T",
                        "primary key")
                .refuse(
                        "a unique array",
                        () -> create(DatasetSpec.named("T")
                                .field("id", "int64")
                                .field("tags", "[string]?")
                                .primaryKey("id")
                                .index(IndexSpec.btree("once", "tags[]").asUnique())),
                        "dataset T: index once",
                        "elements of an array",
                        "[tags[]]",
                        "can't be unique")
                .refuse(
                        "key not declared",
                        () -> create(Row.spec("T").primaryKey("nothing")),
                        "dataset T: primary key",
                        "'nothing'",
                        "declared are")
                .refuse(
                        "optional key",
                        () -> create(Row.spec("T").primaryKey("user")),
                        "dataset T",
                        "'user'",
                        "optional")
                .refuse(
                        "key twice",
                        () -> create(Row.spec("T").primaryKey("id", "id")),
                        "dataset T: primary key",
                        "'id' twice")
                .refuse(
                        "filter not declared",
                        () -> create(Row.spec("T").filter("nothing")),
                        "dataset T: filter",
                        "'nothing'")
                .refuse(
                        "unknown type",
                        () -> create(Row.spec("T").field("x", "varchar")),
                        "'varchar'",
                        "int64")
                .refuse(
                        "field twice",
                        () -> create(Row.spec("T").field("user", "int64")),
                        "'user'",
                        "twice")
                .refuse("no field name", () -> create(Row.spec("T").field("", "int64")), "1 to 255")
                .refuse("no partition", () -> create(Row.spec("T").partitions(0)), "T", "0", "256")
                .refuse("partitions", () -> create(Row.spec("T").partitions(257)), "257", "256")
                .refuse(
                        "small pages",
                        () -> create(Row.spec("T").components(pages(1_024))),
                        "1024",
                        "4096")
                .refuse(
                        "large pages",
                        () -> create(Row.spec("T").components(pages(1 << 20))),
                        "1048576",
                        "131072")
                .refuse("unknown compression", () -> compression("lzma"), "lzma", "lz4", "zstd")
                .check(sim);
    }

    private static ComponentOptions pages(int bytes) {
        return ComponentOptions.primary().withPageBytes(bytes);
    }

    private static void compression(String label) {
        Compression found = Compression.ofLabel(label);
        throw new AssertionError("there is " + found);
    }

    @Test
    void retention() {
        String bounded = "correlated-prefix";
        refusals.refuse(
                        "no filter",
                        () -> create(Row.blindSpec("T")
                                .mergePolicy(MergePolicySpec.parse(bounded))
                                .retain(Retention.parse("30d"))),
                        "dataset T",
                        "retain needs a filter field")
                .refuse(
                        "filter without time",
                        () -> create(Row.spec("T")
                                .filter("user")
                                .mergePolicy(MergePolicySpec.parse(bounded))
                                .retain(Retention.parse("30d"))),
                        "dataset T",
                        "'user'")
                .refuse(
                        "policy not correlated",
                        () -> create(Row.spec("T").retain(Retention.parse("30d"))),
                        "dataset T",
                        "correlated-prefix",
                        "not tiering")
                .refuse("no unit", () -> retain("30"), "'30'", "30d")
                .refuse("no age", () -> retain("0s"), "'0s'")
                .refuse("negative", () -> retain("-1d"), "'-1d'")
                .refuse("much too long", () -> retain("9999999999999d"), "9999999999999d")
                .check(sim);
    }

    private static void retain(String text) {
        Retention parsed = Retention.parse(text);
        throw new AssertionError("parsed " + parsed);
    }

    @Test
    void indexes() {
        there.disableIndex("by_score");
        refusals.refuse(
                        "field not declared",
                        () -> there.createIndex(IndexSpec.btree("x", "nothing")),
                        "dataset There: index x",
                        "'nothing'",
                        "declared are")
                .refuse(
                        "with the dataset",
                        () -> create(Row.spec("T").index(IndexSpec.btree("x", "nothing"))),
                        "dataset T: index x",
                        "'nothing'")
                .refuse("no field", () -> there.createIndex(IndexSpec.btree("x")), "x", "no field")
                .refuse(
                        "field twice",
                        () -> there.createIndex(IndexSpec.btree("x", "user", "user")),
                        "index x",
                        "'user' twice")
                .refuse(
                        "name taken",
                        () -> there.createIndex(IndexSpec.btree("by_user", "body")),
                        "There",
                        "'by_user' already",
                        "[user]")
                .refuse(
                        "name taken by a disabled one",
                        () -> there.createIndex(IndexSpec.btree("by_score", "body")),
                        "'by_score' already",
                        "disabled")
                .refuse(
                        "name twice",
                        () -> create(Row.spec("T").index(IndexSpec.btree("by_user", "body"))),
                        "dataset T",
                        "by_user")
                .refuse(
                        "the primary's name",
                        () -> there.createIndex(IndexSpec.btree("primary", "body")),
                        "'primary'")
                .refuse(
                        "no name",
                        () -> there.createIndex(IndexSpec.btree("a b", "body")),
                        "index name 'a b'")
                .refuse("no such index", () -> there.dropIndex("no"), "There", "'no'", "by_user")
                .refuse("to disable", () -> there.disableIndex("no"), "There", "'no'", "by_user")
                .refuse("to enable", () -> there.enableIndex("no"), "There", "'no'", "by_user")
                .refuse(
                        "enabled already",
                        () -> there.enableIndex("by_user"),
                        "by_user",
                        "not disabled",
                        "ready")
                .refuse(
                        "disabled already",
                        () -> there.disableIndex("by_score"),
                        "by_score",
                        "not ready",
                        "disabled")
                .refuse("no such dataset", () -> sim.store.dropDataset("No"), "'No'", "[There]")
                .refuse("to open", () -> sim.store.dataset("No"), "'No'", "[There]")
                .refuse(
                        "unique over what is twice",
                        () -> there.createIndex(IndexSpec.btree("once", "user").asUnique()),
                        "once",
                        "There")
                .check(sim);
    }

    @Test
    void records_and_keys() {
        refusals.refuse(
                        "a field of another type",
                        () -> there.upsert(with("score", "many")),
                        "'score'",
                        "int32")
                .refuse("no key", () -> there.upsert(with("id", null)), "'id'")
                .refuse("no required field", () -> there.upsert(with("body", null)), "'body'")
                .refuse("two keys", () -> there.get(1L, 2L), "There", "[id]", "2 values")
                .refuse("a key of another type", () -> there.get("one"), "'id'")
                .refuse("to delete", () -> there.delete("one"), "'id'")
                .refuse("taken", () -> there.insert(with("id", 1L)), "There", "1")
                .refuse("not JSON", () -> there.upsertJson("{\"id\":"), "JSON")
                .refuse(
                        "an index key too long",
                        () -> there.upsert(with("user", "x".repeat(70_000))),
                        "[user]",
                        "limit")
                .check(sim);
    }

    @Test
    void a_key_too_long_names_dataset_and_use_before_and_after_a_restart() {
        String notes = "Notes";
        sim.store.createDataset(DatasetSpec.named(notes)
                .field("id", "string")
                .field("sent", "string")
                .field("by", "string")
                .primaryKey("id")
                .filter("sent")
                .index(IndexSpec.btree("by_author", "by")));
        refuseTooLong(sim, notes);
        sim.close();
        try (SimStore again = SimStore.open(disk, 6, SimStore.options(Durability.SYNC))) {
            refuseTooLong(again, notes);
        }
    }

    private static void refuseTooLong(SimStore store, String name) {
        Dataset dataset = store.store.dataset(name);
        String tooLong = "x".repeat(2_000);
        new Refusals()
                .refuse(
                        "filter",
                        () -> dataset.upsert(Map.of("id", "a", "by", "b", "sent", tooLong)),
                        "dataset Notes: filter",
                        "[sent]",
                        "limit")
                .refuse(
                        "index",
                        () -> dataset.upsert(Map.of("id", "a", "by", tooLong, "sent", "c")),
                        "dataset Notes: index by_author",
                        "[by]",
                        "limit")
                .refuse(
                        "primary key",
                        () -> dataset.upsert(Map.of("id", tooLong, "by", "b", "sent", "c")),
                        "dataset Notes: primary key",
                        "[id]",
                        "limit")
                .check(store);
    }

    private static Map<String, Object> with(
            String field, @org.jspecify.annotations.Nullable Object value) {
        Map<String, Object> fields = new HashMap<>(Map.of("id", 100L, "body", "b"));
        if (value == null) {
            fields.remove(field);
        } else {
            fields.put(field, value);
        }
        return fields;
    }

    @Test
    void bulk_loads() {
        Dataset empty = sim.store.createDataset(Row.spec("Empty"));
        Dataset unique = sim.store.createDataset(
                Row.spec("Unique").index(IndexSpec.btree("once", "body").asUnique()));
        refusals.refuse("not empty", () -> there.bulkLoad(1), "There", "not empty")
                .refuse("unique", () -> unique.bulkLoad(1), "Unique", "once", "disable")
                .refuse(
                        "not in order",
                        () -> load(empty, List.of(2L, 1L), true),
                        "Empty",
                        "[1] is not above [2]")
                .refuse("twice", () -> load(empty, List.of(2L, 2L), false), "Empty", "[2]", "twice")
                .check(sim);
        try (BulkLoader loader = empty.bulkLoad(1)) {
            new Refusals()
                    .refuse("written", () -> empty.upsert(with("id", 1L)), "Empty", "bulk loaded")
                    .refuse("loaded", () -> empty.bulkLoad(1), "Empty", "bulk loaded")
                    .refuse(
                            "an index more",
                            () -> empty.createIndex(IndexSpec.btree("x", "body")),
                            "Empty",
                            "being changed")
                    .refuse("dropped", () -> sim.store.dropDataset("Empty"), "Empty", "changed")
                    .check(sim);
            loader.finish();
        }
    }

    private static void load(Dataset dataset, List<Long> ids, boolean sorted) {
        try (BulkLoader loader =
                sorted ? dataset.bulkLoad(1) : dataset.bulkLoadUnsorted(DuplicateKeys.REFUSED)) {
            for (long id : ids) {
                loader.add(dataset.newRecordWriter().write(with("id", id)));
            }
            loader.finish();
        }
    }

    @Test
    void backups(@TempDir Path directory) {
        SimDisk filled = new SimDisk(6, Profile.STRICT);
        filled.put("something", new byte[1]);
        SimDisk elsewhere = new SimDisk(7, Profile.STRICT);
        SimDisk broken = new SimDisk(8, Profile.STRICT);
        broken.put("INCOMPLETE", new byte[0]);
        SimDisk opened = new SimDisk(4, Profile.STRICT);
        try (SimStore other = SimStore.open(opened, 4, SimStore.options(Durability.SYNC))) {
            other.store.createDataset(Row.spec("T")).upsert(new Row(1, "u", 1, null, "b").toMap());
        }
        refusals.refuse(
                        "not empty",
                        () -> sim.store.backup(filled, CopyMode.COPY),
                        "not empty",
                        "'something'",
                        "new directory")
                .refuse(
                        "cut short before",
                        () -> sim.store.backup(broken, CopyMode.COPY),
                        "interrupted",
                        "delete")
                .refuse("no backup", () -> restore(elsewhere), "is no backup", "MANIFEST")
                .refuse("half a backup", () -> restore(broken), "interrupted", "not whole")
                .refuse("a store in use", () -> restore(disk), "in use by this process")
                .refuse("opened since", () -> restore(opened), "opened as a store")
                .refuse(
                        "no directory",
                        () -> Store.restore(directory.resolve("no"), directory.resolve("to")),
                        "no does not exist")
                .refuse(
                        "no store",
                        () -> Store.openExisting(directory.resolve("no"), StoreOptions.defaults()),
                        "no does not exist")
                .check(sim);
    }

    private void restore(SimDisk backup) {
        SimDisk target = new SimDisk(9, Profile.STRICT);
        Restore.copy(backup, target, sim.tasks, Clock.system());
    }

    @Test
    void options() {
        StoreOptions given = StoreOptions.defaults();
        BackgroundOptions background = BackgroundOptions.defaults();
        refusals.refuse("memory", () -> given.withWriteMemoryBytes(1), "writeMemoryBytes", "1 MiB")
                .refuse("cache", () -> given.withCacheBytes(-1), "cacheBytes is -1", "1 MiB")
                .refuse("log", () -> given.withLog(1, given.log()), "logBytesMax is 1", "segment")
                .refuse("workers", () -> background.withMergeWorkers(0), "mergeWorkers is 0")
                .refuse("rate", () -> background.withIoBytesPerSecond(-5), "ioBytesPerSecond is -5")
                .refuse("sync", () -> background.withSyncBytes(3), "syncBytes is 3")
                .refuse(
                        "backlog",
                        () -> background.withBacklogComponentsMax(1),
                        "backlogComponentsMax is 1")
                .refuse("scheduler", () -> scheduler("lazy"), "'lazy'", "fair", "greedy")
                .refuse("pages", () -> pageOptions(1), "page of 1 bytes", "4096")
                .check(sim);
    }

    private static void scheduler(String label) {
        MergeScheduler found = MergeScheduler.of(label);
        throw new AssertionError("there is " + found);
    }

    private static void pageOptions(int bytes) {
        PageOptions made = new PageOptions(bytes, Compression.NONE);
        throw new AssertionError("made " + made);
    }
}
