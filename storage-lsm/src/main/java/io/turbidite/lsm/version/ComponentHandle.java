package io.turbidite.lsm.version;

import io.turbidite.core.geo.Place;
import io.turbidite.core.geo.SpatialKind;
import io.turbidite.core.geo.WindowSearch;
import io.turbidite.lsm.btree.PageChoice;
import io.turbidite.lsm.btree.TreeCursor;
import io.turbidite.lsm.component.DiskComponent;
import io.turbidite.lsm.entry.EntryCursor;
import io.turbidite.lsm.entry.OrdinalCursor;
import io.turbidite.lsm.rtree.WindowWork;
import io.turbidite.lsm.strategy.bitmap.BuildConcurrency;
import io.turbidite.lsm.strategy.bitmap.ImmutableValidityBitmap;
import io.turbidite.lsm.strategy.bitmap.MarkedCursor;
import io.turbidite.lsm.strategy.bitmap.MutableValidityBitmap;
import io.turbidite.lsm.strategy.bitmap.ValidEntryCursor;
import io.turbidite.lsm.strategy.bitmap.VisibleCursor;

import org.jspecify.annotations.Nullable;

import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A disk component, which of its entries are invalid, and who holds it. Born with one reference,
 * its creator's; when the last one goes the component is closed, and its file goes to the
 * {@link FileReaper} if a manifest without it is durable.
 *
 * <p>What is invalid never changes: a repair makes {@link #repaired another handle} on the same
 * component file, which takes this one's place in the next version. Whoever reads an older version
 * keeps the bitmap it had.
 *
 * <p>Whoever is going to replace or drop components (a merge, a repair, retention) takes them
 * first, so that nobody else does; readers don't care.
 *
 * <p><em>Thread-safe:</em> count and {@code taken} by compare-and-swap, {@code obsolete} by release
 * and acquire.
 */
public final class ComponentHandle {
    private final ManifestState.ComponentState state;
    private final DiskComponent component;
    private final @Nullable ImmutableValidityBitmap invalidEntries;
    private final @Nullable MutableValidityBitmap live;
    private final SharedFile componentFile;
    private final @Nullable SharedFile bitmapFile;
    private final FileReaper reaper;
    private final AtomicInteger references = new AtomicInteger(1);
    private final AtomicBoolean taken = new AtomicBoolean();
    private volatile boolean obsolete;

    /** Whether {@link #live} lacks what its file should say, since the file is damaged. */
    private volatile boolean bitmapUnread;

    /** The live bitmap's file of now. */
    private volatile ManifestState.BitmapState savedBitmap = ManifestState.BitmapState.NONE;

    private ComponentHandle(
            ManifestState.ComponentState state,
            DiskComponent component,
            SharedFile componentFile,
            @Nullable ImmutableValidityBitmap invalidEntries,
            @Nullable SharedFile bitmapFile,
            @Nullable MutableValidityBitmap live,
            FileReaper reaper) {
        // what is set aside may be without the bitmap that it should have
        assert invalidEntries == null
                        || invalidEntries.owner().fileId()
                                == state.invalidEntries().fileId()
                : state;
        this.state = state;
        this.component = component;
        this.componentFile = componentFile;
        this.invalidEntries = invalidEntries;
        this.bitmapFile = bitmapFile;
        this.live = live;
        this.reaper = reaper;
    }

    /**
     * A handle that owns a component that was just opened, and the bitmap.
     *
     * @param invalidEntries null if all entries are valid
     */
    public static ComponentHandle of(
            ManifestState.ComponentState state,
            DiskComponent component,
            @Nullable ImmutableValidityBitmap invalidEntries,
            FileReaper reaper) {
        SharedFile componentFile =
                new SharedFile(StoreFiles.component(state.fileId()), component::close, reaper);
        return new ComponentHandle(
                state,
                component,
                componentFile,
                invalidEntries,
                file(invalidEntries, reaper),
                null,
                reaper);
    }

    /**
     * A handle on a primary's component under the mutable-bitmap strategy, which owns it and its
     * bitmap.
     *
     * @param state with the file that has what the bitmap had when it was last saved
     */
    public static ComponentHandle ofLive(
            ManifestState.ComponentState state,
            DiskComponent component,
            MutableValidityBitmap live,
            FileReaper reaper) {
        SharedFile componentFile =
                new SharedFile(StoreFiles.component(state.fileId()), component::close, reaper);
        ManifestState.BitmapState saved = state.invalidEntries();
        ComponentHandle handle = new ComponentHandle(
                state.withRepaired(state.repairedTimestamp(), ManifestState.BitmapState.NONE),
                component,
                componentFile,
                null,
                null,
                live,
                reaper);
        handle.savedBitmap = saved;
        return handle;
    }

    /**
     * As {@link #ofLive}, where the bitmap's file, or the component's, could not be read: the
     * bitmap is empty.
     */
    public static ComponentHandle ofUnread(
            ManifestState.ComponentState state,
            DiskComponent component,
            MutableValidityBitmap empty,
            FileReaper reaper) {
        ComponentHandle handle = ofLive(state, component, empty, reaper);
        handle.bitmapUnread = true;
        return handle;
    }

    private static @Nullable SharedFile file(
            @Nullable ImmutableValidityBitmap invalidEntries, FileReaper reaper) {
        return invalidEntries == null
                ? null
                : new SharedFile(
                        StoreFiles.bitmap(invalidEntries.owner().fileId()),
                        invalidEntries::close,
                        reaper);
    }

    /**
     * Another handle on the same component file, with a reference of its own; the caller holds one
     * of this.
     *
     * @param changed the same component with another repaired timestamp or bitmap
     * @param changedBitmap this one's, or a new bitmap, which the new handle owns
     */
    public ComponentHandle repaired(
            ManifestState.ComponentState changed, @Nullable ImmutableValidityBitmap changedBitmap) {
        assert changed.fileId() == state.fileId() && live == null : changed;
        SharedFile same =
                changedBitmap == invalidEntries && bitmapFile != null ? bitmapFile.shared() : null;
        return new ComponentHandle(
                changed,
                component,
                componentFile.shared(),
                changedBitmap,
                same == null ? file(changedBitmap, reaper) : same,
                null,
                reaper);
    }

    public ManifestState.ComponentState state() {
        return state;
    }

    /**
     * Reads refuse what is {@link #isQuarantined in quarantine}; what is known of it stays known.
     */
    public DiskComponent component() {
        return component;
    }

    /** Whether the file, by its name in the store, is the component's own or its bitmap's. */
    public boolean hasFile(String file) {
        return component.name().equals(file)
                || file.equals(StoreFiles.bitmap(state.bitmapFileId()))
                || file.equals(StoreFiles.bitmap(savedBitmap().fileId()));
    }

    /** Whether it is damaged and set aside: nobody reads, merges, repairs or drops it. */
    public boolean isQuarantined() {
        return component.damage() != null;
    }

    /** Its invalid entries; null if there are none, or if they change. */
    public @Nullable ImmutableValidityBitmap invalidEntries() {
        return invalidEntries;
    }

    /** Its invalid entries that change while writers go on; null if they never do. */
    public @Nullable MutableValidityBitmap live() {
        return live;
    }

    /**
     * Whether {@link #live} is not what it should be, and must not be saved over what is in its
     * file.
     */
    public boolean isBitmapUnread() {
        return bitmapUnread;
    }

    /** The file that a manifest names for {@link #live}; changes under the manifest's lock. */
    public ManifestState.BitmapState savedBitmap() {
        return savedBitmap;
    }

    /** A durable manifest names another file for {@link #live}. */
    public void markSaved(ManifestState.BitmapState changed) {
        ManifestState.BitmapState before = savedBitmap;
        savedBitmap = changed;
        if (!before.isNone()) {
            reaper.bury(StoreFiles.bitmap(before.fileId()));
        }
    }

    /** Entries that are not invalid; versions and anti-matter included. */
    public long livingCount() {
        if (live != null) {
            return component.entryCount() - live.invalidCount();
        }
        return component.entryCount() - (invalidEntries == null ? 0 : invalidEntries.count());
    }

    /**
     * The entries that are not invalid, in order, through the buffer cache. Of one with a live
     * bitmap all: which are invalid depends on who asks.
     */
    public EntryCursor cursor() {
        return living(component.cursor());
    }

    /** As {@link #cursor()}; forward on those pages alone that {@code choice} names. */
    public EntryCursor cursor(PageChoice choice) {
        return living(component.cursor(choice));
    }

    /** As {@link #cursor()}, without their values. */
    public EntryCursor keyCursor() {
        return living(component.keyCursor());
    }

    /**
     * The entries that are not invalid, in order, read ahead past the buffer cache: for merges. Of
     * one with a live bitmap all, with their successors and positions.
     *
     * @param number of the component among those that are merged
     */
    public EntryCursor streamCursor(int number) {
        TreeCursor entries = component.streamCursor();
        return live == null
                ? living(entries)
                : new MarkedCursor(entries, live, BuildConcurrency.position(number, 0));
    }

    /**
     * What a snapshot sees of a component with a live bitmap.
     *
     * @param choice of the pages that are read when it goes forward; null for all
     */
    public EntryCursor visibleCursor(long snapshot, @Nullable PageChoice choice) {
        MutableValidityBitmap bitmap = Objects.requireNonNull(live);
        return new VisibleCursor(
                choice == null ? component.cursor() : component.cursor(choice), bitmap, snapshot);
    }

    /** As {@link #cursor()}, of an R-tree's component: those that are in a window. */
    public EntryCursor windowCursor(WindowSearch search, WindowWork work) {
        return living(component.windowCursor(search, work));
    }

    /** As {@link #cursor()}, of an R-tree's component: nearest first, distances before the keys. */
    public EntryCursor nearestCursor(SpatialKind kind, Place place, WindowWork work) {
        return living(component.nearestCursor(kind, place, work));
    }

    private EntryCursor living(OrdinalCursor entries) {
        return invalidEntries == null ? entries : new ValidEntryCursor(entries, invalidEntries);
    }

    /** Whether this has the same component ID as {@code other}. */
    boolean covers(ComponentHandle other) {
        return state.minTimestamp() == other.state.minTimestamp()
                && state.maxTimestamp() == other.state.maxTimestamp();
    }

    /** Takes a reference; whoever calls holds one, or a version that does. */
    public void retain() {
        int before = references.getAndIncrement();
        assert before > 0 : "component " + state.fileId() + " was let go";
    }

    /** Lets one reference go. */
    public void release() {
        int left = references.decrementAndGet();
        assert left >= 0 : "component " + state.fileId() + " is let go twice";
        if (left == 0) {
            componentFile.release();
            if (bitmapFile != null) {
                bitmapFile.release();
            }
            if (live != null) {
                live.close();
                if (obsolete && !savedBitmap.isNone()) {
                    reaper.bury(StoreFiles.bitmap(savedBitmap.fileId()));
                }
            }
        }
    }

    /**
     * Takes the component for replacement. Whoever got it then looks whether the partition's
     * current version still has it: the one who had it before may have replaced it.
     *
     * @return false if somebody else has it, or it is in quarantine
     */
    public boolean tryTake() {
        return !isQuarantined() && taken.compareAndSet(false, true);
    }

    /**
     * Gives the component back, after the version without the component is installed or all is
     * given up.
     */
    public void giveBack() {
        boolean was = taken.getAndSet(false);
        assert was : "component " + state.fileId() + " was not taken";
    }

    public boolean isTaken() {
        return taken.get();
    }

    /**
     * A durable manifest no longer names the files: they are deleted when nobody reads them any
     * more.
     */
    public void markObsolete() {
        obsolete = true;
        componentFile.markObsolete();
        if (bitmapFile != null) {
            bitmapFile.markObsolete();
        }
    }

    /**
     * A durable manifest has {@code successor} in this one's place: a bitmap of its own is deleted
     * when nobody reads it any more, the component file stays.
     */
    public void markReplacedBy(ComponentHandle successor) {
        if (bitmapFile != null && bitmapFile != successor.bitmapFile) {
            bitmapFile.markObsolete();
        }
    }

    public boolean isObsolete() {
        return obsolete;
    }
}
