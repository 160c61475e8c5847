/**
 * Blocked Bloom filters over 64-bit key hashes.
 *
 * <p>Holds the filter, its builder, its bytes and the project's one key hash. Invariant: a filter
 * never denies a key that was added to it, in any release: {@link
 * io.turbidite.core.bloom.BloomFilter#hash} and the bytes of {@link
 * io.turbidite.core.bloom.BloomFormat} are formats on disk. Start reading at {@code BloomFilter}.
 */
@NullMarked
package io.turbidite.core.bloom;

import org.jspecify.annotations.NullMarked;
