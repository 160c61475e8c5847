package io.turbidite.lsm.memory;

/**
 * Where a key goes in a memory component, as {@link MemoryComponent#seek} found it; reused. A write
 * seeks the places of all its keys before it puts the first one: the searches change nothing and
 * wait for nothing but memory, so the processor has the cache misses of one under way while it goes
 * on with the next.
 *
 * <p>It is a guess, which a put checks: the node may have changed since.
 *
 * <p><em>Confined to one thread.</em> Good for the component and key that were sought.
 */
public final class Place {
    /** Ref of the leaf; 0 if nothing was sought. */
    int leaf;

    /** The leaf's version when it was searched. */
    int version;

    /** What {@link MemoryTree#searchLeaf} said. */
    int slot;

    /** Forgets what was sought; a put then seeks by itself. */
    public void clear() {
        leaf = 0;
    }
}
