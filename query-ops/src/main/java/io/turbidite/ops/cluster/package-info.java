/**
 * Jobs on the nodes of a cluster, which a distributed engine, Apache Hyracks, runs.
 *
 * <p>Holds the host that has an engine's task run each stage of a job ({@link
 * io.turbidite.ops.cluster.ClusterController}), the nodes that do it, and what makes an old engine
 * fit: its sockets, which speak TLS with members of the cluster alone, and the filter of what it
 * may deserialize. Holds no store, no file and no placement: those are given. Invariants: no type
 * of the engine is seen outside; nothing listens that is not authenticated; a task holds at most
 * one frame for each of its inputs. Start reading at {@code StageTask}.
 */
@NullMarked
package io.turbidite.ops.cluster;

import org.jspecify.annotations.NullMarked;
