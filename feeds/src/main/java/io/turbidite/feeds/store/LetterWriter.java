package io.turbidite.feeds.store;

import io.turbidite.core.bytes.Slice;

/**
 * One lane's hand on the file of dead letters. From the first letter of a batch until the batch is
 * written, or was given up, no other lane has one: the file's length is committed with the batch,
 * so what stands below it must be of batches that are written. <em>Confined to the lane's
 * thread.</em>
 */
final class LetterWriter {
    private final DeadLetterFile file;
    private boolean holds;

    /** The file's length before the batch in hand. */
    private long start;

    LetterWriter(DeadLetterFile file) {
        this.file = file;
    }

    /**
     * Appends whole lines and makes them durable.
     *
     * @return false if another lane is at it, and nothing was appended of this batch
     */
    boolean append(Slice lines) {
        if (lines.length() == 0) {
            return true;
        }
        if (!holds) {
            if (!file.tryHold()) {
                return false;
            }
            holds = true;
            start = file.byteCount();
        }
        file.append(lines);
        return true;
    }

    /** Lets go of the file, if this lane has it; what a batch that is not written has is undone. */
    void end(boolean isWritten) {
        if (!holds) {
            return;
        }
        holds = false;
        if (!isWritten) {
            file.goBack(start);
        }
        file.letGo();
    }

    /**
     * Nobody has the file any more: whether the batch in hand, and its letters with it, is in the
     * store can't be said before that is opened again.
     */
    void fail() {
        if (holds) {
            holds = false;
            file.fail();
        }
    }

    /** To be committed with the position, while there are letters of the batch. */
    long byteCount() {
        return file.byteCount();
    }
}
