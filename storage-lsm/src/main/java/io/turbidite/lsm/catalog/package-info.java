/**
 * A store as the contract of catalogs has it, for SQL and JDBC.
 *
 * <p>Holds {@link io.turbidite.lsm.catalog.StoreCatalog} and what {@link java.util.ServiceLoader}
 * finds. Invariant: it asks a store as an application does, by its public calls alone.
 */
@NullMarked
package io.turbidite.lsm.catalog;

import org.jspecify.annotations.NullMarked;
