package io.turbidite.feeds.store;

import io.turbidite.feeds.flow.Batch;
import io.turbidite.feeds.source.FileSource.Head;

import org.jspecify.annotations.Nullable;

/**
 * How far a feed has got with a file. <em>Immutable.</em>
 *
 * @param offset bytes of the (uncompressed) content that are delivered
 * @param line the line that begins there, from 1
 * @param ended whether that was the end of the content
 * @param fileBytes how large the file was then, as it lies there; of gzip that has not ended, how
 *     much of it was proven: what is behind that may be damaged, and be of another length when it
 *     is mended
 * @param head what it began with, of gzip as far as it was proven: tells it from another file that
 *     takes its name
 * @param records how many records of it the store has accepted
 * @param rejected how many became dead letters
 */
public record FilePosition(
        long offset,
        long line,
        boolean ended,
        long fileBytes,
        Head head,
        long records,
        long rejected) {
    /**
     * The position behind a batch.
     *
     * @param before the one that the batch begins at, or null if it is the first of its file
     * @param taken records of the batch that are accepted
     * @param refused those that are not
     */
    public static FilePosition behind(
            Batch batch, @Nullable FilePosition before, int taken, int refused) {
        return new FilePosition(
                batch.endOffset(),
                batch.endLine(),
                batch.fileEnded(),
                batch.fileBytes(),
                batch.head(),
                (before == null ? 0 : before.records) + taken,
                (before == null ? 0 : before.rejected) + batch.rejectedCount() + refused);
    }
}
