/**
 * The JDBC driver: {@code jdbc:turbidite:/path[?readOnly=true]}.
 *
 * <p>Holds {@link io.turbidite.ops.jdbc.TurbiditeDriver}, which {@link java.sql.DriverManager}
 * finds, and behind it connections, statements, results and their descriptions. A store is opened
 * by {@link io.turbidite.core.catalog.OpenCatalog}, once for all connections of a process; {@code
 * ops.sql} plans and runs. Invariants: what is not supported throws {@link
 * java.sql.SQLFeatureNotSupportedException}; whatever fails below is a {@link
 * java.sql.SQLException} with a state; nothing is written to standard error. Nothing outside this
 * room names a class of {@code java.sql}, so who uses no JDBC needs no such module.
 */
@NullMarked
package io.turbidite.ops.jdbc;

import org.jspecify.annotations.NullMarked;
