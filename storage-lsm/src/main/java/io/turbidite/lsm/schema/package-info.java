/**
 * Datasets and indexes as the engine sees them: names resolved to field numbers, key codecs and
 * ids.
 *
 * <p>Made once from a checked {@code DatasetSpec}, kept in the manifest, immutable. Holds no data
 * and does no I/O. Start reading at {@link io.turbidite.lsm.schema.DatasetSchema}.
 */
@NullMarked
package io.turbidite.lsm.schema;

import org.jspecify.annotations.NullMarked;
