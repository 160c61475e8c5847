/**
 * From bytes to records: cutting, splitting, converting, transforming.
 *
 * <p>{@link io.turbidite.feeds.parse.RecordFramer} cuts the bytes of a source into frames of one
 * record each that know their position. A {@link io.turbidite.feeds.parse.RecordParser} turns a
 * frame into the encoded form of a record type, or says in a sentence why it can't. Holds no files
 * and no store. Invariant: every byte of the source is in exactly one frame or in a line end
 * between frames, whatever is wrong with it. Start reading at {@code RecordFramer}.
 */
@NullMarked
package io.turbidite.feeds.parse;

import org.jspecify.annotations.NullMarked;
