package io.turbidite.pm.index;

import io.turbidite.core.bytes.Slice;
import io.turbidite.pm.postings.PostingCursor;
import io.turbidite.pm.validate.Validation;

/**
 * Finds the entries of a secondary key, newest first, that are valid at a snapshot.
 *
 * <p><em>Confined to one thread</em>, which is inside an epoch from {@link #open} to its last step;
 * reused, it allocates nothing but hints. What the caller's memory layers hold is decided there,
 * before it believes an entry of this search.
 */
public final class PmSearch {
    /** Of a leaf the heads of its cells are read, and a cell. */
    private static final int LEAF_BLOCKS = 2;

    private final PmIndex index;
    private final PostingCursor postings;
    private final Slice key = new Slice();
    private final Hints.Probe probe = new Hints.Probe();
    private long snapshot;
    private long through;
    private boolean hinted;
    private boolean needsPrimary;
    private long entriesRead;
    private long staleCount;
    private long leafBlocksRead;

    PmSearch(PmIndex index) {
        this.index = index;
        this.postings = index.tree().postings();
    }

    /**
     * Goes before the newest entry of a key.
     *
     * @param secondaryKey must not change before the last step
     * @param newSnapshot what the reader sees
     * @param newThrough what its version has absorbed: newer entries are in its memory layers
     */
    public void open(Slice secondaryKey, long newSnapshot, long newThrough) {
        key.set(secondaryKey);
        snapshot = newSnapshot;
        through = Math.min(newSnapshot, newThrough);
        hinted = false;
        postings.open(index.tree().find(secondaryKey));
        leafBlocksRead += LEAF_BLOCKS;
    }

    /**
     * Goes to the next entry that is valid, or that only the primary can decide.
     *
     * @return whether there is one
     */
    public boolean next() {
        while (postings.next()) {
            entriesRead++;
            long timestamp = postings.timestamp();
            if (postings.isMarked()) {
                staleCount++;
                continue;
            }
            if (timestamp > through) {
                continue;
            }
            Validation.Answer answer =
                    index.validation().check(postings.primaryKey(), timestamp, snapshot);
            if (answer == Validation.Answer.STALE) {
                staleCount++;
                hint();
                continue;
            }
            needsPrimary = answer == Validation.Answer.ASK_PRIMARY;
            return true;
        }
        return false;
    }

    private void hint() {
        if (!hinted) {
            hinted = true;
            index.hint(key, probe);
        }
    }

    /** Valid until the next call. */
    public Slice primaryKey() {
        return postings.primaryKey();
    }

    public long timestamp() {
        return postings.timestamp();
    }

    /** Whether the primary has to say if this is the version that the snapshot sees. */
    public boolean needsPrimary() {
        return needsPrimary;
    }

    /** Entries read so far, stale ones too. */
    public long entriesRead() {
        return entriesRead;
    }

    /** Stale entries among them. */
    public long staleCount() {
        return staleCount;
    }

    /** Groups read so far. */
    public long groupsRead() {
        return postings.groupsRead();
    }

    /** Blocks of the medium read so far, those of leaves among them. */
    public long blocksRead() {
        return leafBlocksRead + postings.blocksRead();
    }
}
