package io.turbidite.lsm.harness;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.StorageException;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.IndexBuild;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Inside;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.schema.Maintenance;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;

/**
 * Random changes of schema beside a {@link Workload}: indexes are created, dropped, disabled and
 * enabled, some of them in the background, and a dataset of its own comes and goes. Knows which
 * schemas may be found after a crash: the last one acknowledged, or the one that is being made of
 * it.
 */
public final class SchemaWorkload {
    static final String PASSING = "Passing";

    private static final List<IndexSpec> SPECS = List.of(
            IndexSpec.btree("by_body", "body"),
            IndexSpec.btree("by_created", "created", "id"),
            IndexSpec.btree("by_score_only", "score"),
            IndexSpec.rtree("places", "place"),
            IndexSpec.inverted("by_new_word", "body"),
            IndexSpec.btree("once", "id", "body").asUnique().withMaintenance(Maintenance.EAGER));

    private SplittableRandom random;
    private Set<String> acknowledged = Set.of();
    private @Nullable Set<String> coming;
    private @Nullable IndexBuild build;
    private int changeCount;

    public SchemaWorkload(long seed) {
        this.random = new SplittableRandom(seed);
    }

    /** Takes what is there for acknowledged; after opening. */
    public void begin(Store store) {
        acknowledged = schemaOf(store);
        coming = null;
        build = null;
    }

    public int changeCount() {
        return changeCount;
    }

    /** What the manifest knows of datasets and indexes. */
    static Set<String> schemaOf(Store store) {
        Set<String> schema = new TreeSet<>();
        for (Dataset dataset : store.datasets()) {
            schema.add(dataset.name());
            for (IndexSchema index : Inside.schema(dataset).catalog().all()) {
                if (index.state() != IndexSchema.State.BUILDING) {
                    schema.add(dataset.name() + "." + index.name() + ":"
                            + index.state().label());
                }
            }
        }
        return schema;
    }

    /**
     * Checks what a crash has left. An index whose region could not be opened is disabled until it
     * was built anew, which is waited for.
     */
    public void checkRecovered(Store store) {
        for (Dataset dataset : store.datasets()) {
            for (IndexSchema index : Inside.schema(dataset).catalog().all()) {
                String ready = dataset.name() + "." + index.name() + ":ready";
                if (index.hasRegion() && acknowledged.contains(ready)) {
                    store.environment().tasks().await(() -> isComeBack(dataset, index.name()));
                }
            }
        }
        Set<String> found = schemaOf(store);
        Set<String> next = coming;
        if (next == null || !found.equals(next)) {
            assertThat(found).as("after a crash; %s was coming", next).isEqualTo(acknowledged);
        }
    }

    /** Whether an index is ready, or the change that was coming has disabled or dropped it. */
    private boolean isComeBack(Dataset dataset, String index) {
        Set<String> next = coming;
        String ready = dataset.name() + "." + index + ":ready";
        IndexSchema now = Inside.schema(dataset).catalog().find(index);
        return now == null || now.isReady() || (next != null && !next.contains(ready));
    }

    /** Perhaps starts or ends a change, which the seed picks among those that are possible now. */
    public void change(Store store, long seed) {
        random = new SplittableRandom(seed);
        change(store);
    }

    /** Perhaps starts or ends a change. */
    public void change(Store store) {
        IndexBuild running = build;
        if (running != null) {
            if (running.isDone() || random.nextInt(20) == 0) {
                finish(running, random.nextInt(4) == 0);
            }
            return;
        }
        if (random.nextInt(8) == 0) {
            passing(store);
            return;
        }
        Dataset dataset = store.dataset(random.nextInt(3) == 0 ? Workload.BLIND : Workload.INDEXED);
        List<IndexSchema> all = Inside.schema(dataset).catalog().all();
        int dice = random.nextInt(10);
        if (all.isEmpty() || dice < 4) {
            boolean marks = Inside.schema(dataset).maintenance() == Maintenance.MUTABLE_BITMAP;
            // the last one is eager, which does not go with marks
            create(dataset, SPECS.get(random.nextInt(SPECS.size() - (marks ? 1 : 0))));
            return;
        }
        IndexSchema index = all.get(random.nextInt(all.size()));
        if (index.state() == IndexSchema.State.DISABLED) {
            if (dice < 8) {
                begun(dataset, index.name(), dataset.startEnableIndex(index.name()));
            } else {
                drop(dataset, index);
            }
        } else if (dice < 7) {
            Set<String> next = without(dataset, index.name());
            next.add(dataset.name() + "." + index.name() + ":disabled");
            run(next, () -> dataset.disableIndex(index.name()));
        } else {
            drop(dataset, index);
        }
    }

    private void create(Dataset dataset, IndexSpec spec) {
        if (Inside.schema(dataset).catalog().find(spec.name()) == null) {
            // what a crash may show from now on, before the build has shown itself
            coming = with(dataset, spec.name());
            begun(dataset, spec.name(), dataset.startIndex(spec));
        }
    }

    private void begun(Dataset dataset, String index, IndexBuild started) {
        coming = with(dataset, index);
        build = started;
        if (random.nextBoolean()) {
            finish(started, false);
        }
    }

    private void finish(IndexBuild running, boolean stop) {
        if (stop) {
            running.stop();
        }
        boolean ready;
        try {
            running.await();
            ready = true;
        } catch (StorageException stopped) {
            ready = false;
        }
        acknowledged = ready && coming != null ? coming : acknowledged;
        coming = null;
        build = null;
        changeCount++;
    }

    private void drop(Dataset dataset, IndexSchema index) {
        run(without(dataset, index.name()), () -> dataset.dropIndex(index.name()));
    }

    private void run(Set<String> next, Runnable change) {
        coming = next;
        change.run();
        acknowledged = next;
        coming = null;
        changeCount++;
    }

    private void passing(Store store) {
        Dataset there = store.findDataset(PASSING);
        Set<String> next = new TreeSet<>(acknowledged);
        if (there != null) {
            next.removeIf(name -> name.startsWith(PASSING));
            run(next, () -> store.dropDataset(PASSING));
            return;
        }
        List<String> more = new ArrayList<>(List.of(PASSING));
        more.add(PASSING + ".by_user:ready");
        more.add(PASSING + ".by_score:ready");
        next.addAll(more);
        run(next, () -> store.createDataset(Row.spec(PASSING)));
        for (long id = 0; id < 5; id++) {
            store.dataset(PASSING).upsert(new Row(id, "u", 1, null, "passing").toMap());
        }
        if (random.nextBoolean()) {
            store.dataset(PASSING).flush();
        }
    }

    private Set<String> with(Dataset dataset, String index) {
        Set<String> next = without(dataset, index);
        next.add(dataset.name() + "." + index + ":ready");
        return next;
    }

    private Set<String> without(Dataset dataset, String index) {
        Set<String> next = new TreeSet<>(acknowledged);
        next.removeIf(name -> name.startsWith(dataset.name() + "." + index + ":"));
        return next;
    }

    /** Comes to the end of what is under way. */
    public void settle() {
        IndexBuild running = build;
        if (running != null) {
            finish(running, false);
        }
    }
}
