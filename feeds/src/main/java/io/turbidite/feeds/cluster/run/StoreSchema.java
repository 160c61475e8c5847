package io.turbidite.feeds.cluster.run;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageException;
import io.turbidite.core.StoreFailedException;
import io.turbidite.core.catalog.Catalog;
import io.turbidite.core.catalog.DatasetDefinition;
import io.turbidite.core.catalog.IndexDefinition;
import io.turbidite.core.file.Disk;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordStream;
import io.turbidite.core.scan.Source;
import io.turbidite.core.type.Field;
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
 * what it names. A change that was not prepared here is noted before too, and made anew where the
 * process ends meanwhile. A drop that was done may be done once more: then there is nothing.
 *
 * <p>What the cluster did not make here is not touched: a drop is for a dataset of which the node
 * owns partitions by the map before, and which is defined as that. A dataset that was noted and has
 * records is not what was made unseen. Both stay, and are told.
 *
 * <p>A node's dataset has as many partitions as the node owns; one of which it owns none is not
 * created there.
 */
public final class StoreSchema implements NodeSchema {
    private static final System.Logger LOG = System.getLogger(StoreSchema.class.getName());

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
    public long chain() {
        return state.chain();
    }

    @Override
    public void checkFits(List<Entry> missing) {
        List<String> foreign = new ArrayList<>();
        for (Entry entry : missing) {
            if (entry.change() instanceof DatasetCreated created
                    && has(created.definition().name())) {
                foreign.add(
                        "'%s' (change %d)".formatted(created.definition().name(), entry.number()));
            }
        }
        if (!foreign.isEmpty()) {
            throw new InvalidRequestException(
                    ("the store of node '%s' has datasets that the cluster creates, and no note that"
                                    + " the cluster made them here: %s. The last change that its"
                                    + " note (cluster/APPLIED) tells of is %d: if the note was lost"
                                    + " or is an old one, put back the one that belongs to the"
                                    + " store, or start the node with an empty store; if the"
                                    + " datasets are your own, move them away first")
                            .formatted(node, String.join(", ", foreign), state.number()));
        }
    }

    @Override
    public @Nullable String prepare(Entry entry, ClusterMap before) {
        if (entry.number() != state.number() + 1) {
            return "its store has change %d, and %d does not follow on it"
                    .formatted(state.number(), entry.number());
        }
        if (entry.change() instanceof PartitionMoved) {
            return "partitions can't be moved yet";
        }
        try {
            discard(); // what could not be undone before
            String foreign = foreign(entry.change(), before);
            if (foreign != null) {
                return foreign;
            }
            make(entry.change(), before);
        } catch (StoreFailedException e) {
            throw e;
        } catch (StorageException e) {
            return Objects.requireNonNullElse(e.getMessage(), e.toString()) + undone();
        }
        prepared = entry;
        return null;
    }

