package io.turbidite.lsm.read;

import io.turbidite.lsm.schema.TreeId;
import io.turbidite.lsm.version.ComponentHandle;
import io.turbidite.lsm.version.MemoryLayer;
import io.turbidite.lsm.version.Version;

import org.jspecify.annotations.Nullable;

/**
 * Which entries are read: those of some timestamps. In a primary with live bitmaps every record
 * that a snapshot shows lies once in any version, wherever flushes and merges have brought it
 * since; its timestamp stays. <em>Immutable.</em>
 *
 * @param low the lowest timestamp that is in
 * @param end the lowest timestamp above it that is not
 */
record TimestampRange(long low, long end) {
    static final TimestampRange ALL = new TimestampRange(0, Long.MAX_VALUE);

    /** What the memory layers hold. */
    static TimestampRange ofMemory(Version version) {
        MemoryLayer frozen = version.frozen();
        MemoryLayer oldest = frozen == null ? version.current() : frozen;
        return new TimestampRange(oldest.minTimestamp(), Long.MAX_VALUE);
    }

    /**
     * What the next component below this band holds, as far as that is below it; null if there is
     * none.
     */
    @Nullable
    TimestampRange next(Version version) {
        for (ComponentHandle handle : version.tree(TreeId.PRIMARY)) {
            if (handle.state().minTimestamp() < low) {
                return new TimestampRange(handle.state().minTimestamp(), low);
            }
        }
        return null;
    }

    /** Whether a component may hold entries of the band. */
    boolean meets(ComponentHandle handle) {
        return handle.state().minTimestamp() < end && handle.state().maxTimestamp() >= low;
    }

    /** Whether it holds no others. */
    boolean covers(ComponentHandle handle) {
        return handle.state().minTimestamp() >= low && handle.state().maxTimestamp() < end;
    }

    /** Whether it meets the memory layers: no component below them does. */
    boolean meetsMemory() {
        return end == Long.MAX_VALUE;
    }

    boolean contains(long timestamp) {
        return timestamp >= low && timestamp < end;
    }
}
