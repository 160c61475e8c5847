/**
 * The envelope of every file (D5): a header that says what the file is and whom it belongs to,
 * checksums, and a footer that says where its table of contents is.
 *
 * <p>Holds the descriptors {@link io.turbidite.core.format.FileHeader} and {@link
 * io.turbidite.core.format.FileFooter}, the checksum {@link io.turbidite.core.format.Crc32c}, and
 * {@link io.turbidite.core.format.Envelope} for files that are read and written at once. Knows
 * nothing of the bytes between header and footer. Invariant: header and footer layouts never
 * change; only the format version that the header names may change. Start reading at
 * {@code FileHeader}.
 */
@NullMarked
package io.turbidite.core.format;

import org.jspecify.annotations.NullMarked;
