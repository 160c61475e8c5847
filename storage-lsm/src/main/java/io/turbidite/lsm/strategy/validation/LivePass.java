package io.turbidite.lsm.strategy.validation;

import io.turbidite.core.Cleanup;
import io.turbidite.core.Limits;
import io.turbidite.core.bloom.BloomFilter;
import io.turbidite.core.bytes.Slice;
import io.turbidite.lsm.btree.TreeCursor;
import io.turbidite.lsm.component.DiskComponent;
import io.turbidite.lsm.entry.Found;
import io.turbidite.lsm.entry.KeyCopy;
import io.turbidite.lsm.partition.LiveBits;
import io.turbidite.lsm.partition.LiveVersions;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.schema.TreeId;
import io.turbidite.lsm.version.ComponentHandle;
import io.turbidite.lsm.version.Version;

import org.jspecify.annotations.Nullable;

import java.util.List;

/**
 * Brings what is known of a partition's live versions up to its newest component of now.
 *
 * <ol>
 *   <li>Take the components that have versions above the known timestamp, oldest first. Each has
 *       been flushed since, or merged from such that were.
 *   <li>Read the keys of one. The newest version of a key, if it is matter and not known, is live.
 *   <li>What it supersedes is not: that is the newest version of the key in older components, found
 *       behind their Bloom filters.
 *   <li>Or a merge has left it out since. So of the known timestamps that the component covers,
 *       only those stay live that are in it, as newest versions of their keys.
 *   <li>When all are read, all up to the newest timestamp is known.
 * </ol>
 *
 * <p>Not for primaries with live bitmaps: their merges leave out what is superseded in components
 * that they don't merge, and nobody would know of it.
 *
 * <p>It holds the components, not the version. Timestamps that may be of a batch are left out.
 * <em>Confined to one thread at a time.</em>
 */
final class LivePass implements AutoCloseable {
    private final LiveVersions versions;
    private final int epoch;
    private final LiveBits bits;

    /** Newest first. */
    private final List<ComponentHandle> components;

    private final long known;
    private final long ownFrom;
    private final Found found = new Found(Limits.KEY_BYTES_MAX);
    private final KeyCopy decided = new KeyCopy();

    /**
     * The component that is read, by its place in {@link #components}; at first the first one of
     * which all is known.
     */
    private int at;

    private @Nullable TreeCursor keys;
    /** Known versions that the component has, where a merge may have left out others. */
    private @Nullable LiveBits kept;

    private long keyCount;
    private boolean isDone;
    private boolean isLearnt;

    private LivePass(
            LiveVersions versions,
            int epoch,
            LiveBits bits,
            List<ComponentHandle> components,
            int newCount,
            long ownFrom) {
        this.versions = versions;
        this.epoch = epoch;
        this.bits = bits;
        this.components = components;
        this.known = bits.known();
        this.ownFrom = ownFrom;
        this.at = newCount;
    }

    /**
     * Begins to look at a partition whose readers have asked, if that is worth it.
     *
     * @return null if it is not, or there is nothing to look at or no memory for it
     */
    static @Nullable LivePass start(Partition partition) {
        LiveVersions versions = partition.liveVersions();
        assert !partition.hasLiveBitmaps() : "merges leave out what is superseded elsewhere";
        int epoch = versions.epoch();
        Version pinned = partition.pinUnlessDropped();
        if (pinned == null) {
            return null;
        }
        try {
            return start(versions, epoch, pinned, partition.core().manifest().ownFrom());
        } finally {
            pinned.unpin();
        }
    }

