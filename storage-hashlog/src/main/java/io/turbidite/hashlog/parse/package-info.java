/**
 * Parsers: from the bytes of one record to the few fields that somebody wants (FISH19 §3.2).
 *
 * <p>Holds what a parser is ({@link io.turbidite.hashlog.parse.RecordParser}), how one is described ({@link
 * io.turbidite.hashlog.parse.ParserSpec}: JSON, CSV, binary), which fields it looks for ({@link
 * io.turbidite.hashlog.parse.FieldPath}), what it finds ({@link io.turbidite.hashlog.parse.FieldValues}) and
 * why it refuses a record ({@link io.turbidite.hashlog.parse.Rejection}). Knows nothing of PSFs, logs or
 * chains. Invariant: a parser makes no garbage per record, takes in no byte outside of it, and gives the
 * same answer whichever way ({@link io.turbidite.hashlog.parse.ScanMode}) the machine lets it read.
 *
 * <p>JSON has two stages: bitmaps of structural characters ({@code BlockMasks}, {@code StructuralIndex}), and
 * a walk over them ({@code JsonParser}); start there.
 */
@NullMarked
package io.turbidite.hashlog.parse;

import org.jspecify.annotations.NullMarked;
