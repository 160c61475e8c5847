/**
 * Lists of primary keys, one for each secondary key, newest first: the primary-key layer of the
 * PS-Tree (PERS24 §4.2).
 *
 * <p>{@link io.turbidite.pm.postings.Group} is the format: entries that lie together, and where the
 * older ones are. {@link io.turbidite.pm.postings.PostingCursor} reads a list, {@link
 * io.turbidite.pm.postings.PostingWriter} appends to pages and rewrites full ones, asking a {@link
 * io.turbidite.pm.postings.Judge} what is garbage. Invariants: what was written is never changed,
 * but for the mark of a stale entry; a group leads to older ones only. Start reading at {@code
 * Group}.
 */
@NullMarked
package io.turbidite.pm.postings;

import org.jspecify.annotations.NullMarked;
