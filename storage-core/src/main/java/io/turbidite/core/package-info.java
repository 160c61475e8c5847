/**
 * Errors and limits that every room shares.
 *
 * <p>Holds the sealed family of {@link io.turbidite.core.StorageException}, the stated {@link
 * io.turbidite.core.Limits}, and {@link io.turbidite.core.Undo}, which takes back what was done
 * before a failure. Holds no other behaviour. Invariant: "not found" and "full" are values, never
 * exceptions. Start reading at {@code StorageException}.
 */
@NullMarked
package io.turbidite.core;

import org.jspecify.annotations.NullMarked;
