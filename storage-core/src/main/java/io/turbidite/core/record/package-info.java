/**
 * The record codec: the bytes of a record with declared and open fields, and the ways to write and
 * read them.
 *
 * <p>Holds {@link io.turbidite.core.record.RecordWriter} (Java values, JSON or primitives to
 * bytes), {@link io.turbidite.core.record.RecordView} (a flyweight that reads one field without
 * parsing the rest, and prints JSON) and {@link io.turbidite.core.record.ValueParser} (values
 * written as text). Does not hold keys: {@code core.key} makes order-preserving bytes, and reads
 * records through a view.
 *
 * <p>Invariants: equal declared values give equal bytes, in whatever order they were set. No
 * coercion loses information, except that times are cut to microseconds. Damaged bytes give a
 * {@link io.turbidite.core.CorruptionException} and nothing else. Start reading at {@code
 * RecordFormat}.
 */
@NullMarked
package io.turbidite.core.record;

import org.jspecify.annotations.NullMarked;
