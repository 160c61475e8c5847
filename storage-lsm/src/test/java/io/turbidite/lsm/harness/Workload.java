package io.turbidite.lsm.harness;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.DuplicateKeyException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.geo.SpatialKind;
import io.turbidite.core.index.ElementKeys;
import io.turbidite.core.index.SpatialKeys;
import io.turbidite.core.index.TokenKeys;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.scan.ReadView;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Inside;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.WriteBatch;
import io.turbidite.lsm.component.ComponentOptions;
import io.turbidite.lsm.harness.AnswerCheck.Questions;
import io.turbidite.lsm.harness.Oracle.Change;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schema.BitmapHandover;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.lsm.schema.MergeRepair;
import io.turbidite.lsm.schema.TreeId;

import org.jspecify.annotations.Nullable;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;

/** Operations, random ones or those that are given, done to a store and to the oracle at once. */
public final class Workload {
    public static final String INDEXED = "Indexed";
    static final String BLIND = "Blind";

    private final SplittableRandom random;
    private final Axes axes;
    private final StepDraw draw;
    private final Oracle oracle;
    private final RowEntries entries = new RowEntries();
    private @Nullable Maintenance forced;

    /** Taken from the seed without drawing from it, so that histories stay what they were. */
    private BitmapHandover handover;

    private boolean hasRegion;

    public Workload(long seed, Oracle oracle, int keyCount) {
        this.random = new SplittableRandom(seed);
        this.axes = Axes.of(seed);
        this.draw = new StepDraw(random, keyCount);
        this.oracle = oracle;
        this.handover = (seed >>> 24 & 1) == 0 ? BitmapHandover.SIDE_FILE : BitmapHandover.LOCK;
    }

    /** Makes the two datasets with options that the seed picks. */
    public void create(Store store) {
        ComponentOptions components = ComponentOptions.primary()
                .withPageBytes(axes.pageBytes())
                .withKeyTree(random.nextInt(4) > 0)
                .withBloom(random.nextInt(4) > 0)
                .withCompression(axes.compression());
        Maintenance maintenance = forced == null ? axes.maintenance() : forced;
        MergePolicySpec policy = axes.policy();
        if (forced != null && !policy.isCorrelated()) {
            policy = MergePolicySpec.parse("correlated-" + policy);
        }
        boolean isOff = random.nextInt(4) == 0 && maintenance != Maintenance.AUTO;
        DatasetSpec spec = Row.everyKindSpec(INDEXED);
        if (hasRegion) {
            spec.index(IndexSpec.pm("by_region", "user"));
        }
        store.createDataset(spec.maintenance(maintenance)
                .bitmapHandover(handover(maintenance))
                .repair(isOff ? MergeRepair.OFF : MergeRepair.MERGE)
                .partitions(1 + random.nextInt(3))
                .components(components)
                .mergePolicy(policy));
        store.createDataset(
                Row.withPlaces(Row.blindSpec(BLIND)).components(components).mergePolicy(policy));
    }

    /** Makes the two datasets with this strategy and policy; takes nothing from the seed. */
    public void create(Store store, Maintenance maintenance, MergePolicySpec policy) {
        ComponentOptions components = ComponentOptions.primary().withPageBytes(4096);
        // an index of another strategy than its dataset's
        Maintenance other = maintenance.isBlind() ? Maintenance.EAGER : Maintenance.VALIDATION;
        store.createDataset(Row.everyKindSpec(INDEXED)
                .maintenance(maintenance)
                .bitmapHandover(handover(maintenance))
                .partitions(2)
                .components(components)
                .index(IndexSpec.btree("by_other", "score").withMaintenance(other))
                .index(IndexSpec.inverted("by_other_word", "body").withMaintenance(other))
                .index(IndexSpec.btree("by_author", "author.name", "author.scores[]")
                        .withMaintenance(other))
                .index(IndexSpec.pm("by_region", "user"))
                .mergePolicy(policy));
        store.createDataset(
                Row.withPlaces(Row.blindSpec(BLIND)).components(components).mergePolicy(policy));
    }

    /** What the dataset must hold now. */
    public NavigableMap<Long, Row> rows(String dataset) {
        return oracle.rows(dataset);
    }

