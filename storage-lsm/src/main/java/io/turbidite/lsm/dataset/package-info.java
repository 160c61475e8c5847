/**
 * A dataset of an open store, as writers and changes of its schema see it: its partitions, its schema of now, who
 * may do what with it, and what was counted of it.
 *
 * <p>Does not know how a write goes, nor who changes a schema. Invariant: a schema is replaced as a whole; whoever
 * needs two things of it takes both from one {@link io.turbidite.lsm.schema.DatasetSchema}. Start reading at
 * {@link io.turbidite.lsm.dataset.OpenDataset}.
 */
@NullMarked
package io.turbidite.lsm.dataset;

import org.jspecify.annotations.NullMarked;
