package io.turbidite.feeds.cluster.agree;

import io.turbidite.feeds.cluster.change.ClusterMap;
import io.turbidite.feeds.cluster.change.Entry;

import org.jspecify.annotations.Nullable;

import java.util.List;

/**
 * The store of a node, as changes meet it. <em>Confined to one thread at a time.</em> What it
 * throws ends the node's process: only opening it again tells what was done.
 */
public interface NodeSchema {
    /** Number of the last change that was applied, durably. */
    long applied();

    /** The chain of that change. */
    long chain();

    /**
     * Looks before anything is applied whether these changes can be meant for it; changes nothing.
     *
     * @param missing those of the node's copy behind {@link #applied()}, in their order
     * @throws io.turbidite.core.InvalidRequestException if it has what they create
     */
    void checkFits(List<Entry> missing);

    /**
     * Does what can fail or takes long, so that nobody sees it: checks, and builds an index.
     *
     * @param entry the one behind {@link #applied()}; another one is not possible
     * @param before the map that it changes
     * @return null, or why the change is not possible here; then nothing is left, or is undone
     *     before anything else is made
     */
    @Nullable
    String prepare(Entry entry, ClusterMap before);

    /** Undoes what was prepared; nothing if there is nothing. An opening does so too. */
    void discard();

    /**
     * Shows what was prepared, or does all of it where nothing was; durable when it returns.
     *
     * @param entry the one behind {@link #applied()}
     * @param before the map that it changes
     */
    void apply(Entry entry, ClusterMap before);
}
