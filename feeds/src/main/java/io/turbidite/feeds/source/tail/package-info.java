/**
 * Files that others write: the records of all files of a directory whose names fit a pattern, as
 * they come, while files are rotated, truncated, compressed and deleted.
 *
 * <p>Invariant: a partition is one content, whatever file holds it: {@link
 * io.turbidite.feeds.source.tail.TailSource} finds it again by the file's identity and by what
 * stands before its position. Start reading there.
 */
@NullMarked
package io.turbidite.feeds.source.tail;

import org.jspecify.annotations.NullMarked;
