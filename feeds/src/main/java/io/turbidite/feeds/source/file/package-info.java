/**
 * The bytes of files: one, or those of a directory, plain or gzip, and the records in them.
 *
 * <p>Invariants: a position is the offset in the file's content as a parser sees it (uncompressed),
 * so it means the same whatever the file's form; a source gives out nothing of a gzip member before
 * it has found the member's checksum right. Object files of Avro have a reader of their own, in
 * whose positions the offset is that of a block. Start reading at {@link
 * io.turbidite.feeds.source.file.FileSource}.
 */
@NullMarked
package io.turbidite.feeds.source.file;

import org.jspecify.annotations.NullMarked;
