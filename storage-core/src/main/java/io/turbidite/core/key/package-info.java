/**
 * Keys: byte strings whose unsigned lexicographic order is the order of the values (D1).
 *
 * <p>Holds {@link io.turbidite.core.key.KeyCodec}, the encoding of one value of each kind, and
 * {@link io.turbidite.core.key.KeySpec}, the key that some fields of a record make. Holds no ranges
 * and no indexes; those are in {@code core.scan} and the stores.
 *
 * <p>Invariants: the order of bytes is the order of values, null first. An encoding is
 * self-delimiting, and no encoding is a prefix of another of its kind; so keys can be concatenated,
 * and a key's first fields are a prefix of it. Equal values have equal bytes. Start reading at
 * {@code KeyCodec}.
 */
@NullMarked
package io.turbidite.core.key;

import org.jspecify.annotations.NullMarked;
