/**
 * Parsers: from the bytes of one record to the few wanted fields (FISH19 §3.2).
 *
 * <p>Holds the parser itself ({@link io.turbidite.hashlog.parse.RecordParser}), its description
 * ({@link io.turbidite.hashlog.parse.ParserSpec}: JSON, CSV, binary), the fields it looks for
 * ({@link io.turbidite.core.expr.FieldPath}), the values it finds ({@link
 * io.turbidite.hashlog.parse.FieldValues}) and the reason why it refuses a record ({@link
 * io.turbidite.hashlog.parse.Rejection}). Knows nothing of PSFs, logs or chains. Invariant: a
 * parser makes no garbage per record, reads no byte outside of it, and gives the same answer in
 * every {@link io.turbidite.hashlog.parse.ScanMode} of the machine.
 *
 * <p>JSON has two stages: bitmaps of structural characters ({@code BlockMasks}, {@code
 * StructuralIndex}), and a walk over them ({@code JsonParser}); start there.
 */
@NullMarked
package io.turbidite.hashlog.parse;

import org.jspecify.annotations.NullMarked;
