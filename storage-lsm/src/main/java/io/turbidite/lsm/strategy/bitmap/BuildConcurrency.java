package io.turbidite.lsm.strategy.bitmap;

import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.lsm.btree.PointCursor;
import io.turbidite.lsm.btree.TreeCursor;
import io.turbidite.lsm.entry.EntryStream;

import java.util.List;
import java.util.function.Supplier;

/**
 * How invalidations of entries reach the component that is being built from them (LUO19 §5.3,
 * design §4 rule 5).
 *
 * <ol>
 *   <li>Before the builder looks at an entry, the sources' writers are given their {@link #sink}:
 *       every later invalidation is told to it. Invalidations of before are known to the builder,
 *       each beside its entry.
 *   <li>{@link #begin}, then {@link #copied} for each entry that is written to the new component.
 *   <li>{@link #catchUp}, when it can be searched, while writers go on.
 *   <li>{@link #finish}, when no writer is inside the gate; there the component takes the place of
 *       its sources.
 * </ol>
 *
 * A build that failed ends with {@link #end}, and may begin again. An invalidation may be told
 * before, while and after its entry is copied, or of an entry that is not copied at all.
 *
 * <p>Methods 2 to 4 are the builder's, <em>confined to one thread at a time</em>; sinks are
 * thread-safe.
 */
public sealed interface BuildConcurrency extends AutoCloseable permits SideFileMethod, LockMethod {
    /** Ordinals that bitmaps reach are below 2^32. */
    int SOURCE_SHIFT = 40;

    /**
     * A component that is copied.
     *
     * @param bitmap gets its invalidations before the sink is told of them
     * @param keys opens a cursor over the keys of its entries
     */
    record Source(MutableValidityBitmap bitmap, Supplier<TreeCursor> keys) {}

    /**
     * What all builds of a store share.
     *
     * @param layers pays for those of memory layers, which are counted as part of these
     * @param merges pays for those of components; what it does not have is done without
     * @param horizon nobody reads below it
     */
    record Shared(
            MemoryBudget.Account layers,
            MemoryBudget.Account merges,
            MutableValidityBitmap.Horizon horizon,
            BuildConcurrencyMeter meter) {}

    /**
     * For the build from a frozen memory layer.
     *
     * @param byLocks by the lock method rather than by a side-file
     * @param entryCount of its primary
     */
    static BuildConcurrency ofLayer(boolean byLocks, long entryCount, Shared shared) {
        if (byLocks) {
            BuildConcurrency locks = LockMethod.ofLayer(entryCount, shared);
            if (locks != null) {
                return locks;
            }
        }
        return new SideFileMethod(shared.layers(), List.of(), shared);
    }

    /**
     * For the build from components. The lock method needs four bytes for each entry, and is not
     * used if they are not free.
     */
    static BuildConcurrency ofComponents(boolean byLocks, List<Source> sources, Shared shared) {
        if (byLocks) {
            BuildConcurrency locks = LockMethod.ofComponents(sources, shared);
            if (locks != null) {
                return locks;
            }
        }
        return new SideFileMethod(shared.merges(), sources, shared);
    }

    /** What writers tell of the invalidations in a source; numbers go from 0. */
    InvalidationSink sink(int source);

    /**
     * Nothing is copied yet; what will be gets its marks in {@code target}, whose owner lets it go
     * after {@link #end}.
     */
    void begin(MutableValidityBitmap target);

    /**
     * The entry on which {@code entry} stands was written, with all that is on record of its
     * successor.
     */
    void copied(EntryStream entry, long ordinal);

    /** Applies what has come, while writers go on. */
    void catchUp(Supplier<PointCursor> built);

    /**
     * Applies the rest; inside the closed gate.
     *
     * @param built opens a cursor over the keys of what was built, with their ordinals
     */
    void finish(Supplier<PointCursor> built);

    /** Nothing touches the target any more when this returns. Nothing happens if it did before. */
    void end();

    /** Memory held. */
    long bytesUsed();

    /** Gives the memory back; no sink is told any more, and {@link #end} was called. */
    @Override
    void close();

    /**
     * The position of an entry of one of several sources: so an {@link EntryStream} over all of
     * them tells.
     */
    static long position(int source, long ordinal) {
        assert ordinal >>> SOURCE_SHIFT == 0 : ordinal;
        return (long) source << SOURCE_SHIFT | ordinal;
    }
}
