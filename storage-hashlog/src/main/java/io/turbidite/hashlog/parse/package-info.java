/**
 * Parsers: from the bytes of one record to the few fields that somebody wants (FISH19 §3.2).
 *
 * <p>Holds how a parser is described ({@link io.turbidite.hashlog.parse.ParserSpec}), which fields it looks
 * for ({@link io.turbidite.hashlog.parse.FieldPath}) and why it refuses a record ({@link
 * io.turbidite.hashlog.parse.Rejection}). Knows nothing of PSFs, logs or chains.
 */
@NullMarked
package io.turbidite.hashlog.parse;

import org.jspecify.annotations.NullMarked;