    /** Undoes what has failed; what is left then is noted, and undone before the next change. */
    private String undone() {
        try {
            discard();
            return "";
        } catch (StoreFailedException e) {
            throw e;
        } catch (StorageException e) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "node '%s' could not undo what it prepared; it tries once more later"
                            .formatted(node),
                    e);
            return "; and it could not be undone yet: " + e.getMessage();
        }
    }

    @Override
    public void discard() {
        prepared = null;
        Thing left = state.prepared();
        if (left != null) {
            if (left.index().isEmpty() && hasRecords(left.dataset())) {
                tellLeft(left, "it was to be prepared unseen, and has records");
            } else {
                drop(left);
            }
            note(state.with(null));
        }
    }

    @Override
    public void apply(Entry entry, ClusterMap before) {
        if (entry.number() != state.number() + 1) {
            throw new IllegalStateException("node '%s' has change %d, and is to apply %d"
                    .formatted(node, state.number(), entry.number()));
        }
        if (!entry.equals(prepared)) {
            discard();
            checkFits(List.of(entry));
            make(entry.change(), before);
        }
        unmake(entry.change(), before);
        note(new State(entry.number(), entry.chain(), null));
        prepared = null;
    }

    private void note(State next) {
        if (next.prepared() != null) {
            state = next; // a write that fails may have left it
        }
        file.write(next);
        state = next;
    }

    // ---- the store ------------------------------------------------------------------------------

    /** What a change creates in this store; null: nothing. */
    private @Nullable Thing made(Change change, ClusterMap before) {
        return switch (change) {
            case DatasetCreated created ->
                owned(created).isEmpty() ? null : new Thing(created.definition().name(), "");
            case IndexCreated created ->
                isOurs(created.dataset(), before)
                        ? new Thing(created.dataset(), created.index().name())
                        : null;
            case NodeAdded _, DatasetDropped _, IndexDropped _, PartitionMoved _ -> null;
        };
    }

    private List<Integer> owned(DatasetCreated created) {
        return created.placement().getOrDefault(node, List.of());
    }

    private int owned(@Nullable PlacedDataset placed) {
        return placed == null
                ? 0
                : (int) placed.owners().stream().filter(node::equals).count();
    }

    private @Nullable Source source(String dataset) {
        return store.datasets().stream()
                .filter(one -> one.name().equals(dataset))
                .findFirst()
                .orElse(null);
    }

    private boolean has(String dataset) {
        return source(dataset) != null;
    }

    private boolean hasRecords(String dataset) {
        Source source = source(dataset);
        if (source == null) {
            return false;
        }
        try (ReadView view = source.openView()) {
            for (int i = 0; i < view.partitionCount(); i++) {
                try (RecordStream records =
                        view.scanUnordered(i, KeyRange.all(), FilterPredicate.none())) {
                    if (records.next()) {
                        return true;
                    }
                }
            }
        }
        return false;
    }

    /** Whether the store has it, and it is what the map places here. */
    private boolean isOurs(String dataset, ClusterMap map) {
        PlacedDataset placed = map.datasets().get(dataset);
        if (placed == null || owned(placed) == 0 || !has(dataset)) {
            return false;
        }
        DatasetDefinition is = store.describe(dataset);
        DatasetDefinition wanted = placed.definition();
        return is.partitions() == owned(placed)
                && is.primaryKey().equals(wanted.primaryKey())
                && is.filterFields().equals(wanted.filterFields())
                && fields(is).equals(fields(wanted));
    }

    private static List<String> fields(DatasetDefinition definition) {
        List<String> fields = new ArrayList<>();
        for (Field field : definition.type().declared()) {
            fields.add(field.name() + " " + field.typeLabel());
        }
        return fields;
    }

    private @Nullable IndexDefinition index(String dataset, String index) {
        return !has(dataset)
                ? null
                : store.describe(dataset).indexes().stream()
                        .filter(one -> one.name().equals(index))
                        .findFirst()
                        .orElse(null);
    }

    /** What of a change's name is in the store, and not by the cluster; null: nothing. */
    private @Nullable String foreign(Change change, ClusterMap before) {
        return switch (change) {
            case DatasetCreated created ->
                there(
                        has(created.definition().name()),
                        new Thing(created.definition().name(), ""));
            case IndexCreated created -> {
                Thing dataset = new Thing(created.dataset(), "");
                yield has(created.dataset()) && !isOurs(created.dataset(), before)
                        ? there(true, dataset)
                        : there(
                                index(created.dataset(), created.index().name()) != null,
                                new Thing(created.dataset(), created.index().name()));
            }
            case DatasetDropped dropped -> foreign(dropped.dataset(), before);
            case IndexDropped dropped -> foreign(dropped.dataset(), before);
            case NodeAdded _, PartitionMoved _ -> null;
        };
    }

    private @Nullable String foreign(String dataset, ClusterMap before) {
        return there(has(dataset) && !isOurs(dataset, before), new Thing(dataset, ""));
    }

    private static @Nullable String there(boolean isThere, Thing thing) {
        return isThere
                ? "its store has %s already, which no change of the cluster has created"
                        .formatted(words(thing))
                : null;
    }

    private void tellLeft(Thing thing, String why) {
        LOG.log(
                System.Logger.Level.WARNING,
                "{0} of node ''{1}'' stays: {2}",
                words(thing),
                node,
                why);
    }

    private static String words(Thing thing) {
        return thing.index().isEmpty()
                ? "dataset '%s'".formatted(thing.dataset())
                : "index '%s' of dataset '%s'".formatted(thing.index(), thing.dataset());
    }

    /** Notes what a change creates, and creates it. */
    private void make(Change change, ClusterMap before) {
        Thing made = made(change, before);
        if (made == null) {
            if (change instanceof PartitionMoved) {
                throw new InvalidRequestException(
                        "node '%s' can't %s: partitions can't be moved yet"
                                .formatted(node, change.describe()));
            }
            return;
        }
        note(state.with(made));
        if (change instanceof DatasetCreated created) {
            store.createDataset(here(created));
        } else if (change instanceof IndexCreated created) {
            // one that is there is no change's: a process before has noted its own, and dropped it
            drop(made);
            store.createIndex(made.dataset(), created.index());
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

    private void unmake(Change change, ClusterMap before) {
        if (change instanceof DatasetDropped dropped) {
            dropOurs(new Thing(dropped.dataset(), ""), before);
        } else if (change instanceof IndexDropped dropped) {
            dropOurs(new Thing(dropped.dataset(), dropped.index()), before);
        }
    }

    private void dropOurs(Thing thing, ClusterMap before) {
        if (isOurs(thing.dataset(), before)) {
            drop(thing);
        } else if (has(thing.dataset())) {
            tellLeft(thing, "a change drops it, and the cluster did not make its dataset here");
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
        Set<String> names = new TreeSet<>(map.datasets().keySet());
        store.datasets().stream()
                .map(one -> one.name())
                .filter(name -> !name.startsWith("_"))
                .forEach(names::add);
        check(map, names);
    }

    /**
     * As {@link #check}, of the cluster's datasets alone: a person's own are let be.
     *
     * @throws InvalidRequestException saying what differs
     */
    public void checkHas(ClusterMap map) {
        check(map, map.datasets().keySet());
    }

    private void check(ClusterMap map, Set<String> names) {
        List<String> differences = new ArrayList<>();
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
        int owned = owned(placed);
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
        DatasetDefinition wanted = placed.definition();
        if (is.partitions() != owned) {
            differences.add("dataset '%s' has %d partitions, and the node owns %d"
                    .formatted(name, is.partitions(), owned));
        }
        compare(name, "fields", fields(is), fields(wanted), differences);
        compare(name, "primary key", is.primaryKey(), wanted.primaryKey(), differences);
        compare(name, "filter fields", is.filterFields(), wanted.filterFields(), differences);
        compare(name, "indexes", indexes(is), indexes(wanted), differences);
    }

    private static void compare(
            String name, String what, Object is, Object wanted, List<String> differences) {
        if (!is.equals(wanted)) {
            differences.add("dataset '%s' has the %s %s, and should have %s"
                    .formatted(name, what, is, wanted));
        }
    }

    /** What each index is on, without what is worked out of options. */
    private static Set<String> indexes(DatasetDefinition definition) {
        Set<String> indexes = new TreeSet<>();
        definition
                .indexes()
                .forEach(index -> indexes.add("%s (%s on %s)"
                        .formatted(index.name(), index.kind(), String.join(", ", index.fields()))));
        return indexes;
    }
}
