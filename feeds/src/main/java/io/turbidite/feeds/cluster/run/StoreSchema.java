package io.turbidite.feeds.cluster.run;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.catalog.Catalog;
import io.turbidite.core.catalog.DatasetDefinition;
import io.turbidite.core.catalog.IndexDefinition;
import io.turbidite.core.file.Disk;
import io.turbidite.feeds.cluster.agree.NodeSchema;
import io.turbidite.feeds.cluster.change.Change;
import io.turbidite.feeds.cluster.change.Change.DatasetCreated;
import io.turbidite.feeds.cluster.change.Change.DatasetDropped;
import io.turbidite.feeds.cluster.change.Change.IndexCreated;
import io.turbidite.feeds.cluster.change.Change.IndexDropped;
import io.turbidite.feeds.cluster.change.Change.NodeAdded;
import io.turbidite.feeds.cluster.change.Change.PartitionMoved;
import io.turbidite.feeds.cluster.change.ClusterMap;
import io.turbidite.feeds.cluster.change.ClusterMap.PlacedDataset;
import io.turbidite.feeds.cluster.change.Entry;
import io.turbidite.feeds.cluster.run.AppliedFile.State;
import io.turbidite.feeds.cluster.run.AppliedFile.Thing;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;

/**
 * The store of a node, as changes meet it. <em>Confined to one thread at a time.</em>
 *
 * <p>What a change creates is there once it is prepared, and nobody sees it: the map of the cluster
 * does not name it. Before, a note of it is written durably; an opening that finds the note drops
 * what it names. A change that was not prepared here is applied so that doing it once more does no
 * harm: a process that ends between the store's work and the note of it begins with that change.
 *
 * <p>A node's dataset has as many partitions as the node owns; one of which it owns none is not
 * created there.
 */
public final class StoreSchema implements NodeSchema {
    private final AppliedFile file;
    private final String node;
    private final Catalog store;
    private State state;

    /** That is in the store, and not shown; null: nothing is. */
    private @Nullable Entry prepared;

    private StoreSchema(AppliedFile file, String node, Catalog store, State state) {
        this.file = file;
        this.node = node;
        this.store = store;
        this.state = state;
    }

    /**
     * Opens it, and drops what was prepared when it was open before.
     *
     * @param name of the file that tells what was applied, in a directory that is there
     * @param node whose store it is
     * @param store changed by nobody else
     * @throws io.turbidite.core.CorruptionException if the file is damaged, or another cluster's
     */
    public static StoreSchema open(
            Disk disk, String name, long clusterId, String node, Catalog store) {
        AppliedFile file = new AppliedFile(disk, name, clusterId);
        StoreSchema schema = new StoreSchema(file, node, store, file.read());
        schema.discard();
        return schema;
    }

    @Override
    public long applied() {
        return state.number();
    }

    @Override
    public @Nullable String prepare(Entry entry) {
        Change change = entry.change();
        if (change instanceof PartitionMoved) {
            return "partitions can't be moved yet";
        }
        Thing made = made(change);
        if (made != null) {
            String there = there(made);
            if (there != null) {
                return there;
            }
            note(new State(state.number(), made));
            try {
                make(change);
            } catch (InvalidRequestException | StorageIoException e) {
                discard();
                return Objects.requireNonNullElse(e.getMessage(), e.toString());
            }
        }
        prepared = entry;
        return null;
    }

    @Override
    public void discard() {
        prepared = null;
        Thing left = state.prepared();
        if (left != null) {
            drop(left);
            note(new State(state.number(), null));
        }
    }

    @Override
    public void apply(Entry entry) {
        if (entry.number() != state.number() + 1) {
            throw new IllegalStateException("node '%s' has change %d, and is to apply %d"
                    .formatted(node, state.number(), entry.number()));
        }
        if (!entry.equals(prepared)) {
            discard();
            make(entry.change());
        }
        unmake(entry.change());
        note(new State(entry.number(), null));
        prepared = null;
    }

    private void note(State next) {
        file.write(next);
        state = next;
    }

    // ---- the store ------------------------------------------------------------------------------

    /** What a change creates in this store; null: nothing. */
    private @Nullable Thing made(Change change) {
        return switch (change) {
            case DatasetCreated created ->
                owned(created).isEmpty() ? null : new Thing(created.definition().name(), "");
            case IndexCreated created ->
                has(created.dataset())
                        ? new Thing(created.dataset(), created.index().name())
                        : null;
            case NodeAdded _, DatasetDropped _, IndexDropped _, PartitionMoved _ -> null;
        };
    }

    private List<Integer> owned(DatasetCreated created) {
        return created.placement().getOrDefault(node, List.of());
    }

