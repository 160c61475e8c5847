package io.turbidite.lsm.partition;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.StorageException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.Undo;
import io.turbidite.lsm.component.ComponentDamage;
import io.turbidite.lsm.component.ComponentHeader;
import io.turbidite.lsm.component.ComponentId;
import io.turbidite.lsm.component.DiskComponent;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.lsm.strategy.bitmap.ImmutableValidityBitmap;
import io.turbidite.lsm.strategy.bitmap.MutableValidityBitmap;
import io.turbidite.lsm.version.ComponentHandle;
import io.turbidite.lsm.version.ManifestState.BitmapState;
import io.turbidite.lsm.version.ManifestState.ComponentState;
import io.turbidite.lsm.version.StoreFiles;
import io.turbidite.lsm.version.Trash;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.function.Supplier;

/**
 * Opens a component that the manifest names, while the store opens. One that is damaged, cut,
 * missing, another's or not readable on two tries is set aside, and so is one whose bitmap is:
 * without it invalid entries would count as valid again. A bitmap that repair made is left out
 * instead, since readers check what is not known to be checked.
 *
 * <p><em>Confined to one thread.</em> Used once.
 */
final class ComponentOpening {
    private final StoreCore core;
    private final Quarantine.Place place;
    private final ComponentState state;
    private final ComponentHeader header;

    /** What the component is set aside for; null if it is sound. */
    private @Nullable ComponentDamage damage;

    private ComponentOpening(StoreCore core, Quarantine.Place place, ComponentState state) {
        this.core = core;
        this.place = place;
        this.state = state;
        this.header = ComponentFiles.header(
                core, place.schema(), place.partition(), place.tree(), state.fileId());
    }

    static ComponentHandle open(StoreCore core, Quarantine.Place place, ComponentState state) {
        ComponentOpening opening = new ComponentOpening(core, place, state);
        DiskComponent component = opening.openComponent();
        ComponentHandle handle = null;
        try {
            handle = opening.openHandle(component);
        } finally {
            if (handle == null) {
                component.close();
            }
        }
        if (opening.damage == null && !state.quarantine().isEmpty()) {
            opening.damage = place.damage(state.quarantine());
        }
        if (opening.damage != null) {
            core.quarantine().opened(place, handle, opening.damage);
        }
        return handle;
    }

    private DiskComponent openComponent() {
        try {
            return twice(() -> openAs(core, header, state));
        } catch (StorageException failure) {
            ComponentDamage found =
                    place.damage(causeOf(failure, StoreFiles.component(state.fileId())));
            damage = found;
            return DiskComponent.unreadable(
                    header,
                    new ComponentId(state.minTimestamp(), state.maxTimestamp()),
                    state.bytes(),
                    ComponentFiles.options(place.schema(), place.tree()),
                    place.schema().filter().size(),
                    StoreFiles.component(state.fileId()),
                    found);
        }
    }

    /** A disk that gives an error again on the next try goes on doing so. */
    private static <T> T twice(Supplier<T> opening) {
        try {
            return opening.get();
        } catch (StorageIoException failure) {
            if (isUnreadable(failure)) {
                return opening.get();
            }
            throw failure;
        }
    }

    /** Whether the disk does not give what the file has; others' files are not concerned. */
    private static boolean isUnreadable(StorageException failure) {
        return failure instanceof StorageIoException io && io.kind() == StorageIoException.Kind.IO;
    }

    /** What is wrong with a file; a failure that is not the file's goes on. */
    private String causeOf(StorageException failure, String file) {
        if (failure instanceof CorruptionException || isUnreadable(failure)) {
            return String.valueOf(failure.getMessage());
        }
        if (failure instanceof StorageIoException io
                && io.kind() == StorageIoException.Kind.NOT_FOUND) {
            return failure.getMessage() + whereabouts(file);
        }
        throw failure;
    }

