/**
 * What a cluster is: the numbered log of its changes, and the map that they make.
 *
 * <p>Holds {@link io.turbidite.feeds.cluster.change.Change}, the file {@link
 * io.turbidite.feeds.cluster.change.ChangeLog} and {@link
 * io.turbidite.feeds.cluster.change.ClusterMap}. Holds no message, thread, clock or socket, and no
 * type of the engine. Invariant: a map is what the changes of its log say and nothing else; two
 * logs whose last changes have one number and one chain are the same. Start reading at {@code
 * ChangeLog}.
 */
@NullMarked
package io.turbidite.feeds.cluster.change;

import org.jspecify.annotations.NullMarked;
