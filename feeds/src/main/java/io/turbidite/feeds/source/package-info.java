/**
 * Where a feed's bytes come from: a file or the files of a directory, plain or gzip.
 *
 * <p>Holds reading and positions in bytes, nothing of records. Invariants: a position is the offset in
 * the file's content as a parser sees it (uncompressed), so it means the same whatever the file's form;
 * nothing of a member of gzip is given out before its checksum was found right.
 * Start reading at {@link io.turbidite.feeds.source.FileSource}.
 */
@NullMarked
package io.turbidite.feeds.source;

import org.jspecify.annotations.NullMarked;
