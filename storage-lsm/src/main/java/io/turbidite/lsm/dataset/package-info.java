/**
 * A dataset of an open store, as writers and schema changes see it: its partitions, its present
 * schema, who may do what with it, and its counts.
 *
 * <p>Does not know the steps of a write, nor who changes a schema. Invariant: a schema is replaced
 * as a whole. Code that needs two things of a schema takes both from one {@link
 * io.turbidite.lsm.schema.DatasetSchema}. Start reading at {@link
 * io.turbidite.lsm.dataset.OpenDataset}.
 */
@NullMarked
package io.turbidite.lsm.dataset;

import org.jspecify.annotations.NullMarked;
