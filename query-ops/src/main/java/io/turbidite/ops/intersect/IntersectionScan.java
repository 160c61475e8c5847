package io.turbidite.ops.intersect;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.scan.CandidateBatch;
import io.turbidite.core.scan.ReadView;
import io.turbidite.ops.frame.FrameEmitter;
import io.turbidite.ops.frame.FrameSource;
import io.turbidite.ops.frame.OperatorMeter;
import io.turbidite.ops.search.EntryTuples;

import org.jspecify.annotations.Nullable;

import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.function.IntFunction;

/**
 * Answers from what several indexes have in common, without reading a record: counts, and groups by
 * what the entries of one of them say. Versions that may be obsolete are validated by their
 * timestamps. <em>Confined to one thread.</em>
 */
public final class IntersectionScan implements FrameSource {
    /** Most bytes of keys that are validated together: as many as a core's caches can sort. */
    private static final int BATCH_BYTES = Math.max(256 << 10, 4 * Limits.KEY_BYTES_MAX);

    private final ReadView view;
    private final Iterator<Integer> partitions;
    private final IntFunction<Intersection> opener;
    private final EntryTuples fields;
    private final FrameEmitter emitter;
    private final OperatorMeter selected;

    /** Null where all that is found is current. */
    private final @Nullable CandidateBatch batch;

    private final Slice secondaryKey = new Slice();
    private final Slice primaryKey = new Slice();
    private @Nullable Intersection common;
    private int partition;

    /** The entry of the batch to look at next. */
    private int at;

    /** The version of the present key to put into the batch next. */
    private int version;

    private boolean isOnKey;

    /**
     * Reads some partitions.
     *
     * @param opener what the indexes have in common in a partition
     * @param isValidated whether what is found must be validated
     * @param fields makes tuples of the entries of one of the indexes
     * @param selected counts what is current and matches
     */
    public IntersectionScan(
            ReadView view,
            List<Integer> partitions,
            IntFunction<Intersection> opener,
            boolean isValidated,
            EntryTuples fields,
            FrameEmitter emitter,
            OperatorMeter selected) {
        this.view = view;
        this.partitions = List.copyOf(partitions).iterator();
        this.opener = opener;
        this.batch = isValidated ? new CandidateBatch(BATCH_BYTES) : null;
        this.fields = fields;
        this.emitter = emitter;
        this.selected = selected;
    }

    /** What to say where the memory does not do for an answer by entries alone. */
    public static InvalidRequestException noMemory(long memoryBytes) {
        return new InvalidRequestException(String.format(
                Locale.ROOT,
                "common candidates of several indexes do not fit the %,d bytes that they may use: raise memoryBytesMax or give a directory to spill to",
                memoryBytes));
    }

    @Override
    public void open() {
        // the first step opens the first partition
    }

    @Override
    public boolean step() {
        while (common != null || partitions.hasNext()) {
            Intersection keys = common;
            if (keys == null) {
                partition = partitions.next();
                keys = opener.apply(partition);
                common = keys;
            }
            boolean pushed = batch == null ? pushFound(keys) : pushValid(keys, batch);
            if (pushed) {
                return emitter.wanted();
            }
            close();
        }
        emitter.flush();
        return false;
    }

    /** Emits until a frame is pushed; false at the end of the partition. */
    private boolean pushFound(Intersection keys) {
        long matching = 0;
        boolean pushed = false;
        while (!pushed && keys.next()) {
            Slice[] tuple = fields.tuple(keys.secondaryKey(0), keys.primaryKey());
            if (tuple != null) {
                matching++;
                pushed = emitter.emit(tuple);
            }
        }
        selected.add(matching);
        return pushed;
    }

    private boolean pushValid(Intersection keys, CandidateBatch candidates) {
        do {
            long matching = 0;
            boolean pushed = false;
            while (!pushed && at < candidates.size()) {
                int entry = at++;
                if (candidates.isValid(entry)) {
                    Slice[] tuple = fields.tuple(
                            candidates.secondaryKey(entry, secondaryKey),
                            candidates.primaryKey(entry, primaryKey));
                    if (tuple != null) {
                        matching++;
                        pushed = emitter.emit(tuple);
                    }
                }
            }
            selected.add(matching);
            if (pushed) {
                return true;
            }
        } while (fill(keys, candidates));
        return false;
    }

    private boolean fill(Intersection keys, CandidateBatch candidates) {
        candidates.clear();
        at = 0;
        boolean fits = true;
        while (fits && (isOnKey || keys.next())) {
            isOnKey = true;
            while (fits && version < keys.versionCount()) {
                fits = candidates.add(
                        keys.primaryKey(),
                        keys.secondaryKey(version),
                        keys.timestamp(version),
                        keys.checkedUntil(version));
                version += fits ? 1 : 0;
            }
            if (fits) {
                isOnKey = false;
                version = 0;
            }
        }
        if (candidates.size() == 0) {
            return false;
        }
        view.validate(partition, candidates);
        return true;
    }

    @Override
    public void close() {
        Intersection open = common;
        if (open != null) {
            common = null;
            isOnKey = false;
            version = 0;
            open.close();
        }
    }
}
