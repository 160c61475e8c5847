package io.turbidite.lsm.upkeep;

import io.turbidite.core.Limits;
import io.turbidite.core.StorageException;
import io.turbidite.core.StoreFailedException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.lsm.bitmap.LiveBitmap;
import io.turbidite.lsm.bitmap.SideFile;
import io.turbidite.lsm.btree.PointCursor;
import io.turbidite.lsm.entry.Found;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.partition.Substrate;
import io.turbidite.lsm.version.ComponentHandle;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.Objects;

/**
 * How kills reach a component that is being built by a flush or a merge (LUO19 §5.3, the side-file method).
 *
 * <ol>
 *   <li>Before the build looks at an entry, a side-file is opened: from then on every kill of an entry that
 *       will lie in the new component is added to it, by key. Kills of before are known to the build.
 *   <li>When the component is built, they are applied to its bitmap, found in its key tree, again and again
 *       while writers go on, until few are left.
 *   <li>The rest is applied inside the closed gate, and there the new component takes the place of its
 *       sources, whose bitmaps are retired. So no kill falls in between (design §4 rule 5).
 * </ol>
 *
 * <p><em>Confined to one thread at a time.</em> The side-file is its maker's.
 */
public final class Handover {
    /** So many kills may be left to apply while writers wait. */
    private static final long LEFT_COUNT_MAX = 64;

    /** Rounds of applying while writers go on; each is shorter than the one before unless writers are faster. */
    private static final int ROUND_COUNT_MAX = 16;

    private final Substrate substrate;
    private final SideFile.Reader kills;
    private final ComponentHandle built;
    private final List<ComponentHandle> sources;

    /**
     * @param built with a live bitmap that knows all earlier kills
     * @param sources what it replaces on disk; empty for a flush
     */
    Handover(
            Substrate substrate,
            SideFile sideFile,
            ComponentHandle built,
            List<ComponentHandle> sources) {
        this.substrate = substrate;
        this.kills = sideFile.reader();
        this.built = built;
        this.sources = sources;
    }

    /** Has kills of entries that lie in {@code inputs} added to a side-file; null ends it. */
    static void mirror(
            Partition partition, List<ComponentHandle> inputs, @Nullable SideFile sideFile) {
        partition.gate().close();
        try {
            inputs.forEach(input -> bitmap(input).mirrorTo(sideFile));
        } finally {
            partition.gate().open();
        }
    }

    /** Applies what has come, while writers go on. */
    void catchUp() {
        int round = 0;
        do {
            apply();
            round++;
        } while (kills.leftCount() > LEFT_COUNT_MAX && round < ROUND_COUNT_MAX);
    }

    /**
     * Applies the rest; inside the closed gate, when the manifest names the new component already.
     *
     * @throws StoreFailedException if the component can't be read
     */
    void finish() {
        try {
            apply();
        } catch (StorageException unreadable) {
            throw new StoreFailedException(
                    "a component that was just built can't be read", unreadable);
        }
        sources.forEach(source -> bitmap(source).retire());
    }

    private void apply() {
        if (kills.leftCount() == 0) {
            return;
        }
        LiveBitmap bitmap = bitmap(built);
        Found found = new Found(1 << 10);
        try (PointCursor keys = built.component().keyPointCursor()) {
            kills.read((key, timestamp) -> apply(keys, key, timestamp, found, bitmap));
        }
    }

    /** The killed entry is the newest below its successor; it may be dropped, or known as dead already. */
    private void apply(
            PointCursor keys, Slice key, long timestamp, Found found, LiveBitmap bitmap) {
        assert timestamp > 0 && timestamp <= Limits.TIMESTAMP_MAX : timestamp;
        if (keys.find(key, timestamp - 1, found, false) == Found.MATTER) {
            bitmap.kill(found.ordinal, timestamp, substrate.timestamps()::horizon);
        }
    }

    private static LiveBitmap bitmap(ComponentHandle handle) {
        return Objects.requireNonNull(handle.live());
    }
}
