package io.turbidite.bench.peer;

import org.apache.hyracks.api.dataflow.value.IBinaryComparatorFactory;
import org.apache.hyracks.api.dataflow.value.ITypeTraits;
import org.apache.hyracks.api.exceptions.HyracksDataException;
import org.apache.hyracks.api.io.IODeviceHandle;
import org.apache.hyracks.control.nc.io.DefaultDeviceResolver;
import org.apache.hyracks.control.nc.io.IOManager;
import org.apache.hyracks.data.std.accessors.DoubleBinaryComparatorFactory;
import org.apache.hyracks.data.std.accessors.LongBinaryComparatorFactory;
import org.apache.hyracks.data.std.primitive.DoublePointable;
import org.apache.hyracks.data.std.primitive.LongPointable;
import org.apache.hyracks.dataflow.common.data.accessors.ITupleReference;
import org.apache.hyracks.storage.am.common.freepage.AppendOnlyLinkedMetadataPageManagerFactory;
import org.apache.hyracks.storage.am.common.impls.NoOpIndexAccessParameters;
import org.apache.hyracks.storage.am.lsm.common.api.ILSMIndexAccessor;
import org.apache.hyracks.storage.am.lsm.common.api.IVirtualBufferCache;
import org.apache.hyracks.storage.am.lsm.common.impls.NoMergePolicy;
import org.apache.hyracks.storage.am.lsm.common.impls.NoOpIOOperationCallbackFactory;
import org.apache.hyracks.storage.am.lsm.common.impls.NoOpPageWriteCallbackFactory;
import org.apache.hyracks.storage.am.lsm.common.impls.ThreadCountingTracker;
import org.apache.hyracks.storage.am.lsm.common.impls.VirtualBufferCache;
import org.apache.hyracks.storage.am.lsm.rtree.impls.LSMRTreeWithAntiMatterTuples;
import org.apache.hyracks.storage.am.lsm.rtree.utils.LSMRTreeUtils;
import org.apache.hyracks.storage.am.rtree.frames.RTreePolicyType;
import org.apache.hyracks.storage.am.rtree.impls.SearchPredicate;
import org.apache.hyracks.storage.am.rtree.linearize.HilbertDoubleComparatorFactory;
import org.apache.hyracks.storage.am.rtree.util.RTreeUtils;
import org.apache.hyracks.storage.common.IIndexCursor;
import org.apache.hyracks.storage.common.MultiComparator;
import org.apache.hyracks.storage.common.buffercache.BufferCache;
import org.apache.hyracks.storage.common.buffercache.ClockPageReplacementStrategy;
import org.apache.hyracks.storage.common.buffercache.DelayPageCleanerPolicy;
import org.apache.hyracks.storage.common.buffercache.HeapBufferAllocator;
import org.apache.hyracks.storage.common.file.FileMapManager;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadFactory;

/**
 * The LSM R-tree of Hyracks 0.3.8 with points and their numbers: Hilbert order within components,
 * flushed ten times and then merged into one; the cache holds all of it. <em>Confined to one
 * thread.</em>
 */
public final class HyracksPoints implements AutoCloseable {
    private static final int PAGE_BYTES = 32 << 10;
    private static final int COMPONENTS = 10;
    private static final ThreadFactory DAEMONS = work -> {
        Thread thread = new Thread(work, "hyracks");
        thread.setDaemon(true);
        return thread;
    };

    private final IOManager io;
    private final BufferCache cache;
    private final SettlingScheduler scheduler = new SettlingScheduler(DAEMONS);
    private final LSMRTreeWithAntiMatterTuples tree;
    private final ILSMIndexAccessor accessor;
    private final IIndexCursor cursor;
    private final Tuple asked = new Tuple(4);
    private final SearchPredicate predicate;

    /** With all points in one component. */
    public static HyracksPoints merged(Path directory, double[] xy) {
        HyracksPoints points = new HyracksPoints(directory, xy);
        points.mergeAll();
        return points;
    }

