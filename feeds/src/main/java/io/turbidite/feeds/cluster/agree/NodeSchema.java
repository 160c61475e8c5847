package io.turbidite.feeds.cluster.agree;

import io.turbidite.feeds.cluster.change.Entry;

import org.jspecify.annotations.Nullable;

/**
 * The store of a node, as changes meet it. <em>Confined to one thread at a time.</em> What it
 * throws ends the node's process: only opening it again tells what was done.
 */
public interface NodeSchema {
    /** Number of the last change that was applied, durably. */
    long applied();

    /**
     * Does what can fail or takes long, so that nobody sees it: checks, and builds an index.
     *
     * @param entry the one behind {@link #applied()}
     * @return null, or why the change is not possible here; then nothing is left
     */
    @Nullable
    String prepare(Entry entry);

    /** Undoes what was prepared; nothing if there is nothing. An opening does so too. */
    void discard();

    /**
     * Shows what was prepared, or does all of it where nothing was; durable when it returns.
     *
     * @param entry the one behind {@link #applied()}
     */
    void apply(Entry entry);
}
