package io.turbidite.lsm.rtree;

import io.turbidite.core.scan.SearchWork;

/**
 * Counts what the cursors of one search for a window, or for a term, look at. <em>Confined to one
 * thread.</em>
 */
public final class WindowWork {
    private long componentCount;
    private long outsideCount;
    private long pageCount;
    private long groupCount;
    private long entryCount;

    /** Counts a component that was asked whether it meets the window, or has the term. */
    public void asked(boolean isOutside) {
        componentCount++;
        if (isOutside) {
            outsideCount++;
        }
    }

    void enteredPage() {
        pageCount++;
    }

    void enteredGroup() {
        groupCount++;
    }

    void lookedAt(int entries) {
        entryCount += entries;
    }

    void lookedAtEntry() {
        entryCount++;
    }

    /** What was counted so far. */
    public SearchWork counted() {
        return new SearchWork(
                componentCount, outsideCount, pageCount, groupCount, entryCount, 0, 0);
    }
}
