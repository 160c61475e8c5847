/**
 * The record codec: how a record of declared and open fields lies in bytes, and the ways in and out.
 *
 * <p>Holds {@link io.turbidite.core.record.RecordWriter} (Java values, JSON or primitives to bytes),
 * {@link io.turbidite.core.record.RecordView} (a flyweight that reads one field without parsing the
 * rest, and prints JSON) and {@link io.turbidite.core.record.ValueParser} (values written as text). Does
 * not hold keys: order-preserving bytes are {@code core.key}, which reads records through a view.
 *
 * <p>Invariants: equal declared values give equal bytes, whatever order they were set in; nothing is
 * coerced that loses information, except that times are cut to microseconds; damaged bytes give a {@link
 * io.turbidite.core.CorruptionException} and nothing else. Start reading at {@code RecordFormat}.
 */
@NullMarked
package io.turbidite.core.record;

import org.jspecify.annotations.NullMarked;
