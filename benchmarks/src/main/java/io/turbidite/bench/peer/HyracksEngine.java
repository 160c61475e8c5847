package io.turbidite.bench.peer;

import io.turbidite.core.bytes.Bytes;

import org.apache.hyracks.api.dataflow.value.IBinaryComparatorFactory;
import org.apache.hyracks.api.dataflow.value.ITypeTraits;
import org.apache.hyracks.api.exceptions.HyracksDataException;
import org.apache.hyracks.api.io.IODeviceHandle;
import org.apache.hyracks.control.nc.io.DefaultDeviceResolver;
import org.apache.hyracks.control.nc.io.IOManager;
import org.apache.hyracks.data.std.accessors.IntegerBinaryComparatorFactory;
import org.apache.hyracks.data.std.accessors.LongBinaryComparatorFactory;
import org.apache.hyracks.data.std.primitive.IntegerPointable;
import org.apache.hyracks.data.std.primitive.LongPointable;
import org.apache.hyracks.data.std.primitive.VarLengthTypeTrait;
import org.apache.hyracks.dataflow.common.data.accessors.ITupleReference;
import org.apache.hyracks.storage.am.btree.impls.RangePredicate;
import org.apache.hyracks.storage.am.common.freepage.AppendOnlyLinkedMetadataPageManagerFactory;
import org.apache.hyracks.storage.am.common.impls.NoOpIndexAccessParameters;
import org.apache.hyracks.storage.am.lsm.btree.impls.LSMBTree;
import org.apache.hyracks.storage.am.lsm.btree.utils.LSMBTreeUtil;
import org.apache.hyracks.storage.am.lsm.common.api.ILSMIndexAccessor;
import org.apache.hyracks.storage.am.lsm.common.api.IVirtualBufferCache;
import org.apache.hyracks.storage.am.lsm.common.impls.NoOpIOOperationCallbackFactory;
import org.apache.hyracks.storage.am.lsm.common.impls.NoOpPageWriteCallbackFactory;
import org.apache.hyracks.storage.am.lsm.common.impls.PrefixMergePolicy;
import org.apache.hyracks.storage.am.lsm.common.impls.ThreadCountingTracker;
import org.apache.hyracks.storage.am.lsm.common.impls.VirtualBufferCache;
import org.apache.hyracks.storage.common.IIndexCursor;
import org.apache.hyracks.storage.common.MultiComparator;
import org.apache.hyracks.storage.common.buffercache.BufferCache;
import org.apache.hyracks.storage.common.buffercache.ClockPageReplacementStrategy;
import org.apache.hyracks.storage.common.buffercache.DelayPageCleanerPolicy;
import org.apache.hyracks.storage.common.buffercache.HeapBufferAllocator;
import org.apache.hyracks.storage.common.compression.NoOpCompressorDecompressorFactory;
import org.apache.hyracks.storage.common.file.FileMapManager;
import org.apache.hyracks.util.trace.ITracer;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadFactory;
import java.util.stream.Stream;

/**
 * The LSM B+-trees of Hyracks 0.3.8, which AsterixDB stands on: a primary with a Bloom filter of 1
 * %, a secondary of (attribute, id) without one, kept eagerly by hand; prefix policy (1 GiB,
 * tolerance 5), pages of 32 KiB, one merge at a time. In its favour: no log, no locks, no
 * compression, no component IDs. Two memory components each, the primary's of half the write
 * memory, a secondary's of an eighth. One writer only.
 */
public final class HyracksEngine implements Engine {
    private static final int PAGE_BYTES = 32 << 10;
    private static final int HEADER_BYTES = 4 * Tweet.ATTRIBUTE_COUNT + 8;
    private static final ThreadFactory DAEMONS = work -> {
        Thread thread = new Thread(work, "hyracks");
        thread.setDaemon(true);
        return thread;
    };

