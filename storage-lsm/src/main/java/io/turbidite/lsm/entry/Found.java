package io.turbidite.lsm.entry;

import io.turbidite.core.bytes.ByteSink;

/**
 * The reused answer of a point search: newest version of a key at or below a snapshot.
 *
 * <p><em>Confined to one thread.</em> Searches return {@link #ABSENT}, {@link #MATTER} or {@link
 * #ANTIMATTER} (primitive codes: this is the inner loop of every upsert) and fill in the rest when
 * not absent. The value is a copy, so that no page stays pinned.
 */
public final class Found {
    /** The layer holds no version at or below the snapshot. */
    public static final int ABSENT = 0;

    /** The newest version is a record. */
    public static final int MATTER = 1;

    /** The newest version is a delete. */
    public static final int ANTIMATTER = 2;

    /** The version's timestamp. */
    public long timestamp;

    /**
     * Where the version stays in its layer: its ordinal in a component, a number of its own in
     * memory.
     */
    public long position = -1;

    /** The version's value; cleared and filled by a search that wants it. */
    public final ByteSink value;

    public Found(int valueBytesMax) {
        this(new ByteSink(256, valueBytesMax));
    }

    /**
     * One that puts values where they are wanted.
     *
     * @param value the caller's; not touched by a search that finds nothing
     */
    public Found(ByteSink value) {
        this.value = value;
    }
}