    private boolean has(String dataset) {
        return store.datasets().stream().anyMatch(one -> one.name().equals(dataset));
    }

    private @Nullable IndexDefinition index(String dataset, String index) {
        return !has(dataset)
                ? null
                : store.describe(dataset).indexes().stream()
                        .filter(one -> one.name().equals(index))
                        .findFirst()
                        .orElse(null);
    }

    private @Nullable String there(Thing thing) {
        boolean isThere = thing.index().isEmpty()
                ? has(thing.dataset())
                : index(thing.dataset(), thing.index()) != null;
        return isThere
                ? "its store has %s already, which no change of the cluster has created"
                        .formatted(words(thing))
                : null;
    }

    private static String words(Thing thing) {
        return thing.index().isEmpty()
                ? "dataset '%s'".formatted(thing.dataset())
                : "index '%s' of dataset '%s'".formatted(thing.index(), thing.dataset());
    }

    /** Creates what a change creates, unless it is there. */
    private void make(Change change) {
        Thing made = made(change);
        if (made == null) {
            if (change instanceof PartitionMoved) {
                throw new InvalidRequestException(
                        "node '%s' can't %s: partitions can't be moved yet"
                                .formatted(node, change.describe()));
            }
            return;
        }
        if (change instanceof DatasetCreated created) {
            DatasetDefinition wanted = here(created);
            if (!has(made.dataset())) {
                store.createDataset(wanted);
            }
        } else if (change instanceof IndexCreated created) {
            IndexDefinition there = index(made.dataset(), made.index());
            if (there != null && !there.state().equals(IndexDefinition.READY)) {
                store.dropIndex(made.dataset(), made.index());
                there = null;
            }
            if (there == null) {
                store.createIndex(made.dataset(), created.index());
            }
        }
    }

    private DatasetDefinition here(DatasetCreated created) {
        DatasetDefinition whole = created.definition();
        return new DatasetDefinition(
                whole.name(),
                whole.type(),
                whole.primaryKey(),
                whole.filterFields(),
                owned(created).size(),
                whole.options(),
                whole.indexes());
    }

    private void unmake(Change change) {
        if (change instanceof DatasetDropped dropped) {
            drop(new Thing(dropped.dataset(), ""));
        } else if (change instanceof IndexDropped dropped) {
            drop(new Thing(dropped.dataset(), dropped.index()));
        }
    }

    private void drop(Thing thing) {
        if (thing.index().isEmpty()) {
            if (has(thing.dataset())) {
                store.dropDataset(thing.dataset());
            }
        } else if (index(thing.dataset(), thing.index()) != null) {
            store.dropIndex(thing.dataset(), thing.index());
        }
    }

    /**
     * Compares the store with the map as of the last change that was applied. Both are changed by
     * changes alone, so what differs was changed beside them, or is an old copy.
     *
     * @throws InvalidRequestException saying what differs
     */
    public void check(ClusterMap map) {
        List<String> differences = new ArrayList<>();
        Set<String> names = new TreeSet<>(map.datasets().keySet());
        store.datasets().stream()
                .map(one -> one.name())
                .filter(name -> !name.startsWith("_"))
                .forEach(names::add);
        for (String name : names) {
            compare(name, map.datasets().get(name), differences);
        }
        if (!differences.isEmpty()) {
            throw new InvalidRequestException(
                    "the store of node '%s' is not what change %d of the cluster says: %s"
                            .formatted(node, state.number(), String.join("; ", differences)));
        }
    }

    private void compare(String name, @Nullable PlacedDataset placed, List<String> differences) {
        int owned = placed == null
                ? 0
                : (int) placed.owners().stream().filter(node::equals).count();
        if (!has(name)) {
            if (owned > 0) {
                differences.add("it lacks dataset '%s'".formatted(name));
            }
            return;
        }
        if (placed == null || owned == 0) {
            differences.add("it has dataset '%s', which should not be here".formatted(name));
            return;
        }
        DatasetDefinition is = store.describe(name);
        if (is.partitions() != owned) {
            differences.add("dataset '%s' has %d partitions, and the node owns %d"
                    .formatted(name, is.partitions(), owned));
        }
        Set<String> wanted = indexes(placed.definition());
        Set<String> found = indexes(is);
        if (!wanted.equals(found)) {
            differences.add("dataset '%s' has the indexes %s, and should have %s"
                    .formatted(name, found, wanted));
        }
    }

    private static Set<String> indexes(DatasetDefinition definition) {
        Set<String> names = new TreeSet<>();
        definition.indexes().forEach(index -> names.add(index.name()));
        return names;
    }
}
