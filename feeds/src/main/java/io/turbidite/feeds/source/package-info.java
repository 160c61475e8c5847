/**
 * The bytes of a feed: a file or the files of a directory, plain or gzip.
 *
 * <p>Holds reading and positions in bytes, and nothing about records. Invariants: a position is the
 * offset in the file's content as a parser sees it (uncompressed), so it means the same whatever
 * the file's form; a source gives out nothing of a gzip member before it has found the member's
 * checksum right. Start reading at {@link io.turbidite.feeds.source.FileSource}.
 */
@NullMarked
package io.turbidite.feeds.source;

import org.jspecify.annotations.NullMarked;
