package io.turbidite.lsm.version;

import io.turbidite.lsm.schema.TreeId;

/**
 * A region as a version has it. <em>Immutable.</em>
 *
 * @param tree of the index in memory layers
 * @param through what the version's memory layers leave to the region: newer entries in it are in
 *     those, too
 */
public record RegionLayer(TreeId tree, RegionHandle handle, long through) {
    RegionLayer through(long timestamp) {
        return new RegionLayer(tree, handle, timestamp);
    }
}
