/** Tests of the JDBC driver over stores, by JDBC's own calls. */
@NullMarked
package io.turbidite.it.jdbc;

import org.jspecify.annotations.NullMarked;