    /** The indexed dataset has this strategy, with a policy that all strategies allow. */
    public Workload withMaintenance(Maintenance maintenance) {
        forced = maintenance;
        return this;
    }

    private BitmapHandover handover(Maintenance maintenance) {
        return maintenance == Maintenance.MUTABLE_BITMAP ? handover : BitmapHandover.SIDE_FILE;
    }

    /**
     * With an index of a given kind, if the seed says so; takes nothing from it. For tests whose
     * stores have each their own image of the regions.
     */
    public Workload withRegion(long seed) {
        hasRegion = (seed >>> 26 & 1) == 0;
        return this;
    }

    /** Under mutable-bitmap marks are handed over by this method. */
    public Workload withHandover(BitmapHandover method) {
        handover = method;
        return this;
    }

    public Row row(long id) {
        return draw.row(id);
    }

    /** One random write; returns when it is acknowledged. */
    public void write(Store store) {
        write(store, draw.write());
    }

    /** One write; returns when it is acknowledged. */
    public void write(Store store, Step.Write write) {
        Change first = write.first();
        Dataset dataset = store.dataset(first.dataset());
        switch (write.way()) {
            case UPSERT -> {
                oracle.begin(write.changes());
                dataset.upsert(Objects.requireNonNull(first.row()).toMap(dataset.type()));
            }
            case INSERT -> insert(dataset, Objects.requireNonNull(first.row()));
            case DELETE -> {
                oracle.begin(write.changes());
                dataset.delete(first.id());
            }
            case BATCH -> batch(store, write.changes());
        }
    }

    private void insert(Dataset dataset, Row row) {
        if (oracle.rows(dataset.name()).containsKey(row.id())) {
            try {
                dataset.insert(row.toMap(dataset.type()));
                throw new AssertionError("a second record with key " + row.id());
            } catch (DuplicateKeyException expected) {
                assertThat(expected.getMessage()).contains(String.valueOf(row.id()));
            }
        } else {
            oracle.begin(List.of(new Change(dataset.name(), row.id(), row)));
            dataset.insert(row.toMap(dataset.type()));
        }
    }

    private void batch(Store store, List<Change> changes) {
        WriteBatch batch = store.newBatch();
        for (Change change : changes) {
            Dataset dataset = store.dataset(change.dataset());
            Row row = change.row();
            if (row == null) {
                batch.delete(dataset, Slice.of(dataset.primaryKeySpec().encode(change.id())));
            } else {
                RecordWriter writer = dataset.newRecordWriter();
                batch.upsert(dataset, writer.write(row.toMap(dataset.type())));
            }
        }
        oracle.begin(changes);
        store.write(batch);
    }

    /** Background work that the seed picks; most times none. */
    public void disturb(Store store) {
        Step step = draw.disturbance();
        if (step != null) {
            disturb(store, step);
        }
    }

    /** Does a flush, a merge or a repair. */
    public static void disturb(Store store, Step step) {
        switch (step) {
            case Step.Flush(String dataset) -> store.dataset(dataset).flush();
            case Step.MergeAll(String dataset) -> store.dataset(dataset).mergeAll();
            case Step.Repair(String dataset) -> repair(store.dataset(dataset));
            default -> throw new IllegalArgumentException("disturbs nothing: " + step);
        }
    }

    private static void repair(Dataset dataset) {
        if (Inside.schema(dataset).indexes().stream()
                .anyMatch(i ->
                        i.isReady() && !i.hasRegion() && i.maintenance() != Maintenance.EAGER)) {
            dataset.repair();
        }
    }

