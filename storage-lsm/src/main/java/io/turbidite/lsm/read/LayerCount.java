package io.turbidite.lsm.read;

import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.LayerFiles;
import io.turbidite.core.scan.LayerWork;
import io.turbidite.lsm.component.ComponentFilter;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.schema.TreeId;

import org.jspecify.annotations.Nullable;

import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;

/**
 * Counts the layers of a tree that a cursor considers, and those that a filter field rules out.
 * Only the first version counts: what a long cursor opens again is what it had.
 *
 * <p><em>Confined to one thread.</em>
 */
final class LayerCount {
    private long layerCount;
    private long @Nullable [] ruledOut;
    private boolean isEnded;
    private boolean namesNone;

    /** Numbers of files of components, by what became of these. */
    private final Files read = new Files();

    private final Files passedOver = new Files();

    /** Any component may be asked, and none is named: naming them would cost each lookup. */
    void namesNone() {
        namesNone = true;
    }

    /** A component was considered: as {@link #asked(int)}, with its file. */
    void asked(int field, long fileId) {
        asked(field);
        if (!isEnded) {
            (field == ComponentFilter.NOT_RULED_OUT ? read : passedOver).add(fileId);
        }
    }

    /** A component was considered that no filter ruled out, and that has nothing of the search. */
    void outside(long fileId) {
        asked(ComponentFilter.NOT_RULED_OUT);
        if (!isEnded) {
            passedOver.add(fileId);
        }
    }

    /**
     * A layer was considered.
     *
     * @param field that ruled it out; {@link ComponentFilter#NOT_RULED_OUT} if it is read
     */
    void asked(int field) {
        if (isEnded) {
            return;
        }
        layerCount++;
        if (field != ComponentFilter.NOT_RULED_OUT) {
            long[] counts = ruledOut;
            if (counts == null || counts.length <= field) {
                counts = counts == null ? new long[field + 1] : Arrays.copyOf(counts, field + 1);
                ruledOut = counts;
            }
            counts[field]++;
        }
    }

    /**
     * All layers of a version were considered: adds those of the first to the store's counters, if
     * there was a filter.
     */
    void end(Partition partition, TreeId tree, FilterPredicate filter) {
        if (!isEnded && !filter.isNone()) {
            FilterMeter.of(partition.core().meters()).add(partition.schema(), tree, work());
        }
        isEnded = true;
    }

    LayerWork work() {
        return work(0);
    }

    /** With the pages that the cursor went to. */
    LayerWork work(long pageCount) {
        long[] counts = ruledOut;
        return new LayerWork(
                layerCount,
                pageCount,
                counts == null ? List.of() : LongStream.of(counts).boxed().toList(),
                namesNone ? LayerFiles.UNKNOWN : LayerFiles.of(read.stream(), passedOver.stream()));
    }

    /** Numbers of files, as they come. */
    private static final class Files {
        private static final int FIRST = 8;

        private long[] ids = new long[0];
        private int count;

        void add(long id) {
            if (count == ids.length) {
                ids = Arrays.copyOf(ids, Math.max(FIRST, count * 2));
            }
            ids[count++] = id;
        }

        LongStream stream() {
            return Arrays.stream(ids, 0, count);
        }
    }
}
