/**
 * Where a feed's bytes come from: a file or the files of a directory, plain or gzip.
 *
 * <p>Holds reading and positions in bytes, nothing of records. Invariant: a position is the offset in
 * the file's content as a parser sees it (uncompressed), so it means the same whatever the file's form.
 * Start reading at {@link io.turbidite.feeds.source.FileSource}.
 */
@NullMarked
package io.turbidite.feeds.source;

import org.jspecify.annotations.NullMarked;
