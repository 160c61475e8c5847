package io.turbidite.pm.postings;

import io.turbidite.core.bytes.Slice;

/** Says which entries nobody will read again, and learns which are gone. */
public interface Judge {
    /** Keeps everything that is not marked. */
    Judge KEEPS_ALL = new Judge() {
        @Override
        public boolean isGarbage(Slice primaryKey, long timestamp) {
            return false;
        }

        @Override
        public void collected(Slice primaryKey, boolean wasMarked) {
            // nobody counts
        }

        @Override
        public void marked(Slice primaryKey) {
            // nobody counts
        }
    };

    /** Whether a newer version supersedes this one for every reader, of now and later. */
    boolean isGarbage(Slice primaryKey, long timestamp);

    /**
     * An entry is gone, durably.
     *
     * @param wasMarked whether it was marked stale before
     */
    void collected(Slice primaryKey, boolean wasMarked);

    /** An entry that is garbage was marked: no reader gets it any more. */
    void marked(Slice primaryKey);
}
