package io.turbidite.ops.search;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.ValidSearch;
import io.turbidite.ops.frame.FrameEmitter;
import io.turbidite.ops.frame.FrameSource;
import io.turbidite.ops.frame.OperatorMeter;

import org.jspecify.annotations.Nullable;

import java.util.Iterator;
import java.util.List;

/**
 * Answers from the entries of an index alone, without reading a record: counts, and groups by
 * fields that the index or the primary key has. Entries that may be obsolete are validated by their
 * timestamps (LUO19 §4.3). <em>Confined to one thread.</em>
 */
public final class IndexOnlyScan implements FrameSource {
    /** Entries after which others get their turn, and the stop its look. */
    private static final int ENTRIES_A_STEP = 1_024;

    private final ReadView view;
    private final Iterator<Integer> partitions;
    private final IndexRange range;
    private final EntryTuples fields;
    private final FrameEmitter emitter;
    private final OperatorMeter searched;
    private final SearchMeter searches;
    private final OperatorMeter selected;
    private @Nullable ValidSearch search;

    /**
     * Reads some partitions.
     *
     * @param fields decides on entries and makes tuples of them
     * @param meters where to count
     */
    public IndexOnlyScan(
            ReadView view,
            List<Integer> partitions,
            IndexRange range,
            EntryTuples fields,
            FrameEmitter emitter,
            Meters meters) {
        this.view = view;
        this.partitions = List.copyOf(partitions).iterator();
        this.range = range;
        this.fields = fields;
        this.emitter = emitter;
        this.searched = meters.searched();
        this.searches = meters.searches();
        this.selected = meters.selected();
    }

    /**
     * Where to count.
     *
     * @param searched entries found, valid or not
     * @param searches what it took
     * @param selected entries that match
     */
    public record Meters(OperatorMeter searched, SearchMeter searches, OperatorMeter selected) {}

    @Override
    public void open() {
        advance();
    }

    @Override
    public boolean step() {
        while (search != null) {
            boolean pushed = false;
            int looked = 0;
            long matching = 0;
            long before = search.candidateCount();
            boolean onEntry = false;
            while (!pushed && looked < ENTRIES_A_STEP && (onEntry = search.next())) {
                looked++;
                Slice[] tuple = fields.tuple(search.secondaryKey(), search.primaryKey());
                if (tuple != null) {
                    matching++;
                    pushed = emitter.emit(tuple);
                }
            }
            searched.add(search.candidateCount() - before);
            selected.add(matching);
            if (pushed) {
                return emitter.wanted();
            }
            if (onEntry) {
                return true;
            }
            advance();
        }
        emitter.flush();
        return false;
    }

    @Override
    public void close() {
        if (search != null) {
            searches.add(search.work(), search.layers());
            search.close();
            search = null;
        }
    }

    private void advance() {
        close();
        if (partitions.hasNext()) {
            search = ValidSearch.open(
                    view, partitions.next(), range.index(), range.search(), range.filter());
        }
    }
}