    /**
     * Merges all when nobody reads anything old: then an index holds as many entries as records
     * give, and a deleted-key tree none. Validation leaves that to repair.
     */
    public void checkNoGarbage(Store store) {
        for (int id = 0; id < 12; id++) {
            Row row = row(id);
            oracle.begin(List.of(new Change(INDEXED, row.id(), row)));
            store.dataset(INDEXED).upsert(row.toMap(store.dataset(INDEXED).type()));
        }
        Dataset dataset = store.dataset(INDEXED);
        dataset.flush();
        // what is in one component already is not merged: its garbage is of a snapshot that was
        // open then
        boolean all = Inside.partitions(dataset).stream()
                .allMatch(partition -> partition.components(TreeId.PRIMARY).size() > 1);
        dataset.mergeAll();
        for (IndexSchema index : Inside.schema(dataset).indexes()) {
            if (all
                    && index.maintenance() != Maintenance.VALIDATION
                    && index.maintenance() != Maintenance.AUTO) {
                assertThat(entries(dataset, index.tree()))
                        .as("entries of %s", index)
                        .isEqualTo(entryCount(index, oracle.rows(INDEXED).values()));
            }
            if (all && index.hasDeletedKeyTree()) {
                assertThat(entries(dataset, index.tree().deletedKeyTree())).isZero();
            }
        }
    }

    /** How many entries an index has for rows. */
    public static long entryCount(IndexSchema index, Collection<Row> rows) {
        return rows.stream().mapToLong(row -> entryCount(index, row)).sum();
    }

    private static int entryCount(IndexSchema index, Row row) {
        return switch (index.entryKeys()) {
            case SpatialKeys spatial ->
                (spatial.kind() == SpatialKind.POINT ? row.place() : row.area()) == null ? 0 : 1;
            case TokenKeys _ -> Texts.entryCount(row.body());
            case ElementKeys elements -> entryCount(elements, row);
            default -> 1;
        };
    }

    private static int entryCount(ElementKeys elements, Row row) {
        List<String> tags = row.tags();
        Collection<?> values = !elements.fields().contains("tags[]")
                ? row.scores()
                : tags == null ? List.of() : tags;
        return Set.copyOf(values).size();
    }

    private static long entries(Dataset dataset, TreeId tree) {
        return Inside.partitions(dataset).stream()
                .flatMap(partition -> partition.components(tree).stream())
                .mapToLong(handle -> handle.component().entryCount())
                .sum();
    }

    /** Compares everything there is to read with the oracle. */
    public void check(Store store) {
        check(store, draw.id());
    }

    /** Compares what there is to read with the oracle, and what a get of one key gives. */
    public void check(Store store, long id) {
        check(store, id, Questions.SOME);
    }

    /** The same, asking the indexes everything. */
    void checkAll(Store store, long id) {
        check(store, id, Questions.ALL);
    }

    private void check(Store store, long id, Questions questions) {
        List<Dataset> datasets = List.of(store.dataset(INDEXED), store.dataset(BLIND));
        for (Dataset dataset : datasets) {
            assertThat(SimStore.rows(dataset)).isEqualTo(oracle.rows(dataset.name()));
            try (ReadView view = dataset.openView()) {
                AnswerCheck.run(
                        dataset,
                        Inside.schema(dataset),
                        view,
                        oracle.rows(dataset.name()),
                        entries,
                        questions);
            }
        }
        for (Dataset dataset : datasets) {
            Row expected = oracle.rows(dataset.name()).get(id);
            Map<String, @Nullable Object> found = dataset.get(id);
            assertThat(found == null ? null : Row.of(found)).isEqualTo(expected);
        }
    }

    /** A view and what it must show for ever, and a cursor that walks over it for as long. */
    record Held(
            ReadView view,
            Dataset dataset,
            DatasetSchema schema,
            NavigableMap<Long, Row> rows,
            RowEntries entries,
            ViewWalk walk)
            implements AutoCloseable {
        public void check() {
            assertThat(SimStore.rows(dataset, view)).isEqualTo(rows);
            BatchCheck.run(dataset, view, rows);
            AnswerCheck.run(dataset, schema, view, rows, entries, Questions.SOME);
            wander();
        }

        void wander() {
            walk.checkStillThere();
            walk.go(60);
        }

        @Override
        public void close() {
            walk.close();
            view.close();
        }
    }

    Held hold(Store store, Step.Hold hold) {
        Dataset dataset = store.dataset(hold.dataset());
        NavigableMap<Long, Row> rows = new TreeMap<>(oracle.rows(dataset.name()));
        ReadView view = dataset.openView();
        ViewWalk walk =
                ViewWalk.open(dataset, view, rows.values(), new SplittableRandom(hold.seed()));
        walk.go(20);
        return new Held(view, dataset, Inside.schema(dataset), rows, entries, walk);
    }
}
