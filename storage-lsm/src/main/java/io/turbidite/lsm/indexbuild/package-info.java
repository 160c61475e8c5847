/**
 * Building a secondary index on a dataset that holds records, while writers go on.
 *
 * <p>Writers maintain the index from a timestamp on. This room builds the entries below that
 * timestamp from the disk components of the primary, component by component with their IDs (design
 * §4 rule 9). It installs nothing and waits for nobody; the schema work does. Start reading at
 * {@link PartitionBuild}.
 */
@NullMarked
package io.turbidite.lsm.indexbuild;

import org.jspecify.annotations.NullMarked;
