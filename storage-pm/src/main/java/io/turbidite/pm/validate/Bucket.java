package io.turbidite.pm.validate;

import io.turbidite.core.bytes.Slice;
import io.turbidite.pm.cells.Node;
import io.turbidite.pm.cells.NodeImage;
import io.turbidite.pm.cells.Staged;
import io.turbidite.pm.region.Region;
import io.turbidite.pm.region.RegionMemory;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;

/**
 * Copies of the nodes of one bucket: nodes behind each other that begin at the same hash. Most have
 * one; those of long keys have several.
 *
 * <p><em>Confined to the writer</em>, and reused.
 */
final class Bucket {
    private final List<NodeImage> images = new ArrayList<>();
    private int nodeCount;
    private long next;

    /** Copies the bucket that begins with a node. */
    void load(RegionMemory memory, long first) {
        nodeCount = 0;
        long low = Node.low(memory, first);
        next = first;
        do {
            add().load(memory, next);
            next = Node.next(memory, next);
        } while (next != 0 && Node.low(memory, next) == low);
    }

    /** Copies a bucket that was reached when the region was opened, and checks it. */
    void claim(Region region, long first) {
        RegionMemory memory = region.memory();
        nodeCount = 0;
        next = first;
        do {
            NodeImage image = add();
            image.claim(region, next);
            image.check(memory, Node.Kind.BUCKET);
            next = Node.next(memory, next);
        } while (next != 0
                && next + Node.BYTES <= memory.byteSize()
                && Node.low(memory, next) == low());
    }

    private NodeImage add() {
        if (nodeCount == images.size()) {
            images.add(new NodeImage());
        }
        return images.get(nodeCount++);
    }

    int nodeCount() {
        return nodeCount;
    }

    NodeImage image(int index) {
        return images.get(index);
    }

    /** The smallest hash that belongs here. */
    long low() {
        return images.getFirst().low();
    }

    /** Where the next bucket begins; 0 if this is the last. */
    long next() {
        return next;
    }

    /** The node that has a key; null if none has. */
    @Nullable
    NodeImage imageOf(Slice key, long hash) {
        for (int i = 0; i < nodeCount; i++) {
            if (images.get(i).find(key, hash) >= 0) {
                return images.get(i);
            }
        }
        return null;
    }

    /** The first node that has room for a key; null if none has. */
    @Nullable
    NodeImage imageWithRoom(int keyBytes) {
        for (int i = 0; i < nodeCount; i++) {
            if (images.get(i).fits(keyBytes)) {
                return images.get(i);
            }
        }
        return null;
    }

    void stageValid(Staged staged) {
        for (int i = 0; i < nodeCount; i++) {
            images.get(i).stageValid(staged);
        }
    }
}
