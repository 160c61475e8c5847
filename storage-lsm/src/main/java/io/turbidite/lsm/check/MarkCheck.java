package io.turbidite.lsm.check;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.scan.RecordCursor;
import io.turbidite.lsm.entry.EntryCursor;
import io.turbidite.lsm.entry.LiveCursor;
import io.turbidite.lsm.memory.MemoryComponent;
import io.turbidite.lsm.merge.MergeCursor;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.schema.TreeId;
import io.turbidite.lsm.version.ComponentHandle;
import io.turbidite.lsm.version.MemoryLayer;
import io.turbidite.lsm.version.Version;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;

/**
 * The live keys of a partition at a snapshot by reconciling all layers, without a look at any
 * bitmap.
 *
 * <p><em>Confined to one thread.</em> Holds a version until it is closed.
 */
final class MarkCheck implements AutoCloseable {
    private final Version pinned;
    private final EntryCursor keys;

    private MarkCheck(Version pinned, EntryCursor keys) {
        this.pinned = pinned;
        this.keys = keys;
    }

    static MarkCheck open(Partition partition, long snapshot) {
        Version pinned = partition.pin();
        MarkCheck opened = null;
        try {
            opened = new MarkCheck(pinned, LiveCursor.of(layers(pinned), snapshot));
            return opened;
        } finally {
            if (opened == null) {
                pinned.unpin();
            }
        }
    }

    /** They hold nothing before the first move. */
    private static EntryCursor layers(Version pinned) {
        List<EntryCursor> layers = new ArrayList<>();
        add(layers, pinned.current());
        MemoryLayer frozen = pinned.frozen();
        if (frozen != null) {
            add(layers, frozen);
        }
        for (ComponentHandle handle : pinned.tree(TreeId.PRIMARY)) {
            layers.add(handle.component().keyCursor());
        }
        return MergeCursor.of(layers);
    }

    private static void add(List<EntryCursor> layers, MemoryLayer layer) {
        MemoryComponent memory = layer.tree(TreeId.PRIMARY);
        layers.add(memory.cursor());
    }

    /** What is wrong with records in key order; null if they are the live ones. */
    @Nullable
    String compare(RecordCursor records) {
        long number = 0;
        while (true) {
            boolean found = records.next();
            boolean expected = keys.next();
            if (!found || !expected) {
                return found == expected
                        ? null
                        : "after %d records there is %s one by the marks"
                                .formatted(number, found ? "still" : "no");
            }
            Slice key = records.key();
            if (!key.contentEquals(keys.key()) || records.timestamp() != keys.timestamp()) {
                return "record %d is %s of %d by the marks and %s of %d by the keys"
                        .formatted(number, key, records.timestamp(), keys.key(), keys.timestamp());
            }
            number++;
        }
    }

    @Override
    public void close() {
        try {
            keys.close();
        } finally {
            pinned.unpin();
        }
    }
}
