package io.turbidite.lsm.component;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.geo.SpatialKind;

import org.jspecify.annotations.Nullable;

/**
 * The layout of a component. Components of one index may differ: each file knows its own layout.
 * <em>Immutable.</em>
 *
 * @param pages its leaf pages
 * @param bloom whether there is a Bloom filter over the keys, or their tokens. Leave it: without
 *     one, each look-up searches every component
 * @param bloomFalsePositiveRate the rate that decides the Bloom filter's size, 0.0001 to 0.5. Lower
 *     it when keys that are not there are often asked for: a tenth of the rate takes 4.8 bits more
 *     a key
 * @param keyTree whether there is a second tree of keys alone with the same ordinals. It answers
 *     "which version is the newest" without touching a record; for primary indexes. Leave it:
 *     validation and mutable-bitmap need it
 * @param tokens whether its keys begin with tokens, as those of an inverted index; the Bloom filter
 *     is over these then
 * @param boxes what its keys begin with, for an R-tree, which has boxes around them; null for
 *     others
 */
public record ComponentOptions(
        PageOptions pages,
        boolean bloom,
        double bloomFalsePositiveRate,
        boolean keyTree,
        boolean tokens,
        @Nullable SpatialKind boxes) {
    /** The least false positive rate: a filter of 19 bits a key. */
    public static final double BLOOM_RATE_MIN = 0.0001;

    /** The greatest false positive rate. */
    public static final double BLOOM_RATE_MAX = 0.5;

    public ComponentOptions {
        // written so that NaN is refused as well
        if (!(bloomFalsePositiveRate >= BLOOM_RATE_MIN
                && bloomFalsePositiveRate <= BLOOM_RATE_MAX)) {
            throw new InvalidRequestException("Bloom false positive rate %s; %s to %s are possible"
                    .formatted(bloomFalsePositiveRate, BLOOM_RATE_MIN, BLOOM_RATE_MAX));
        }
    }

    /** Without boxes, and not of tokens. */
    public ComponentOptions(
            PageOptions pages, boolean bloom, double bloomFalsePositiveRate, boolean keyTree) {
        this(pages, bloom, bloomFalsePositiveRate, keyTree, false, null);
    }

    /** For a primary index: key tree and Bloom filter at 1 %. */
    public static ComponentOptions primary() {
        return new ComponentOptions(PageOptions.standard(), true, 0.01, true);
    }

    /** For a secondary index, searched by range: neither key tree nor Bloom filter. */
    public static ComponentOptions secondary() {
        return new ComponentOptions(PageOptions.standard(), false, 0.01, false);
    }

    /** Most bytes of a leaf page. */
    public int pageBytes() {
        return pages.pageBytes();
    }

    /** How leaf pages are stored. */
    public Compression compression() {
        return pages.compression();
    }

    /** The same with another {@link #pages}. */
    public ComponentOptions withPages(PageOptions value) {
        return new ComponentOptions(value, bloom, bloomFalsePositiveRate, keyTree, tokens, boxes);
    }

    /** The same with another {@link PageOptions#pageBytes}. */
    public ComponentOptions withPageBytes(int value) {
        return withPages(pages.withPageBytes(value));
    }

    /** The same with another {@link PageOptions#compression}. */
    public ComponentOptions withCompression(Compression value) {
        return withPages(pages.withCompression(value));
    }

    /** The same with another {@link #bloom}. */
    public ComponentOptions withBloom(boolean value) {
        return new ComponentOptions(pages, value, bloomFalsePositiveRate, keyTree, tokens, boxes);
    }

    /** The same with another {@link #bloomFalsePositiveRate}. */
    public ComponentOptions withBloomFalsePositiveRate(double value) {
        return new ComponentOptions(pages, bloom, value, keyTree, tokens, boxes);
    }

    /** The same with another {@link #keyTree}. */
    public ComponentOptions withKeyTree(boolean value) {
        return new ComponentOptions(pages, bloom, bloomFalsePositiveRate, value, tokens, boxes);
    }

    /** The same with another {@link #boxes}. */
    public ComponentOptions withBoxes(@Nullable SpatialKind value) {
        return new ComponentOptions(pages, bloom, bloomFalsePositiveRate, keyTree, tokens, value);
    }

    /** The same with another {@link #tokens}. */
    public ComponentOptions withTokens(boolean value) {
        return new ComponentOptions(pages, bloom, bloomFalsePositiveRate, keyTree, value, boxes);
    }
}