    /**
     * A writing opening has put back what lies whole in the trash; who only reads moves nothing.
     */
    private String whereabouts(String file) {
        List<Trash.Item> there =
                core.trash().namesakes(file.substring(StoreFiles.DATA.length() + 1));
        if (there.isEmpty()) {
            return "";
        }
        return "; %s/%s may be it: %s"
                .formatted(
                        StoreFiles.TRASH,
                        there.getFirst().name(),
                        core.health().isReading()
                                ? "a writing opening of the store puts it back if it is whole"
                                : "but it is not whole, or another's");
    }

    private ComponentHandle openHandle(DiskComponent component) {
        return ComponentFiles.isLive(place.schema(), place.tree())
                ? openMarked(component)
                : openFixed(component);
    }

    /** With the bitmap of writers' marks. */
    private ComponentHandle openMarked(DiskComponent component) {
        if (component.isOpen()) {
            try {
                MutableValidityBitmap live =
                        twice(() -> openLive(core, component, state.invalidEntries()));
                return ComponentHandle.ofLive(state, component, live, core.reaper());
            } catch (StorageException failure) {
                damage = place.damage(causeOf(failure, StoreFiles.bitmap(state.bitmapFileId())));
            }
        }
        MutableValidityBitmap empty =
                MutableValidityBitmap.create(core.bitmaps(), component.entryCount());
        return ComponentHandle.ofUnread(state, component, empty, core.reaper());
    }

    /** With the bitmap that repair made, if there is one. */
    private ComponentHandle openFixed(DiskComponent component) {
        if (state.invalidEntries().isNone() || !component.isOpen()) {
            return ComponentHandle.of(state, component, null, core.reaper());
        }
        try {
            ImmutableValidityBitmap invalidEntries =
                    twice(() -> ComponentFiles.openBitmap(core, component, state.invalidEntries()));
            return ComponentHandle.of(state, component, invalidEntries, core.reaper());
        } catch (StorageException failure) {
            String cause = causeOf(failure, StoreFiles.bitmap(state.bitmapFileId()));
            if (!isMadeAgain()) {
                damage = place.damage(cause);
                return ComponentHandle.of(state, component, null, core.reaper());
            }
            core.events()
                    .deadEntriesDropped(
                            place.schema(),
                            place.partition(),
                            place.tree(),
                            StoreFiles.bitmap(state.bitmapFileId()),
                            cause);
            // checked up to nothing: readers look for successors of all its entries
            return ComponentHandle.of(
                    state.withRepaired(0, BitmapState.NONE), component, null, core.reaper());
        }
    }

    /** Whether readers validate entries that no repair has checked. */
    private boolean isMadeAgain() {
        IndexSchema index = place.schema().index(place.tree());
        return index != null
                && !place.tree().isDeletedKeyTree()
                && (index.maintenance() == Maintenance.VALIDATION
                        || index.maintenance() == Maintenance.AUTO);
    }

    /**
     * Opens the file.
     *
     * @throws CorruptionException also if it is not the one that the manifest means
     */
    private static DiskComponent openAs(
            StoreCore core, ComponentHeader header, ComponentState state) {
        DiskComponent component = ComponentFiles.openFile(core, header);
        ComponentState found = ComponentFiles.fresh(component, state.generation())
                .withRepaired(state.repairedTimestamp(), state.invalidEntries())
                .withQuarantineOf(state);
        if (!found.equals(state)) {
            component.close();
            throw new CorruptionException(
                    component.name(), 0, "component", state.toString(), found.toString());
        }
        return component;
    }

    private static MutableValidityBitmap openLive(
            StoreCore core, DiskComponent component, BitmapState state) {
        MutableValidityBitmap live =
                MutableValidityBitmap.create(core.bitmaps(), component.entryCount());
        try (Undo undo = Undo.of(live::close)) {
            if (!state.isNone()) {
                try (ImmutableValidityBitmap invalidEntries =
                        ComponentFiles.openBitmap(core, component, state)) {
                    for (long at = invalidEntries.next(0);
                            at != ImmutableValidityBitmap.NONE;
                            at = invalidEntries.next(at + 1)) {
                        live.settle(at);
                    }
                }
                live.beginSave();
            }
            return undo.keep(live);
        }
    }
}
