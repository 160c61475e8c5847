package io.turbidite.lsm.partition;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageException;
import io.turbidite.core.meter.Counter;
import io.turbidite.lsm.component.ComponentDamage;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.lsm.schema.TreeId;
import io.turbidite.lsm.version.ComponentHandle;
import io.turbidite.lsm.version.ManifestState;
import io.turbidite.lsm.version.Version;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/**
 * Sets damaged components aside (D5): from then on they are neither read nor merged nor dropped,
 * and all else goes on. What was damaged at opening is found again at each opening; what a merge
 * finds is noted in the manifest, because an opening reads no leaf page.
 *
 * <p><em>Thread-safe.</em> No lock is held over I/O.
 */
public final class Quarantine {
    /** What is kept of a cause. */
    private static final int CAUSE_LENGTH_MAX = 1_000;

    private final Consumer<UnaryOperator<ManifestState>> edit;
    private final Counter setAsideCount;
    private final EngineEvents events;
    private final StoreAccount account;

    /** Where components are looked for; set while the store opens. */
    private Collection<? extends Member> members = List.of();

    /** A partition. */
    public interface Member {
        int number();

        /** Pins the version of now; null if the dataset was dropped. */
        @Nullable
        Version pinUnlessDropped();
    }

    /**
     * Found while the store opens; they are read as far as they can be until the log is replayed.
     */
    private final List<Opened> opened = new ArrayList<>();

    private record Opened(Place place, ComponentHandle handle, ComponentDamage damage) {}

    /** Each is told of once. */
    private final Set<String> metFiles = ConcurrentHashMap.newKeySet();

    private final Set<Long> suspects = ConcurrentHashMap.newKeySet();

    private volatile Runnable onMet = () -> {};

    /** Set aside, but no manifest says so yet. */
    private final Queue<Note> unnoted = new ConcurrentLinkedQueue<>();

    private record Note(Place place, long fileId, String cause, boolean isUntold) {}

    /** Files of components that no manifest may call untold yet. */
    private final Set<Long> untold = ConcurrentHashMap.newKeySet();

    /** Where a component is. */
    record Place(DatasetSchema schema, int partition, TreeId tree) {
        ComponentDamage damage(String cause) {
            return new ComponentDamage(
                    "index %s of %s, partition %d"
                            .formatted(schema.treeName(tree), schema.name(), partition),
                    cause.substring(0, Math.min(cause.length(), CAUSE_LENGTH_MAX)),
                    tree.isPrimary()
                            ? "restore it from a backup that has the file"
                            : "rebuild the index");
        }
    }

    /**
     * A quarantine of nothing.
     *
     * @param edit changes the manifest
     * @param setAsideCount counts what is set aside
     */
    Quarantine(
            Consumer<UnaryOperator<ManifestState>> edit,
            Counter setAsideCount,
            EngineEvents events,
            StoreAccount account) {
        this.edit = edit;
        this.setAsideCount = setAsideCount;
        this.events = events;
        this.account = account;
    }

    /** Completes it: where components are looked for, as they come and go. */
    void lookIn(Collection<? extends Member> partitions) {
        members = partitions;
    }

    /** A component was opened that is damaged, or was when the store was open last. */
    void opened(Place place, ComponentHandle handle, ComponentDamage damage) {
        opened.add(new Opened(place, handle, damage));
    }

    /** Sets aside what was found while the store opened: the log is replayed. */
    public void enforce() {
        for (Opened found : opened) {
            setAside(found.place, found.handle, found.damage);
        }
        opened.clear();
    }

    /**
     * Sets aside the component that a merge has found damaged; {@link #note} makes it last.
     *
     * @return false if the file is no component's that is in use, or of one that is set aside
     *     already
     */
    public boolean take(CorruptionException found) {
        for (Member partition : members) {
            Version pinned = partition.pinUnlessDropped();
            if (pinned == null) {
                continue;
            }
            try {
                for (TreeId tree : pinned.schema().treeIds()) {
                    ComponentHandle handle = find(pinned.tree(tree), found.file());
                    if (handle != null) {
                        Place place = new Place(pinned.schema(), partition.number(), tree);
                        return take(place, handle, String.valueOf(found.getMessage()));
                    }
                }
            } finally {
                pinned.unpin();
            }
        }
        return false;
    }