    private static @Nullable LivePass start(
            LiveVersions versions, int epoch, Version pinned, long ownFrom) {
        List<ComponentHandle> components = pinned.tree(TreeId.PRIMARY);
        LiveBits before = versions.bits();
        long known = before == null ? 0 : before.known();
        int newCount = 0;
        long keyCount = 0;
        for (ComponentHandle handle : components) {
            if (handle.isQuarantined()) {
                versions.lookedInVain(Long.MAX_VALUE / 2);
                return null;
            }
            if (handle.state().maxTimestamp() > known) {
                newCount++;
                keyCount += handle.component().entryCount();
            }
        }
        if (newCount == 0 || components.getFirst().state().maxTimestamp() < ownFrom) {
            versions.lookedInVain(0);
            return null;
        }
        if (!versions.isWorth(keyCount)) {
            return null;
        }
        long from = Math.max(ownFrom, components.getLast().state().minTimestamp());
        LiveBits bits = before == null ? new LiveBits(versions.shared().account(), from) : before;
        if (!bits.begin(components.getFirst().state().maxTimestamp())) {
            versions.forget();
            versions.lookedInVain(2 * keyCount);
            return null;
        }
        components.forEach(ComponentHandle::retain);
        return new LivePass(versions, epoch, bits, components, newCount, ownFrom);
    }

    /**
     * Reads some more keys.
     *
     * @return whether it has ended
     * @throws io.turbidite.core.StorageException if they can't be read: it can only be closed then
     */
    boolean advance(long keysMax) {
        for (long i = 0; i < keysMax && !isDone; i++) {
            TreeCursor cursor = keys;
            if (cursor == null) {
                isDone = !openNext();
            } else if (cursor.next()) {
                keyCount++;
                isDone = !take(cursor);
            } else {
                endComponent();
            }
        }
        return isDone;
    }

    /** Goes to the next component; false if there is none, and all is known, or no memory. */
    private boolean openNext() {
        if (at == 0) {
            bits.complete();
            versions.learn(epoch, bits);
            isLearnt = true;
            return false;
        }
        at--;
        ComponentHandle handle = components.get(at);
        long min = handle.state().minTimestamp();
        decided.forget();
        keys = handle.component().keyCursor();
        if (min <= known) {
            LiveBits scratch = new LiveBits(versions.shared().account(), min);
            kept = scratch;
            return scratch.begin(handle.state().maxTimestamp());
        }
        return true;
    }

    /** False if there is no memory. */
    private boolean take(TreeCursor cursor) {
        if (decided.matches(cursor)) {
            return true;
        }
        decided.set(cursor);
        long timestamp = cursor.timestamp();
        if (timestamp <= known) {
            LiveBits scratch = kept;
            return scratch == null || cursor.isAntimatter() || scratch.set(timestamp);
        }
        if (findOlder(cursor.key()) == Found.MATTER && found.timestamp >= ownFrom) {
            bits.clear(found.timestamp);
        }
        return cursor.isAntimatter() || timestamp < ownFrom || bits.set(timestamp);
    }

    /**
     * Finds the newest version of a key in older components. Few keys have one, and no page stays
     * pinned: readers may need them.
     */
    private int findOlder(Slice key) {
        long hash = BloomFilter.hash(key);
        for (int i = at + 1; i < components.size(); i++) {
            DiskComponent older = components.get(i).component();
            if (older.mayContain(hash)) {
                int code = older.findKey(key, Limits.TIMESTAMP_MAX, found);
                if (code != Found.ABSENT) {
                    return code;
                }
            }
        }
        return Found.ABSENT;
    }

    private void endComponent() {
        LiveBits scratch = kept;
        if (scratch != null) {
            long min = components.get(at).state().minTimestamp();
            long max = components.get(at).state().maxTimestamp();
            bits.retain(min, Math.min(known, max), scratch);
        }
        closeComponent();
    }

    private void closeComponent() {
        TreeCursor cursor = keys;
        LiveBits scratch = kept;
        keys = null;
        kept = null;
        Cleanup all = new Cleanup();
        if (cursor != null) {
            all.add(cursor::close);
        }
        if (scratch != null) {
            all.add(scratch::close);
        }
        all.run();
    }

    /** Keys that it has read. */
    long keyCount() {
        return keyCount;
    }

    /** Lets the components go. If it has not come to its end, all that is known is forgotten. */
    @Override
    public void close() {
        new Cleanup()
                .add(this::closeComponent)
                .add(() -> components.forEach(ComponentHandle::release))
                .add(this::forget)
                .run();
    }

    private void forget() {
        if (!isLearnt) {
            // those that are known already are closed twice, which does no harm
            bits.close();
            versions.forget();
            versions.lookedInVain(2 * keyCount);
        }
    }
}
