package io.turbidite.lsm.strategy.bitmap.run;

import io.turbidite.core.StorageException;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.partition.StoreCore;
import io.turbidite.lsm.schema.TreeId;
import io.turbidite.lsm.strategy.bitmap.MutableValidityBitmap;
import io.turbidite.lsm.strategy.bitmap.ValidityBitmapBuilder;
import io.turbidite.lsm.strategy.bitmap.ValidityBitmapOwner;
import io.turbidite.lsm.version.ComponentHandle;
import io.turbidite.lsm.version.Installation;
import io.turbidite.lsm.version.ManifestState;
import io.turbidite.lsm.version.ManifestState.BitmapState;
import io.turbidite.lsm.version.StoreFiles;
import io.turbidite.lsm.version.Version;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.UnaryOperator;

/**
 * A manifest edit that puts live bitmaps to rest with it: what changed in them since they were last
 * saved is written to new files, which the edit names (no-steal and no-force, LUO19 §5.2).
 *
 * <ol>
 *   <li>Read the bitmaps, while writers go on.
 *   <li>Make the log durable: every invalidation that was read is in it (design §4 rule 6).
 *   <li>Write the files, sync their directory.
 *   <li>Under the manifest's lock: if the partition was flushed or merged since the first step,
 *       begin again; else make the edit.
 * </ol>
 *
 * A flush saves every bitmap of its partition, a merge that of its output: so all invalidations up
 * to the partition's flushed timestamp are at rest, and the log that holds them may go. What the
 * files know beyond is in the log too, and replay does it again.
 *
 * <p><em>Confined to one thread.</em>
 */
public final class BitmapSave {
    private final Partition partition;
    private final StoreCore core;

    /** What the components' files will be, those that stay as they are included. */
    private final Map<ComponentHandle, BitmapState> states = new LinkedHashMap<>();

    private final List<ComponentHandle> begun = new ArrayList<>();
    private final List<String> written = new ArrayList<>();

    private BitmapSave(Partition partition) {
        this.partition = partition;
        this.core = partition.core();
    }

    /** A manifest edit that changes the components of a partition with live bitmaps. */
    public interface Edit {
        /**
         * The components whose bitmaps must be saved with it; asked again if something came in
         * between.
         *
         * @param primary the primary's components of now, held for the length of the edit
         */
        List<ComponentHandle> components(List<ComponentHandle> primary);

        /** As {@link io.turbidite.lsm.version.Manifest#edit} says. */
        ManifestState change(ManifestState state);

        /** As {@link io.turbidite.lsm.version.Manifest#edit} says. */
        void install();
    }

    /** Makes an edit. */
    public static void run(Partition partition, Edit edit) {
        boolean done = false;
        while (!done) {
            // held, so that no bitmap is closed while it is read
            Version pinned = partition.pinUnlessDropped();
            try {
                done = new BitmapSave(partition).tryOnce(edit, pinned);
            } finally {
                if (pinned != null) {
                    pinned.unpin();
                }
            }
        }
    }

    private boolean tryOnce(Edit edit, @Nullable Version pinned) {
        Installation installation = new Installation();
        boolean[] stale = new boolean[1];
        try {
            List<ComponentHandle> before = pinned == null ? List.of() : pinned.tree(TreeId.PRIMARY);
            write(edit.components(before));
            UnaryOperator<ManifestState> change = state -> {
                // a flush adds a component, a merge replaces some
                stale[0] = !partition.isDropped()
                        && !before.equals(partition.components(TreeId.PRIMARY));
                return stale[0] ? state : named(edit.change(state));
            };
            installation.run(() -> core.edit(change, () -> {
                if (!stale[0]) {
                    edit.install();
                    BitmapMeter meter = BitmapMeter.of(core.meters());
                    begun.forEach(component -> {
                        BitmapState saved = Objects.requireNonNull(states.get(component));
                        component.markSaved(saved);
                        meter.saves().increment();
                        meter.savedBytes().add(saved.bytes());
                    });
                }
            }));
            return !stale[0];
        } finally {
            if (stale[0] || !installation.mayStand()) {
                giveUp();
            }
        }
    }

    private void write(List<ComponentHandle> components) {
        Map<ComponentHandle, ValidityBitmapBuilder> read = new LinkedHashMap<>();
        for (ComponentHandle component : components) {
            states.put(component, component.savedBitmap());
            MutableValidityBitmap bitmap = Objects.requireNonNull(component.live());
            if (bitmap.isUnsaved() && !component.isBitmapUnread()) {
                bitmap.beginSave();
                begun.add(component);
                ValidityBitmapBuilder builder =
                        ValidityBitmapBuilder.create(component.component().entryCount());
                bitmap.forEachInvalid(Long.MAX_VALUE, builder::mark);
                read.put(component, builder);
            }
        }
        // without a bitmap too: a merge may have left records out because of invalidations
        core.log().flush();
        read.forEach((component, builder) -> states.put(component, write(component, builder)));
        if (!read.isEmpty()) {
            core.disk().syncDirectory(StoreFiles.DATA);
        }
    }

    private BitmapState write(ComponentHandle component, ValidityBitmapBuilder builder) {
        long fileId = core.manifest().newFileId();
        String name = StoreFiles.bitmap(fileId);
        long storeId = core.manifest().state().storeId();
        long bytes = builder.write(
                core.disk(),
                name,
                new ValidityBitmapOwner(storeId, fileId, component.state().fileId()),
                component.component().entryCount());
        written.add(name);
        return new BitmapState(fileId, bytes, builder.count());
    }

    private ManifestState named(ManifestState state) {
        if (partition.isDropped()) {
            return state;
        }
        Map<Long, BitmapState> invalidEntries = new LinkedHashMap<>();
        states.forEach(
                (component, saved) -> invalidEntries.put(component.state().fileId(), saved));
        int datasetId = partition.schema().id();
        int number = partition.number();
        return state.withPartition(
                datasetId,
                number,
                state.partition(datasetId, number).withBitmaps(TreeId.PRIMARY, invalidEntries));
    }

    /** Nothing was installed: the bitmaps are unsaved as before, the files go. */
    private void giveUp() {
        begun.forEach(component -> Objects.requireNonNull(component.live()).failSave());
        for (String name : written) {
            try {
                core.disk().delete(name);
            } catch (StorageException left) {
                // no manifest names it: the next opening puts it into the trash
            }
        }
    }
}
