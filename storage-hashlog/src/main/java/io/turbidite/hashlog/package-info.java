/**
 * The hash log (design §5, FISH19): raw records at memory speed with subset hashing.
 *
 * <p>Holds the API: {@link io.turbidite.hashlog.HashLog}, {@link
 * io.turbidite.hashlog.IngestSession}, their options. The rooms below: {@code log} has the address
 * space over memory and disk, {@code table} the hash buckets, {@code chain} records and key
 * pointers, {@code parse} and {@code psf} lead from bytes to properties, {@code registry} knows
 * which PSF is indexed where. Start reading at {@code HashLog}.
 */
@NullMarked
package io.turbidite.hashlog;

import org.jspecify.annotations.NullMarked;