    /**
     * Sets aside a component that every byte is looked at of, now, if one is damaged: no merge may
     * come to it for long. It lasts when this returns.
     *
     * @param file its name in the store
     * @return what is wrong with it
     * @throws InvalidRequestException if the file is whole, or no component's that is in use,
     *     or is set aside already
     */
    public CorruptionException takeDamaged(String file) {
        for (Member partition : members) {
            Version pinned = partition.pinUnlessDropped();
            if (pinned == null) {
                continue;
            }
            try {
                for (TreeId tree : pinned.schema().treeIds()) {
                    ComponentHandle handle = find(pinned.tree(tree), file);
                    if (handle != null) {
                        Place place = new Place(pinned.schema(), partition.number(), tree);
                        CorruptionException damage = damageOf(place, handle);
                        take(damage); // unless a merge has been faster
                        note();
                        return damage;
                    }
                }
            } finally {
                pinned.unpin();
            }
        }
        throw new InvalidRequestException(
                "no component that is in use has the file %s: inspect lists those that are"
                        .formatted(file));
    }

    private static CorruptionException damageOf(Place place, ComponentHandle handle) {
        ComponentDamage known = handle.component().damage();
        if (known != null) {
            throw new InvalidRequestException("%s (%s) is in quarantine already: %s"
                    .formatted(handle.component().name(), known.whose(), known.cause()));
        }
        List<CorruptionException> found = new ArrayList<>();
        handle.component().verify(found::add);
        if (found.isEmpty()) {
            throw new InvalidRequestException("%s (%s) is whole: every checksum of it is right"
                    .formatted(handle.component().name(), place.damage("").whose()));
        }
        return found.getFirst();
    }

    /**
     * Sets aside what the log supersedes entries of, but could not be told which: components of the
     * primary that can't be read, and all of each eager index of the partition. An entry that did
     * not change lies in the component that had it first, and what is older than the unread one was
     * hidden from replay as well: any of them may lack anti-matter. {@link #note} must come before
     * the log lets go.
     *
     * @param files of components of the primary
     */
    public void takeUnreplayed(Member partition, Set<String> files) {
        takeUnmarked(partition, files);
        Version pinned = partition.pinUnlessDropped();
        if (pinned == null) {
            return;
        }
        try {
            for (IndexSchema index : pinned.schema().indexes()) {
                if (index.maintenance() == Maintenance.EAGER) {
                    Place place = new Place(pinned.schema(), partition.number(), index.tree());
                    String cause =
                            "the log supersedes entries of its index; which ones, %s would tell, which can't be read"
                                    .formatted(files);
                    pinned.tree(index.tree()).forEach(handle -> takeUntold(place, handle, cause));
                }
            }
        } finally {
            pinned.unpin();
        }
    }

    /**
     * Sets aside components of the primary whose entries the log supersedes, and whose bitmaps
     * could not be told of it so that it lasts. {@link #note} must come before the log lets go.
     *
     * @param files of components of the primary
     */
    public void takeUnmarked(Member partition, Set<String> files) {
        Version pinned = partition.pinUnlessDropped();
        if (pinned == null) {
            return;
        }
        try {
            Place place = new Place(pinned.schema(), partition.number(), TreeId.PRIMARY);
            for (ComponentHandle handle : pinned.tree(TreeId.PRIMARY)) {
                if (files.contains(handle.component().name())) {
                    takeUntold(
                            place,
                            handle,
                            "the log supersedes records of it, and it can't be read");
                }
            }
        } finally {
            pinned.unpin();
        }
    }

    /** What is set aside already, for its file, gets the note too: its file may come back. */
    private void takeUntold(Place place, ComponentHandle handle, String cause) {
        long fileId = handle.state().fileId();
        if (!isUntold(handle)) {
            untold.add(fileId);
            if (!handle.isQuarantined()) {
                setAside(place, handle, place.damage(cause));
            }
            unnoted.add(new Note(place, fileId, place.damage(cause).cause(), true));
        }
    }

    /** Whether replay could not tell what the log supersedes of a component. */
    public boolean isUntold(ComponentHandle handle) {
        return handle.state().isUntold() || untold.contains(handle.state().fileId());
    }