    /**
     * Inserts the points, and flushes ten times.
     *
     * @param xy two coordinates each
     */
    public HyracksPoints(Path directory, double[] xy) {
        int points = xy.length / 2;
        try {
            io = new IOManager(
                    List.of(new IODeviceHandle(directory.toFile(), ".")),
                    new DefaultDeviceResolver(),
                    2,
                    64);
            cache = new BufferCache(
                    io,
                    new ClockPageReplacementStrategy(
                            new HeapBufferAllocator(), PAGE_BYTES, 1_024 + points / 200),
                    new DelayPageCleanerPolicy(600_000),
                    new FileMapManager(),
                    4_096,
                    64,
                    DAEMONS);
            IBinaryComparatorFactory[] borders = {
                DoubleBinaryComparatorFactory.INSTANCE,
                DoubleBinaryComparatorFactory.INSTANCE,
                DoubleBinaryComparatorFactory.INSTANCE,
                DoubleBinaryComparatorFactory.INSTANCE
            };
            tree = create(directory, borders, 1_024 + points / 200);
            tree.create();
            tree.activate();
            accessor = tree.createAccessor(NoOpIndexAccessParameters.INSTANCE);
            cursor = accessor.createSearchCursor(false);
            MultiComparator order = RTreeUtils.getSearchMultiComparator(borders, asked);
            predicate = new SearchPredicate(asked, order);
            load(xy);
        } catch (HyracksDataException failed) {
            throw new IllegalStateException(failed);
        }
    }

    // the 24 arguments of the released factory; null where a filter or a null type would stand
    private LSMRTreeWithAntiMatterTuples create(
            Path directory, IBinaryComparatorFactory[] borders, int memoryPages)
            throws HyracksDataException {
        ITypeTraits number = DoublePointable.TYPE_TRAITS;
        IBinaryComparatorFactory[] all = {
            borders[0], borders[1], borders[2], borders[3], LongBinaryComparatorFactory.INSTANCE
        };
        List<IVirtualBufferCache> memory = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            memory.add(new VirtualBufferCache(new HeapBufferAllocator(), PAGE_BYTES, memoryPages));
        }
        return LSMRTreeUtils.createLSMTreeWithAntiMatterTuples(
                io,
                memory,
                io.resolveAbsolutePath(directory.resolve("points").toString()),
                cache,
                new ITypeTraits[] {number, number, number, number, LongPointable.TYPE_TRAITS},
                borders,
                all,
                RTreeUtils.createPrimitiveValueProviderFactories(4, DoublePointable.FACTORY),
                RTreePolicyType.RTREE,
                new NoMergePolicy(),
                new ThreadCountingTracker(),
                scheduler,
                NoOpIOOperationCallbackFactory.INSTANCE,
                NoOpPageWriteCallbackFactory.INSTANCE,
                HilbertDoubleComparatorFactory.get(2),
                new int[] {0, 1, 2, 3},
                null,
                null,
                null,
                false,
                true,
                AppendOnlyLinkedMetadataPageManagerFactory.INSTANCE,
                null,
                null);
    }

    private void load(double[] xy) throws HyracksDataException {
        Tuple point = new Tuple(5);
        int points = xy.length / 2;
        for (int i = 0; i < points; i++) {
            point.set(0, xy[2 * i]);
            point.set(1, xy[2 * i + 1]);
            point.set(2, xy[2 * i]);
            point.set(3, xy[2 * i + 1]);
            LongPointable.setLong(point.data, 4 * Double.BYTES, i);
            accessor.insert(point);
            if ((i + 1) % Math.max(1, points / COMPONENTS) == 0) {
                accessor.scheduleFlush();
                scheduler.await();
            }
        }
        accessor.scheduleFlush();
        scheduler.await();
    }

    private void mergeAll() {
        try {
            accessor.scheduleFullMerge();
            scheduler.await();
        } catch (HyracksDataException failed) {
            throw new IllegalStateException(failed);
        }
    }

    /** How many points are in a window, borders included. */
    public long count(double minX, double minY, double maxX, double maxY) {
        asked.set(0, minX);
        asked.set(1, minY);
        asked.set(2, maxX);
        asked.set(3, maxY);
        try {
            accessor.search(cursor, predicate);
            long count = 0;
            while (cursor.hasNext()) {
                cursor.next();
                count += cursor.getTuple().getFieldCount() > 0 ? 1 : 0;
            }
            cursor.close();
            return count;
        } catch (HyracksDataException failed) {
            throw new IllegalStateException(failed);
        }
    }

    @Override
    public void close() {
        try {
            cursor.destroy();
            tree.deactivate();
            cache.stop(false, null);
            io.close();
        } catch (IOException failed) {
            throw new IllegalStateException(failed);
        }
    }

    /** Numbers of eight bytes, one after another. */
    private static final class Tuple implements ITupleReference {
        final byte[] data;

        Tuple(int fields) {
            data = new byte[fields * Long.BYTES];
        }

        void set(int field, double value) {
            DoublePointable.setDouble(data, field * Double.BYTES, value);
        }

        @Override
        public int getFieldCount() {
            return data.length / Long.BYTES;
        }

        @Override
        public byte[] getFieldData(int field) {
            return data;
        }

        @Override
        public int getFieldStart(int field) {
            return field * Long.BYTES;
        }

        @Override
        public int getFieldLength(int field) {
            return Long.BYTES;
        }
    }
}
