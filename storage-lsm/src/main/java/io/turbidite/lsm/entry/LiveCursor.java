package io.turbidite.lsm.entry;

import io.turbidite.core.Limits;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;

import org.jspecify.annotations.Nullable;

/**
 * What a reader at one snapshot sees of a merged stream: for each key the newest version at or
 * below the snapshot, keys whose newest version is anti-matter left out.
 *
 * <p>Forwards, versions of a key come newest first: the first visible one decides, and the cursor
 * stands on it. Backwards they come oldest first: which is the newest is known only when the entry
 * after it is of another key or above the snapshot. So the visible one is copied, and the merged
 * stream stands one entry ahead. To turn from there is to move it back over the versions of the
 * current key.
 *
 * <p><em>Confined to one thread.</em> Owns the cursor it reads. If two entries have the same key
 * and the same timestamp, the first one in order counts.
 */
public final class LiveCursor implements EntryCursor {
    private final EntryCursor versions;
    private final long snapshot;

    /**
     * The key whose further versions do not matter: those of the current entry, or of a deleted
     * one.
     */
    private final KeyCopy decided = new KeyCopy();

    /** Whether the current entry is the one that {@link #versions} stands on. */
    private boolean standsOnEntry;

    /**
     * Whether the current entry, or the gap, lies before the one that {@link #versions} stands on.
     */
    private boolean isAhead;

    /**
     * Whether {@link #versions} stands on an entry while it is ahead, not in the gap at the start.
     */
    private boolean aheadOnEntry;

    /** Made by the first move backwards: most cursors never see one. */
    private @Nullable ByteSink copiedValue;

    private long copiedTimestamp;
    private long copiedCheckedUntil;
    private boolean copiedAntimatter;
    private final Slice copiedKeySlice = new Slice();
    private final Slice copiedValueSlice = new Slice();
    private final Slice batchKey = new Slice();

    private LiveCursor(EntryCursor versions, long snapshot) {
        this.versions = versions;
        this.snapshot = snapshot;
    }

    /**
     * What a reader at {@code snapshot} sees.
     *
     * @param versions all versions, in order (key ascending, timestamp descending)
     * @param snapshot the newest timestamp that the reader may see
     */
    public static LiveCursor of(EntryCursor versions, long snapshot) {
        return new LiveCursor(versions, snapshot);
    }

    @Override
    public void seek(Slice key) {
        leaveEntry();
        versions.seek(key);
    }

    @Override
    public void seekEnd() {
        leaveEntry();
        versions.seekEnd();
    }

    private void leaveEntry() {
        decided.forget();
        standsOnEntry = false;
        isAhead = false;
    }

    @Override
    public boolean next() {
        if (standsOnEntry) {
            decided.set(versions);
            standsOnEntry = false;
        }
        // ahead, the current key's versions come once more: they are decided, as its copy is
        isAhead = false;
        while (versions.next()) {
            if (versions.timestamp() > snapshot || decided.matches(versions)) {
                continue;
            }
            if (versions.isAntimatter()) {
                decided.set(versions);
                continue;
            }
            standsOnEntry = true;
            return true;
        }
        return false;
    }

    /** As far as each is of a key of its own, and seen. */
    @Override
    public void showAhead(EntriesAhead ahead) {
        if (!standsOnEntry || isAhead) {
            ahead.clear();
            return;
        }
        versions.showAhead(ahead);
        if (ahead.count() > 0) {
            ahead.cutToSeen(snapshot, versions.keyPrefix(), versions.keySecond());
        }
    }

    @Override
    public void skip(int count) {
        versions.skip(count);
    }

    @Override
    public boolean fill(EntryBatch batch, int countMax) {
        if (standsOnEntry) {
            decided.set(versions);
            standsOnEntry = false;
        }
        isAhead = false;
        do {
            batch.clear();
            if (!versions.fill(batch, countMax)) {
                return false;
            }
            keepShown(batch);
        } while (batch.count() == 0);
        return true;
    }

    /** Of a batch of versions keeps what the reader sees, and remembers the last key decided. */
    private void keepShown(EntryBatch batch) {
        int count = batch.count();
        int kept = 0;
        int last = -1;
        for (int i = 0; i < count; i++) {
            if (batch.timestamp(i) > snapshot
                    || (last < 0
                            ? decided.matches(batch.key(i, batchKey))
                            : batch.hasSameKey(last, i))) {
                continue;
            }
            last = i;
            if (!batch.isAntimatter(i)) {
                if (kept < i) {
                    batch.move(i, kept);
                }
                kept++;
            }
        }
        if (last >= 0) {
            // nothing was moved to its place since: what comes behind it was not kept
            decided.set(batch.key(last, batchKey));
        }
        batch.truncate(kept);
    }

    @Override
    public boolean previous() {
        boolean onEntry = isAhead ? aheadOnEntry : versions.previous();
        standsOnEntry = false;
        isAhead = false;
        while (onEntry) {
            if (versions.timestamp() > snapshot) {
                onEntry = versions.previous();
                continue;
            }
            onEntry = copyNewest();
            if (!copiedAntimatter) {
                isAhead = true;
                aheadOnEntry = onEntry;
                return true;
            }
        }
        decided.forget();
        return false;
    }

    /**
     * Copies the newest visible version of the key that {@link #versions} stands on, and moves past
     * it.
     *
     * @return whether it stands on an entry then
     */
    private boolean copyNewest() {
        ByteSink copied = copiedValue;
        if (copied == null) {
            copied = new ByteSink(256, Limits.RECORD_BYTES_MAX);
            copiedValue = copied;
        }
        decided.set(versions);
        boolean sameKey = true;
        boolean onEntry = true;
        while (sameKey && versions.timestamp() <= snapshot) {
            copiedTimestamp = versions.timestamp();
            copiedCheckedUntil = versions.checkedUntil();
            copiedAntimatter = versions.isAntimatter();
            copied.clear().putBytes(versions.value());
            onEntry = versions.previous();
            sameKey = onEntry && decided.matches(versions);
        }
        copied.asSlice(copiedValueSlice);
        return onEntry;
    }

    @Override
    public Slice key() {
        return isAhead ? decided.asSlice(copiedKeySlice) : versions.key();
    }

    @Override
    public long timestamp() {
        return isAhead ? copiedTimestamp : versions.timestamp();
    }

    @Override
    public long checkedUntil() {
        return isAhead ? copiedCheckedUntil : versions.checkedUntil();
    }

    /** Never: deleted keys are not shown. */
    @Override
    public boolean isAntimatter() {
        return false;
    }

    @Override
    public boolean isInMemory() {
        return !isAhead && versions.isInMemory();
    }

    @Override
    public long pageCount() {
        return versions.pageCount();
    }

    @Override
    public Slice value() {
        return isAhead ? copiedValueSlice : versions.value();
    }

    @Override
    public void close() {
        versions.close();
        decided.release();
    }
}