    private boolean take(Place place, ComponentHandle handle, String cause) {
        if (handle.isQuarantined()) {
            return false;
        }
        ComponentDamage damage = place.damage(cause);
        setAside(place, handle, damage);
        unnoted.add(new Note(place, handle.state().fileId(), damage.cause(), false));
        return true;
    }

    /**
     * Notes in the manifest what was taken. What can't be noted stays to be noted.
     *
     * @throws StorageException if the manifest can't be written
     */
    public void note() {
        List<Note> notes = List.copyOf(unnoted);
        if (!notes.isEmpty()) {
            edit.accept(state -> stateAfter(state, notes));
            unnoted.removeAll(notes);
        }
    }

    /**
     * What is not there was dropped or merged meanwhile, or belongs to an index that is being
     * built.
     */
    private static ManifestState stateAfter(ManifestState before, List<Note> notes) {
        ManifestState state = before;
        for (Note note : notes) {
            int dataset = note.place.schema.id();
            if (state.find(dataset) != null) {
                int number = note.place.partition;
                state = state.withPartition(
                        dataset,
                        number,
                        state.partition(dataset, number)
                                .withComponent(
                                        note.place.tree,
                                        note.fileId,
                                        component -> note.isUntold
                                                ? component.withUntold(note.cause)
                                                : component.withQuarantine(note.cause)));
            }
        }
        return state;
    }

    /**
     * A reader has met damage. What else of the component can be read a merge tells: it makes a new
     * one, or sets it aside. So damage that only readers meet, in a key tree say, does not stay;
     * and it is told though it may be gone before anybody looks.
     */
    public void met(CorruptionException found) {
        if (!metFiles.add(found.file())) {
            return;
        }
        for (Member partition : members) {
            Version pinned = partition.pinUnlessDropped();
            if (pinned == null) {
                continue;
            }
            try {
                for (TreeId tree : pinned.schema().treeIds()) {
                    ComponentHandle handle = find(pinned.tree(tree), found.file());
                    if (handle != null && !handle.isQuarantined()) {
                        events.damageMet(
                                pinned.schema(),
                                partition.number(),
                                tree,
                                handle.state(),
                                String.valueOf(found.getMessage()));
                        suspects.add(handle.state().fileId());
                        onMet.run();
                    }
                }
            } finally {
                pinned.unpin();
            }
        }
    }

    /**
     * Has something told when a reader has met damage in a component.
     *
     * @param told called by the reader; must be cheap
     */
    public void whenMet(Runnable told) {
        onMet = told;
    }

    /** Files of components that readers have met damage in, and that nobody has merged since. */
    public Set<Long> suspects() {
        return suspects;
    }

    private static @Nullable ComponentHandle find(List<ComponentHandle> handles, String file) {
        for (ComponentHandle handle : handles) {
            if (handle.hasFile(file)) {
                return handle;
            }
        }
        return null;
    }

    private boolean setAside(Place place, ComponentHandle handle, ComponentDamage damage) {
        handle.component().quarantine(damage);
        account.countInstall();
        suspects.remove(handle.state().fileId());
        setAsideCount.increment();
        events.quarantined(
                place.schema, place.partition, place.tree, handle.state(), damage.cause());
        return true;
    }

    /** A component is whole again, and its partition has it. */
    public void lifted(DatasetSchema schema, int partition, TreeId tree, ComponentHandle restored) {
        unnoted.removeIf(note -> note.fileId == restored.state().fileId());
        untold.remove(restored.state().fileId());
        metFiles.remove(restored.component().name());
        events.quarantineLifted(schema, partition, tree, restored.state());
    }

    /** Components that are set aside now. */
    public int count() {
        int count = 0;
        for (Member partition : members) {
            Version pinned = partition.pinUnlessDropped();
            if (pinned != null) {
                try {
                    for (TreeId tree : pinned.schema().treeIds()) {
                        count += (int) pinned.tree(tree).stream()
                                .filter(ComponentHandle::isQuarantined)
                                .count();
                    }
                } finally {
                    pinned.unpin();
                }
            }
        }
        return count;
    }
}
