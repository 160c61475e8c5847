/**
 * Types of fields and records, and the Java values that stand for them.
 *
 * <p>A record type is open: it declares some fields, and a record may carry more. Immutable
 * throughout. Start reading at {@link io.turbidite.core.type.RecordType}.
 */
@NullMarked
package io.turbidite.core.type;

import org.jspecify.annotations.NullMarked;
