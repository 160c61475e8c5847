package io.turbidite.lsm.btree;

import io.turbidite.core.bytes.Slice;

/**
 * Which pages of a tree a cursor that goes forward reads: it passes over those that hold nothing of
 * what is wanted, and shows each page that it reads to whoever chooses. <em>Confined to the thread
 * of the cursor.</em>
 */
public interface PageChoice {
    /** The first page at or behind {@code page} that may hold something; the page count if none. */
    int next(int page);

    /** Whether the values of a page are to be shown: {@link #learn} each, then {@link #learned}. */
    boolean wantsValues(int page);

    /** A value of the page, anti-matter left out. */
    void learn(Slice value);

    /** All values of the page were shown. */
    void learned(int page);
}