    private final Path directory;
    private final IOManager io;
    private final BufferCache cache;
    private final SettlingScheduler scheduler = new SettlingScheduler(DAEMONS);
    private final Tree primary;
    private final List<Tree> secondaries = new ArrayList<>();
    private final byte[] keyBytes = new byte[8];
    private final Tuple key = new Tuple(keyBytes, 8);
    private final Tuple low = new Tuple(new byte[4], 4);
    private final Tuple high = new Tuple(new byte[4], 4);

    public HyracksEngine(PeerOptions options) {
        directory = options.directory();
        try {
            io = new IOManager(
                    List.of(new IODeviceHandle(directory.toFile(), ".")),
                    new DefaultDeviceResolver(),
                    2,
                    64);
            int pages = Math.toIntExact(options.cacheBytes() / PAGE_BYTES);
            cache = new BufferCache(
                    io,
                    new ClockPageReplacementStrategy(new HeapBufferAllocator(), PAGE_BYTES, pages),
                    new DelayPageCleanerPolicy(600_000),
                    new FileMapManager(),
                    4_096,
                    64,
                    DAEMONS);
            primary = new Tree("primary", true, options.writeMemoryBytes() / 2);
            for (int i = 0; i < options.secondaryCount(); i++) {
                secondaries.add(new Tree("a" + i, false, options.writeMemoryBytes() / 8));
            }
        } catch (HyracksDataException failed) {
            throw new IllegalStateException(failed);
        }
    }

    @Override
    public String name() {
        return "Hyracks";
    }

    @Override
    public Writer newWriter() {
        return new EagerWriter();
    }

    @Override
    public void settle() {
        try {
            primary.accessor.scheduleFlush();
            for (Tree secondary : secondaries) {
                secondary.accessor.scheduleFlush();
            }
            scheduler.await();
        } catch (HyracksDataException failed) {
            throw new IllegalStateException(failed);
        }
    }

    @Override
    public int get(long id) {
        putLong(keyBytes, 0, id);
        ITupleReference record = primary.find(key);
        int attribute = record == null
                ? -1
                : IntegerPointable.getInteger(record.getFieldData(1), record.getFieldStart(1));
        primary.done();
        return attribute;
    }

    @Override
    public Answer scan() {
        try {
            primary.range.reset(null, null, true, true, null, null);
            long rows = 0;
            long sum = 0;
            IIndexCursor cursor = primary.scanCursor;
            primary.accessor.search(cursor, primary.range);
            while (cursor.hasNext()) {
                cursor.next();
                rows++;
                sum += answerOf(cursor.getTuple());
            }
            cursor.close();
            return new Answer(rows, sum);
        } catch (HyracksDataException failed) {
            throw new IllegalStateException(failed);
        }
    }

    private static long answerOf(ITupleReference record) {
        return Answer.of(
                LongPointable.getLong(record.getFieldData(0), record.getFieldStart(0)),
                IntegerPointable.getInteger(record.getFieldData(1), record.getFieldStart(1)),
                record.getFieldLength(1) - HEADER_BYTES);
    }

    /** Sorted keys, one search each: warm, the batched cursor of this release costs more. */
    @Override
    public Answer byAttribute(int from, int to) {
        long[] ids = idsBetween(from, to);
        Arrays.sort(ids);
        long rows = 0;
        long sum = 0;
        for (long id : ids) {
            putLong(keyBytes, 0, id);
            ITupleReference record = primary.find(key);
            if (record == null) {
                throw new IllegalStateException("the secondary has a stale entry of " + id);
            }
            rows++;
            sum += answerOf(record);
            primary.done();
        }
        return new Answer(rows, sum);
    }

