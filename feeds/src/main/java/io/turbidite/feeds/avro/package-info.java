/**
 * Avro: its object files, the messages of a schema registry, and what their values are as JSON.
 *
 * <p>{@link io.turbidite.feeds.avro.ObjectFileCutter} cuts a file into its records;
 * {@link io.turbidite.feeds.avro.AvroRecordParser} reads messages. Both turn a datum into the JSON
 * text of a record by the schema that it was written with, and leave the rest to the parser of
 * JSON. Invariant: no length or count in the bytes is believed before as many bytes are there, and
 * no class is loaded because a schema names it. Start reading at {@code DatumReader}.
 *
 * <p>The library is optional: of this room only {@code SchemaReader} touches it, and only {@code
 * BlockCodec} those that unpack blocks.
 */
@NullMarked
package io.turbidite.feeds.avro;

import org.jspecify.annotations.NullMarked;
