package io.turbidite.lsm.strategy.bitmap;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.lsm.btree.PointCursor;
import io.turbidite.lsm.btree.TreeCursor;
import io.turbidite.lsm.entry.EntryStream;
import io.turbidite.lsm.entry.Found;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;

/**
 * The side-file method of LUO19 §5.3: invalidations are kept by key while the component is built,
 * and applied to it afterwards, found in its key tree, again and again until few are left, which
 * are applied inside the closed gate.
 *
 * <p>Invalidations are told to their source's bitmap first. So where a side-file of a merge has no
 * more memory its invalidations are not lost: after the build all invalid entries of the sources
 * are looked up in what was built, by key and timestamp, while a new side-file gets what comes
 * meanwhile. A memory layer has no bitmap; its side-file is counted as part of it, which slows
 * writers down by and by, and has no more invalidations than the layer has entries.
 */
final class SideFileMethod implements BuildConcurrency {
    /** So many invalidations may be left to apply while writers wait. */
    private static final long LEFT_COUNT_MAX = 64;

    /**
     * Rounds of applying while writers go on; each is shorter than the one before unless writers
     * are faster.
     */
    private static final int ROUND_COUNT_MAX = 16;

    private final SideFile invalidations;
    private final List<Source> sources;
    private final Shared shared;
    private final InvalidationSink sink = this::invalidated;
    private @Nullable MutableValidityBitmap target;
    private SideFile.Reader unread;

    /**
     * @param account pays for the side-file
     * @param sources empty if there is a memory layer instead, for which the account must have
     *     enough
     */
    SideFileMethod(MemoryBudget.Account account, List<Source> sources, Shared shared) {
        this.invalidations = new SideFile(account);
        this.unread = invalidations.reader();
        this.sources = List.copyOf(sources);
        this.shared = shared;
    }

    @Override
    public InvalidationSink sink(int source) {
        return sink;
    }

    private void invalidated(long position, Slice key, long timestamp) {
        if (invalidations.add(key, timestamp)) {
            shared.meter().addedToSideFile(key.length() + (long) Long.BYTES);
        } else if (sources.isEmpty()) {
            throw new IllegalStateException("no memory for the side-file of a memory layer");
        }
    }

    @Override
    public void begin(MutableValidityBitmap built) {
        target = built;
        unread = invalidations.reader();
    }

    @Override
    public void copied(EntryStream entry, long ordinal) {
        long successor = entry.successorTimestamp();
        if (successor != MutableValidityBitmap.VALID) {
            target().invalidate(ordinal, successor, shared.horizon());
        }
    }

    @Override
    public void catchUp(Supplier<PointCursor> built) {
        int round = 0;
        do {
            apply(built);
            round++;
        } while ((invalidations.isFull() || unread.leftCount() > LEFT_COUNT_MAX)
                && round < ROUND_COUNT_MAX);
    }

    @Override
    public void finish(Supplier<PointCursor> built) {
        apply(built);
    }

    private void apply(Supplier<PointCursor> built) {
        if (!invalidations.isFull() && unread.leftCount() == 0) {
            return;
        }
        Found found = new Found(1 << 10);
        try (PointCursor keys = built.get()) {
            if (invalidations.isFull()) {
                shared.meter().sideFileFull();
                // first: an invalidation that comes from now on is in the file, an earlier one in
                // the
                // bitmaps
                invalidations.restart();
                unread = invalidations.reader();
                sources.forEach(source -> applyInvalid(source, keys, found));
            }
            unread.read((key, timestamp) -> apply(keys, key, timestamp, found));
        }
    }

    /**
     * The invalidated entry is the newest below its successor; it may be dropped, or known as
     * invalid already.
     */
    private void apply(PointCursor keys, Slice key, long timestamp, Found found) {
        if (keys.find(key, timestamp - 1, found, false) == Found.MATTER) {
            target().invalidate(found.position, timestamp, shared.horizon());
        }
    }

    /** Marks what was copied of a source's invalid entries. */
    private void applyInvalid(Source source, PointCursor keys, Found found) {
        try (TreeCursor entries = source.keys().get()) {
            source.bitmap().forEachInvalid(Long.MAX_VALUE, ordinal -> {
                entries.seekOrdinal(ordinal);
                entries.next();
                long timestamp = entries.timestamp();
                if (keys.find(entries.key(), timestamp, found, false) == Found.MATTER
                        && found.timestamp == timestamp) {
                    long invalidated = source.bitmap().invalidatedAt(ordinal);
                    target().invalidate(found.position, invalidated, shared.horizon());
                }
            });
        }
    }

    private MutableValidityBitmap target() {
        return Objects.requireNonNull(target, "nothing is being built");
    }

    @Override
    public void end() {
        target = null;
    }

    @Override
    public long bytesUsed() {
        return invalidations.bytesUsed();
    }

    @Override
    public void close() {
        invalidations.close();
    }
}
