package io.turbidite.lsm.merge.run;

import io.turbidite.core.Cleanup;
import io.turbidite.core.bytes.Slice;
import io.turbidite.lsm.component.ComponentFilter;
import io.turbidite.lsm.component.ComponentId;
import io.turbidite.lsm.component.ComponentWriter;
import io.turbidite.lsm.entry.EntryCursor;
import io.turbidite.lsm.entry.EntryHead;
import io.turbidite.lsm.entry.EntryStream;
import io.turbidite.lsm.merge.Discards;
import io.turbidite.lsm.merge.MergeCursor;
import io.turbidite.lsm.merge.VersionRetention;
import io.turbidite.lsm.partition.ComponentBuild;
import io.turbidite.lsm.partition.MergeHook;
import io.turbidite.lsm.strategy.bitmap.BuildConcurrency;
import io.turbidite.lsm.strategy.bitmap.MutableValidityBitmap;
import io.turbidite.lsm.version.ComponentHandle;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;

/**
 * The merged component of one tree, being written. It covers the union of its inputs' IDs, never
 * recomputed from its entries, and its filter is the union of theirs (rule 2).
 *
 * <p><em>Confined to one thread at a time,</em> as its merge is.
 */
final class MergeOutput implements AutoCloseable {
    private final TreeInputs tree;
    private final ComponentBuild build;
    private final ComponentWriter writer;
    private final EntryCursor versions;

    /** What the hook filters, standing on the entry that it lets through. */
    private final EntryStream retained;

    private final EntryStream kept;
    private final MergeHook hook;

    /** Is told of what is copied; null without live bitmaps. */
    private final @Nullable BuildConcurrency concurrency;

    private boolean isWritten;
    private boolean isComplete;
    private long syncedBytes;
    private final EntryHead entry = new EntryHead();
    private long ordinal;

    private MergeOutput(
            TreeInputs tree,
            ComponentBuild build,
            MergeHook hook,
            Streams streams,
            @Nullable BuildConcurrency concurrency) {
        this.tree = tree;
        this.build = build;
        this.writer = build.writer();
        this.versions = streams.versions;
        this.retained = streams.retained;
        this.kept = streams.kept;
        this.hook = hook;
        this.concurrency = concurrency;
    }

    /**
     * All versions of the inputs, what readers need of them, and what the hook lets through of
     * that.
     */
    private record Streams(EntryCursor versions, EntryStream retained, EntryStream kept) {
        static Streams of(List<EntryCursor> cursors, MergeHook hook, VersionRetention retention) {
            EntryCursor versions = MergeCursor.of(cursors);
            Discards discards = hook.discards();
            EntryStream retained = discards == null
                    ? retention.retain(versions)
                    : retention.retain(versions, discards);
            return new Streams(versions, retained, hook.filter(retained, retention));
        }
    }

    /**
     * Begins a component.
     *
     * @param build of the component, and from here on
     * @param hook likewise
     * @param readers what they need
     * @param concurrency is told of the component; null without live bitmaps
     */
    static MergeOutput open(
            TreeInputs tree,
            ComponentBuild build,
            MergeHook hook,
            VersionRetention readers,
            @Nullable BuildConcurrency concurrency) {
        long entries = 0;
        List<EntryCursor> cursors = new ArrayList<>();
        MergeOutput opened = null;
        try {
            for (ComponentHandle input : tree.newestFirst()) {
                entries += input.livingCount();
                cursors.add(input.streamCursor(cursors.size()));
            }
            hook.addInputs(cursors);
            Streams streams =
                    Streams.of(cursors, hook, readers.droppingAntimatter(tree.dropsAntimatter()));
            MutableValidityBitmap live =
                    concurrency == null ? null : build.withBitmap(tree.entryCount());
            var _ = build.create(entries);
            if (concurrency != null && live != null) {
                concurrency.begin(live);
            }
            opened = new MergeOutput(tree, build, hook, streams, concurrency);
            return opened;
        } finally {
            if (opened == null) {
                new Cleanup()
                        .addAll(cursors, EntryCursor::close)
                        .add(build::close)
                        .add(hook::close)
                        .run();
            }
        }
    }

    TreeInputs tree() {
        return tree;
    }

    boolean isComplete() {
        return isComplete;
    }

    long bytesWritten() {
        return writer.bytesWritten();
    }

    /** Copies entries until about {@code bytesMax} are done; returns how many were. */
    long copy(long bytesMax) {
        long bytes = 0;
        while (bytes < bytesMax) {
            if (isWritten) {
                isComplete = hook.complete(bytesMax - bytes);
                return isComplete ? bytes : bytesMax;
            }
            if (!kept.next(entry)) {
                isWritten = true;
                continue;
            }
            Slice value = kept.value();
            writer.add(entry, value);
            // the entry that is kept is the one that the versions stand on
            hook.written(kept, versions);
            if (concurrency != null) {
                concurrency.copied(retained, ordinal);
            }
            ordinal++;
            bytes += entry.keyBytes + value.length() + Long.BYTES;
        }
        return bytes;
    }

    void syncEvery(long bytes) {
        long written = writer.bytesWritten();
        if (written - syncedBytes >= bytes) {
            writer.syncSoFar();
            syncedBytes = written;
        }
    }

    ComponentHandle finish() {
        ComponentFilter filter = tree.newestFirst().get(0).component().filter();
        long minTimestamp = Long.MAX_VALUE;
        long maxTimestamp = 0;
        long minMicros = Long.MAX_VALUE;
        long maxMicros = Long.MIN_VALUE;
        for (ComponentHandle input : tree.newestFirst()) {
            filter = ComponentFilter.union(filter, input.component().filter());
            minMicros = Math.min(minMicros, input.component().minWallMicros());
            maxMicros = Math.max(maxMicros, input.component().maxWallMicros());
            minTimestamp = Math.min(minTimestamp, input.state().minTimestamp());
            maxTimestamp = Math.max(maxTimestamp, input.state().maxTimestamp());
        }
        writer.noteVersions(versionsLeft());
        build.finish(new ComponentId(minTimestamp, maxTimestamp), filter, minMicros, maxMicros);
        return build.openMerged(tree.newestFirst(), hook.repaired());
    }

    /** What left with obsolete entries were versions that had as many entries as others. */
    private long versionsLeft() {
        long versionCount = 0;
        long matterCount = 0;
        for (ComponentHandle input : tree.newestFirst()) {
            versionCount += input.component().versionCount();
            matterCount += input.component().matterCount();
        }
        return tree.id().isPrimary() || matterCount == 0
                ? writer.matterCount()
                : Math.round((double) versionCount * writer.matterCount() / matterCount);
    }

    @Override
    public void close() {
        // deleting what was written so far may fail: the rest is let go all the same
        try (hook;
                build) {
            kept.close();
        }
    }
}
