package io.turbidite.ops.search;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.scan.IndexCursor;
import io.turbidite.core.scan.ReadView;
import io.turbidite.ops.frame.FrameEmitter;
import io.turbidite.ops.frame.FrameSource;
import io.turbidite.ops.frame.OperatorMeter;

import org.jspecify.annotations.Nullable;

import java.util.Iterator;
import java.util.List;

/**
 * Answers from the entries of an index alone, without reading a record: counts, and groups by fields that
 * the index or the primary key has. Only for an index whose entries are always valid.
 * <em>Confined to one thread.</em>
 */
public final class IndexOnlyScan implements FrameSource {
    private final ReadView view;
    private final Iterator<Integer> partitions;
    private final IndexRange range;
    private final EntryFields fields;
    private final FrameEmitter emitter;
    private final OperatorMeter searched;
    private final OperatorMeter selected;
    private @Nullable IndexCursor cursor;

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
            EntryFields fields,
            FrameEmitter emitter,
            Meters meters) {
        this.view = view;
        this.partitions = List.copyOf(partitions).iterator();
        this.range = range;
        this.fields = fields;
        this.emitter = emitter;
        this.searched = meters.searched();
        this.selected = meters.selected();
    }

    /**
     * Where to count.
     *
     * @param searched entries found
     * @param selected entries that match
     */
    public record Meters(OperatorMeter searched, OperatorMeter selected) {}

    @Override
    public void open() {
        advance();
    }

    @Override
    public boolean step() {
        while (cursor != null) {
            boolean pushed = false;
            long entries = 0;
            long matching = 0;
            while (!pushed && cursor.next()) {
                entries++;
                Slice[] tuple = fields.tuple(cursor.secondaryKey(), cursor.primaryKey());
                if (tuple != null) {
                    matching++;
                    pushed = emitter.emit(tuple);
                }
            }
            searched.add(entries);
            selected.add(matching);
            if (pushed) {
                return emitter.wanted();
            }
            advance();
        }
        emitter.flush();
        return false;
    }

    @Override
    public void close() {
        if (cursor != null) {
            cursor.close();
            cursor = null;
        }
    }

    private void advance() {
        close();
        if (partitions.hasNext()) {
            cursor = view.search(
                    partitions.next(), range.index().name(), range.keys(), range.filter());
        }
    }
}
