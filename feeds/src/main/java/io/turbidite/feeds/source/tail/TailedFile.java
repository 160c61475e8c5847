package io.turbidite.feeds.source.tail;

import io.turbidite.core.file.DiskFile;

import org.jspecify.annotations.Nullable;

/**
 * A content that the feed follows, and where it is at present. <em>Confined to the thread of the
 * run.</em>
 */
final class TailedFile {
    /** Its partition's name. */
    final String partition;

    /** Behind what was given out; null if that is nothing. */
    @Nullable
    TailPosition position;

    /** Of the file that holds it, or held it last. */
    String identity = "";

    /** The name of that file. */
    String name = "";

    /** Whether a file of the directory holds it now. */
    boolean isThere;

    /** Whether the file that held it holds something else: only a copy can hold it still. */
    boolean isOrphan;

    boolean isGzip;

    /** Of a compressed content: it has been read to its end. */
    boolean isRead;

    /** Kept open while it grows, so that it can be read when its name is gone. */
    @Nullable
    DiskFile handle;

    /** Its first bytes, as many as were looked at; only a content that is lost changes them. */
    byte[] first = new byte[0];

    /** As last seen, as the file lies there. */
    long fileBytes;

    long modifiedMicros;

    /** When its file was found to have no name any more. */
    long namelessNanos;

    /** When it was last seen to grow. */
    long grewNanos;

    TailedFile(String partition) {
        this.partition = partition;
    }

    long offset() {
        TailPosition at = position;
        return at == null ? 0 : at.offset();
    }

    /** Whether it may have bytes that were not given out. */
    boolean mayHaveMore() {
        if (handle != null && !isThere) {
            return true;
        }
        return isThere && (isGzip ? !isRead : fileBytes > offset());
    }

    /** Lets go of the file. */
    void release() {
        DiskFile open = handle;
        handle = null;
        if (open != null) {
            open.close();
        }
    }

    /** The content is not in this file any more. */
    void lose() {
        release();
        isThere = false;
        isOrphan = true;
        first = new byte[0];
    }
}
