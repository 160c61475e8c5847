package io.turbidite.lsm.entry;

import io.turbidite.core.bytes.Slice;

/**
 * What a reader at one snapshot sees of a merged stream: for each key the newest version at or below the
 * snapshot, keys whose newest version is anti-matter left out.
 *
 * <p><em>Confined to one thread.</em> Owns the cursor it reads. If two entries have the same key and the
 * same timestamp, the first one counts.
 */
public final class LiveCursor implements EntryCursor {
    private final EntryCursor versions;
    private final long snapshot;
    private final KeyCopy decided = new KeyCopy();
    private boolean standsOnEntry;

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
        decided.forget();
        standsOnEntry = false;
        versions.seek(key);
    }

    @Override
    public boolean next() {
        if (standsOnEntry) {
            decided.set(versions.key());
            standsOnEntry = false;
        }
        while (versions.next()) {
            if (versions.timestamp() > snapshot || decided.matches(versions.key())) {
                continue;
            }
            if (versions.isAntimatter()) {
                decided.set(versions.key());
                continue;
            }
            standsOnEntry = true;
            return true;
        }
        return false;
    }

    @Override
    public Slice key() {
        return versions.key();
    }

    @Override
    public long timestamp() {
        return versions.timestamp();
    }

    /** Never: deleted keys are not shown. */
    @Override
    public boolean isAntimatter() {
        return false;
    }

    @Override
    public Slice value() {
        return versions.value();
    }

    @Override
    public void close() {
        versions.close();
    }
}
