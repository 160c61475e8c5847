package io.turbidite.lsm.strategy.bitmap.run;

import io.turbidite.core.StorageException;
import io.turbidite.core.StoreFailedException;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.strategy.bitmap.BuildConcurrency;
import io.turbidite.lsm.strategy.bitmap.MutableValidityBitmap;
import io.turbidite.lsm.version.ComponentHandle;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * How a component with a live bitmap that a flush or a merge has built takes its sources' place
 * (LUO19 §5.3): inside the closed gate it gets the last invalidations of what was copied, and its
 * sources' bitmaps are retired. So no invalidation falls in between (design §4 rule 5), whatever
 * the {@link BuildConcurrency} does before.
 *
 * <p><em>Confined to one thread at a time.</em> The build concurrency is its maker's.
 */
public final class BitmapSwitch {
    private final BuildConcurrency concurrency;
    private final ComponentHandle built;
    private final List<ComponentHandle> sources;

    /**
     * @param built whose bitmap gets the invalidations
     * @param sources what it replaces on disk; empty for a flush
     */
    public BitmapSwitch(
            BuildConcurrency concurrency, ComponentHandle built, List<ComponentHandle> sources) {
        this.concurrency = concurrency;
        this.built = built;
        this.sources = sources;
    }

    /** What build concurrency must know of components. */
    public static List<BuildConcurrency.Source> sources(List<ComponentHandle> components) {
        List<BuildConcurrency.Source> sources = new ArrayList<>();
        for (ComponentHandle component : components) {
            sources.add(new BuildConcurrency.Source(
                    bitmap(component), component.component()::keyCursor));
        }
        return sources;
    }

    /**
     * Has invalidations in {@code sources} told to {@code concurrency}; null ends that, and no
     * writer tells of one any more.
     */
    public static void tell(
            Partition partition,
            List<ComponentHandle> sources,
            @Nullable BuildConcurrency concurrency) {
        partition.gate().close();
        try {
            for (int i = 0; i < sources.size(); i++) {
                bitmap(sources.get(i)).tellTo(concurrency == null ? null : concurrency.sink(i));
            }
        } finally {
            partition.gate().open();
        }
    }

    /** Applies what has come, while writers go on. */
    public void catchUp() {
        concurrency.catchUp(built.component()::keyPointCursor);
    }

    /**
     * Applies the rest; inside the closed gate, when the manifest names the new component already.
     *
     * @throws StoreFailedException if the component can't be read
     */
    public void finish() {
        try {
            concurrency.finish(built.component()::keyPointCursor);
        } catch (StorageException unreadable) {
            throw new StoreFailedException(
                    "a component that was just built can't be read", unreadable);
        }
        sources.forEach(source -> bitmap(source).retire());
    }

    private static MutableValidityBitmap bitmap(ComponentHandle handle) {
        return Objects.requireNonNull(handle.live());
    }
}