    private long[] idsBetween(int from, int to) {
        Tree tree = secondaries.get(0);
        putInt(low.data, 0, from);
        putInt(high.data, 0, to);
        long[] ids = new long[1 << 10];
        int count = 0;
        try {
            tree.range.reset(low, high, true, true, tree.firstField, tree.firstField);
            IIndexCursor cursor = tree.scanCursor;
            tree.accessor.search(cursor, tree.range);
            while (cursor.hasNext()) {
                cursor.next();
                ITupleReference entry = cursor.getTuple();
                if (count == ids.length) {
                    ids = Arrays.copyOf(ids, count * 2);
                }
                ids[count++] = LongPointable.getLong(entry.getFieldData(1), entry.getFieldStart(1));
            }
            cursor.close();
        } catch (HyracksDataException failed) {
            throw new IllegalStateException(failed);
        }
        return Arrays.copyOf(ids, count);
    }

    @Override
    public long diskBytes() {
        try (Stream<Path> files = Files.walk(directory)) {
            return files.mapToLong(
                            file -> file.toFile().isFile() ? file.toFile().length() : 0)
                    .sum();
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    @Override
    public void close() {
        try {
            primary.close();
            for (Tree secondary : secondaries) {
                secondary.close();
            }
            cache.stop(false, null);
            io.close();
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    private static void putLong(byte[] bytes, int at, long value) {
        MemorySegment.ofArray(bytes).set(Bytes.I64_BE, at, value);
    }

    private static void putInt(byte[] bytes, int at, int value) {
        IntegerPointable.setInteger(bytes, at, value);
    }

    /** Looks the old record up, writes anti-matter and a new entry where an attribute changed. */
    private final class EagerWriter implements Writer {
        private final byte[] id = new byte[8];
        private final Tuple idTuple = new Tuple(id, 8);
        private final byte[] recordBytes = new byte[8 + (1 << 10)];
        private final Tuple record = new Tuple(recordBytes, 8, 0);
        private final Tuple entry = new Tuple(new byte[12], 4, 8);
        private final int[] old = new int[Tweet.ATTRIBUTE_COUNT];

        @Override
        public void upsert(Tweet tweet) {
            putLong(id, 0, tweet.id);
            ITupleReference found = primary.find(idTuple);
            boolean hadOld = found != null;
            if (found != null) {
                for (int i = 0; i < old.length; i++) {
                    old[i] = IntegerPointable.getInteger(
                            found.getFieldData(1), found.getFieldStart(1) + 4 * i);
                }
            }
            primary.done();
            try {
                for (int i = 0; i < secondaries.size(); i++) {
                    maintain(i, hadOld, tweet);
                }
                encode(tweet);
                primary.accessor.upsert(record);
            } catch (HyracksDataException failed) {
                throw new IllegalStateException(failed);
            }
        }

        private void maintain(int index, boolean hadOld, Tweet tweet) throws HyracksDataException {
            int attribute = tweet.attributes[index];
            if (hadOld && old[index] == attribute) {
                return;
            }
            putLong(entry.data, 4, tweet.id);
            if (hadOld) {
                putInt(entry.data, 0, old[index]);
                secondaries.get(index).accessor.delete(entry);
            }
            putInt(entry.data, 0, attribute);
            secondaries.get(index).accessor.upsert(entry);
        }

        private void encode(Tweet tweet) {
            putLong(recordBytes, 0, tweet.id);
            int at = 8;
            for (int attribute : tweet.attributes) {
                putInt(recordBytes, at, attribute);
                at += 4;
            }
            putLong(recordBytes, at, tweet.created);
            at += 8;
            MemorySegment.copy(
                    tweet.message.segment(),
                    ValueLayout.JAVA_BYTE,
                    tweet.message.offset(),
                    recordBytes,
                    at,
                    tweet.message.length());
            record.lengths[1] = HEADER_BYTES + tweet.message.length();
        }
    }

    /** One LSM B+-tree with what one thread needs to use it. */
    private final class Tree {
        final LSMBTree tree;
        final ILSMIndexAccessor accessor;
        final IIndexCursor pointCursor;
        final IIndexCursor scanCursor;
        final RangePredicate range = new RangePredicate();
        final MultiComparator firstField;

        Tree(String name, boolean isPrimary, long memoryBytes) throws HyracksDataException {
            ITypeTraits[] types = isPrimary
                    ? new ITypeTraits[] {LongPointable.TYPE_TRAITS, VarLengthTypeTrait.INSTANCE}
                    : new ITypeTraits[] {IntegerPointable.TYPE_TRAITS, LongPointable.TYPE_TRAITS};
            IBinaryComparatorFactory[] order = isPrimary
                    ? new IBinaryComparatorFactory[] {LongBinaryComparatorFactory.INSTANCE}
                    : new IBinaryComparatorFactory[] {
                        IntegerBinaryComparatorFactory.INSTANCE,
                        LongBinaryComparatorFactory.INSTANCE
                    };
            List<IVirtualBufferCache> memory = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                memory.add(new VirtualBufferCache(
                        new HeapBufferAllocator(),
                        PAGE_BYTES,
                        Math.toIntExact(memoryBytes / PAGE_BYTES)));
            }
            PrefixMergePolicy policy = new PrefixMergePolicy();
            policy.configure(Map.of(
                    "max-mergable-component-size",
                    String.valueOf(1L << 30),
                    "max-tolerance-component-count",
                    "5"));
            tree = create(name, isPrimary, types, order, memory, policy);
            tree.create();
            tree.activate();
            accessor = tree.createAccessor(NoOpIndexAccessParameters.INSTANCE);
            pointCursor = accessor.createSearchCursor(false);
            scanCursor = accessor.createSearchCursor(false);
            firstField = MultiComparator.create(order, 0, 1);
        }

        // the 26 arguments of the released factory; null where a filter or a null type would stand
        private LSMBTree create(
                String name,
                boolean isPrimary,
                ITypeTraits[] types,
                IBinaryComparatorFactory[] order,
                List<IVirtualBufferCache> memory,
                PrefixMergePolicy policy)
                throws HyracksDataException {
            return LSMBTreeUtil.createLSMTree(
                    io,
                    memory,
                    io.resolveAbsolutePath(directory.resolve(name).toString()),
                    cache,
                    types,
                    order,
                    isPrimary ? new int[] {0} : null,
                    0.01,
                    policy,
                    new ThreadCountingTracker(),
                    scheduler,
                    NoOpIOOperationCallbackFactory.INSTANCE,
                    NoOpPageWriteCallbackFactory.INSTANCE,
                    false,
                    null,
                    null,
                    null,
                    null,
                    true,
                    AppendOnlyLinkedMetadataPageManagerFactory.INSTANCE,
                    false,
                    ITracer.NONE,
                    NoOpCompressorDecompressorFactory.INSTANCE,
                    isPrimary,
                    null,
                    null);
        }

        /** The record of this key, valid until {@link #done}; null if there is none. */
        @Nullable
        ITupleReference find(Tuple wanted) {
            try {
                range.reset(wanted, wanted, true, true, firstField, firstField);
                accessor.search(pointCursor, range);
                if (!pointCursor.hasNext()) {
                    return null;
                }
                pointCursor.next();
                return pointCursor.getTuple();
            } catch (HyracksDataException failed) {
                throw new IllegalStateException(failed);
            }
        }

        void done() {
            try {
                pointCursor.close();
            } catch (HyracksDataException failed) {
                throw new IllegalStateException(failed);
            }
        }

        void close() throws HyracksDataException {
            pointCursor.destroy();
            scanCursor.destroy();
            tree.deactivate();
        }
    }

    /** A tuple over one array, its fields one after another. */
    private static final class Tuple implements ITupleReference {
        final byte[] data;
        final int[] lengths;

        Tuple(byte[] data, int... lengths) {
            this.data = data;
            this.lengths = lengths;
        }

        @Override
        public int getFieldCount() {
            return lengths.length;
        }

        @Override
        public byte[] getFieldData(int field) {
            return data;
        }

        @Override
        public int getFieldStart(int field) {
            return field == 0 ? 0 : lengths[0];
        }

        @Override
        public int getFieldLength(int field) {
            return lengths[field];
        }
    }
}
