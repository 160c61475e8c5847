package io.turbidite.lsm.merge;

import io.turbidite.core.bytes.Slice;

/**
 * Is told by a merge of the primary which records it finds superseded (DEFER18 §4; design §4 rule
 * 8), so that whatever was derived from them can be cleaned up.
 *
 * <p>Every two neighbouring versions of a key that meet in a merge are told of, whether the older
 * one is dropped, or kept because a snapshot sees it, or the newer one is a delete that goes with
 * the oldest component. Two that are both kept meet again in the next merge: they are told of
 * again. So what is made of them must be the same when it is made twice; in return no version needs
 * a mark that says whether its predecessor was told of, which every rewriting would have to carry
 * on.
 *
 * <p><em>Confined to the thread</em> that merges.
 */
@FunctionalInterface
public interface Discards {
    /**
     * A record and what took its place. The slices are valid during the call.
     *
     * @param value the record
     * @param successorTimestamp of the next newer version; above {@code timestamp}
     * @param successor the record that took its place; empty if it was deleted
     */
    void superseded(
            Slice key, long timestamp, Slice value, long successorTimestamp, Slice successor);
}
