package io.turbidite.lsm.strategy.bitmap;

import io.turbidite.core.Cleanup;
import io.turbidite.lsm.btree.PointCursor;
import io.turbidite.lsm.entry.EntryStream;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * The lock method of LUO19 §5.3: an invalidation of an entry that was copied already marks the copy
 * at once; one of an entry that was not is found beside it by the builder. Nothing is left to apply
 * when the component is built.
 *
 * <p>The paper has the builder lock each key that it scans, and looks an invalidated key up in what
 * was built. Here the lock is that of the entry's place: a writer that invalidates has found the
 * place of the entry in its source, and {@link EntryCopies} leads from there to the place of the
 * copy without a search, which inside the gate might read a page.
 */
final class LockMethod implements BuildConcurrency {
    private static final long ORDINAL_MASK = (1L << SOURCE_SHIFT) - 1;

    private final List<EntryCopies> sources;

    private LockMethod(List<? extends EntryCopies> sources) {
        this.sources = List.copyOf(sources);
    }

    /** Null if there is not enough memory. */
    static @Nullable LockMethod ofLayer(long entryCount, Shared shared) {
        EntryCopies copies = LayerEntryCopies.create(entryCount, shared.layers(), shared.horizon());
        if (copies == null) {
            shared.meter().lockRefused();
            return null;
        }
        return new LockMethod(List.of(copies));
    }

    /** Null if there is not enough memory. */
    static @Nullable LockMethod ofComponents(List<Source> components, Shared shared) {
        List<EntryCopies> all = new ArrayList<>();
        for (Source component : components) {
            EntryCopies copies = ComponentEntryCopies.create(
                    component.bitmap(), shared.merges(), shared.horizon());
            if (copies == null) {
                new Cleanup().addAll(all, EntryCopies::close).run();
                shared.meter().lockRefused();
                return null;
            }
            all.add(copies);
        }
        return new LockMethod(all);
    }

    @Override
    public InvalidationSink sink(int source) {
        return sources.get(source);
    }

    @Override
    public void begin(MutableValidityBitmap target) {
        sources.forEach(source -> source.begin(target));
    }

    @Override
    public void copied(EntryStream entry, long ordinal) {
        long position = entry.position();
        sources.get((int) (position >>> SOURCE_SHIFT))
                .copied(position & ORDINAL_MASK, ordinal, entry.successorTimestamp());
    }

    /** Nothing waits. */
    @Override
    public void catchUp(Supplier<PointCursor> built) {}

    /** Nothing is left. */
    @Override
    public void finish(Supplier<PointCursor> built) {}

    @Override
    public void end() {
        sources.forEach(EntryCopies::end);
    }

    @Override
    public long bytesUsed() {
        return sources.stream().mapToLong(EntryCopies::bytesUsed).sum();
    }

    @Override
    public void close() {
        new Cleanup().addAll(sources, EntryCopies::close).run();
    }
}
