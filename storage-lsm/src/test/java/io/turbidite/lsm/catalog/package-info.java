/** Tests of the contract of catalogs as a store keeps it. */
@NullMarked
package io.turbidite.lsm.catalog;

import org.jspecify.annotations.NullMarked;
