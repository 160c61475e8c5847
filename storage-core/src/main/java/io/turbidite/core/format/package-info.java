/**
 * The envelope every file has (D5): a header that says what the file is and whose it is, checksums, and
 * a footer that says where its table of contents lies.
 *
 * <p>Holds the descriptors {@link io.turbidite.core.format.FileHeader} and {@link
 * io.turbidite.core.format.FileFooter} and the checksum {@link io.turbidite.core.format.Crc32c}. Holds no
 * input or output beyond one read or write of a descriptor, and nothing of what lies between header and
 * footer. Invariant: header and footer layouts never change; what may change is the format version that
 * the header names. Start reading at {@code FileHeader}.
 */
@NullMarked
package io.turbidite.core.format;

import org.jspecify.annotations.NullMarked;
