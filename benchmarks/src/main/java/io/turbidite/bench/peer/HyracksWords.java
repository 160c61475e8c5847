package io.turbidite.bench.peer;

import org.apache.hyracks.api.context.IHyracksTaskContext;
import org.apache.hyracks.api.dataflow.value.IBinaryComparatorFactory;
import org.apache.hyracks.api.dataflow.value.ITypeTraits;
import org.apache.hyracks.api.exceptions.HyracksDataException;
import org.apache.hyracks.api.io.IODeviceHandle;
import org.apache.hyracks.api.util.HyracksConstants;
import org.apache.hyracks.control.nc.io.DefaultDeviceResolver;
import org.apache.hyracks.control.nc.io.IOManager;
import org.apache.hyracks.data.std.accessors.LongBinaryComparatorFactory;
import org.apache.hyracks.data.std.accessors.UTF8StringBinaryComparatorFactory;
import org.apache.hyracks.data.std.primitive.LongPointable;
import org.apache.hyracks.data.std.primitive.UTF8StringPointable;
import org.apache.hyracks.dataflow.common.data.accessors.ITupleReference;
import org.apache.hyracks.dataflow.std.buffermanager.DeallocatableFramePool;
import org.apache.hyracks.dataflow.std.buffermanager.FramePoolBackedFrameBufferManager;
import org.apache.hyracks.storage.am.common.freepage.AppendOnlyLinkedMetadataPageManagerFactory;
import org.apache.hyracks.storage.am.common.impls.IndexAccessParameters;
import org.apache.hyracks.storage.am.common.impls.NoOpOperationCallback;
import org.apache.hyracks.storage.am.lsm.common.api.ILSMIndexAccessor;
import org.apache.hyracks.storage.am.lsm.common.api.IVirtualBufferCache;
import org.apache.hyracks.storage.am.lsm.common.impls.NoOpIOOperationCallbackFactory;
import org.apache.hyracks.storage.am.lsm.common.impls.NoOpPageWriteCallbackFactory;
import org.apache.hyracks.storage.am.lsm.common.impls.PrefixMergePolicy;
import org.apache.hyracks.storage.am.lsm.common.impls.ThreadCountingTracker;
import org.apache.hyracks.storage.am.lsm.common.impls.VirtualBufferCache;
import org.apache.hyracks.storage.am.lsm.invertedindex.fulltext.FullTextConfigEvaluatorFactory;
import org.apache.hyracks.storage.am.lsm.invertedindex.fulltext.IFullTextConfigEvaluatorFactory;
import org.apache.hyracks.storage.am.lsm.invertedindex.impls.LSMInvertedIndex;
import org.apache.hyracks.storage.am.lsm.invertedindex.search.ConjunctiveSearchModifier;
import org.apache.hyracks.storage.am.lsm.invertedindex.search.InvertedIndexSearchPredicate;
import org.apache.hyracks.storage.am.lsm.invertedindex.tokenizers.DelimitedUTF8StringBinaryTokenizerFactory;
import org.apache.hyracks.storage.am.lsm.invertedindex.tokenizers.IBinaryTokenizerFactory;
import org.apache.hyracks.storage.am.lsm.invertedindex.tokenizers.UTF8WordTokenFactory;
import org.apache.hyracks.storage.am.lsm.invertedindex.util.InvertedIndexUtils;
import org.apache.hyracks.storage.common.IIndexCursor;
import org.apache.hyracks.storage.common.buffercache.BufferCache;
import org.apache.hyracks.storage.common.buffercache.ClockPageReplacementStrategy;
import org.apache.hyracks.storage.common.buffercache.DelayPageCleanerPolicy;
import org.apache.hyracks.storage.common.buffercache.HeapBufferAllocator;
import org.apache.hyracks.storage.common.file.FileMapManager;
import org.apache.hyracks.util.string.UTF8StringUtil;
import org.apache.hyracks.util.trace.ITracer;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadFactory;
import java.util.stream.Stream;

/**
 * The LSM inverted index of Hyracks 0.3.8 alone, without the records: words of texts and the texts'
 * numbers. What is in the write memory is flushed when that is full, and merged by the prefix
 * policy. <em>Confined to one thread.</em>
 */
public final class HyracksWords implements AutoCloseable {
    private static final int PAGE_BYTES = 32 << 10;
    private static final int FRAME_BYTES = 32 << 10;
    private static final int SEARCH_FRAMES = 4_096;
    private static final ThreadFactory DAEMONS = work -> {
        Thread thread = new Thread(work, "hyracks");
        thread.setDaemon(true);
        return thread;
    };

    private final Path directory;
    private final IOManager io;
    private final BufferCache cache;
    private final SettlingScheduler scheduler = new SettlingScheduler(DAEMONS);
    private final LSMInvertedIndex index;
    private final ILSMIndexAccessor accessor;
    private final IIndexCursor cursor;
    private final InvertedIndexSearchPredicate predicate;
    private final Document document = new Document();

    /**
     * @param writeMemoryBytes of both memory components together
     */
    public HyracksWords(Path directory, long writeMemoryBytes, long cacheBytes) {
        this.directory = directory;
        IBinaryTokenizerFactory words = new DelimitedUTF8StringBinaryTokenizerFactory(
                true, false, new UTF8WordTokenFactory());
        IFullTextConfigEvaluatorFactory plain = FullTextConfigEvaluatorFactory.getDefaultFactory();
        try {
            io = new IOManager(
                    List.of(new IODeviceHandle(directory.toFile(), ".")),
                    new DefaultDeviceResolver(),
                    2,
                    64);
            cache = new BufferCache(
                    io,
                    new ClockPageReplacementStrategy(
                            new HeapBufferAllocator(),
                            PAGE_BYTES,
                            Math.toIntExact(cacheBytes / PAGE_BYTES)),
                    new DelayPageCleanerPolicy(600_000),
                    new FileMapManager(),
                    4_096,
                    64,
                    DAEMONS);
            index = create(words, plain, Math.toIntExact(writeMemoryBytes / 2 / PAGE_BYTES));
            index.create();
            index.activate();
            IHyracksTaskContext task = task();
            IndexAccessParameters parameters = new IndexAccessParameters(
                    NoOpOperationCallback.INSTANCE, NoOpOperationCallback.INSTANCE);
            parameters.getParameters().put(HyracksConstants.HYRACKS_TASK_CONTEXT, task);
            accessor = index.createAccessor(parameters);
            cursor = accessor.createSearchCursor(false);
        } catch (HyracksDataException failed) {
            throw new IllegalStateException(failed);
        }
        predicate = new InvertedIndexSearchPredicate(
                words.createTokenizer(),
                plain.createFullTextConfigEvaluator(),
                new ConjunctiveSearchModifier());
        predicate.setQueryTuple(document);
        predicate.setQueryFieldIndex(0);
    }

    // the 27 arguments of the released factory; null where a filter or a null type would stand
    private LSMInvertedIndex create(
            IBinaryTokenizerFactory words, IFullTextConfigEvaluatorFactory plain, int memoryPages)
            throws HyracksDataException {
        List<IVirtualBufferCache> memory = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            memory.add(new VirtualBufferCache(new HeapBufferAllocator(), PAGE_BYTES, memoryPages));
        }
        PrefixMergePolicy policy = new PrefixMergePolicy();
        policy.configure(Map.of(
                "max-mergable-component-size",
                String.valueOf(1L << 30),
                "max-tolerance-component-count",
                "5"));
        return InvertedIndexUtils.createLSMInvertedIndex(
                io,
                memory,
                new ITypeTraits[] {LongPointable.TYPE_TRAITS},
                new IBinaryComparatorFactory[] {LongBinaryComparatorFactory.INSTANCE},
                new ITypeTraits[] {UTF8StringPointable.TYPE_TRAITS},
                new IBinaryComparatorFactory[] {UTF8StringBinaryComparatorFactory.INSTANCE},
                words,
                plain,
                cache,
                io.resolveAbsolutePath(directory.resolve("words").toString()).getAbsolutePath(),
                0.01,
                policy,
                new ThreadCountingTracker(),
                scheduler,
                NoOpIOOperationCallbackFactory.INSTANCE,
                NoOpPageWriteCallbackFactory.INSTANCE,
                null,
                null,
                null,
                null,
                null,
                null,
                true,
                AppendOnlyLinkedMetadataPageManagerFactory.INSTANCE,
                ITracer.NONE,
                null,
                null);
    }

    /**
     * Searches ask the task that they run in for frames. Nothing here runs in a task, so this
     * stands for one: it has frames and nothing else.
     */
    private static IHyracksTaskContext task() throws HyracksDataException {
        Map<String, Object> shared = new HashMap<>();
        IHyracksTaskContext task = (IHyracksTaskContext) Proxy.newProxyInstance(
                HyracksWords.class.getClassLoader(),
                new Class<?>[] {IHyracksTaskContext.class},
                (self, method, given) -> answer(method, given, shared));
        shared.put(
                HyracksConstants.INVERTED_INDEX_SEARCH_FRAME_MANAGER,
                new FramePoolBackedFrameBufferManager(
                        new DeallocatableFramePool(task, SEARCH_FRAMES * FRAME_BYTES)));
        return task;
    }

    private static @Nullable Object answer(
            Method method, Object @Nullable [] given, Map<String, Object> shared) {
        return switch (method.getName()) {
            case "getInitialFrameSize" -> FRAME_BYTES;
            case "getSharedObject" -> shared;
            case "allocateFrame" ->
                ByteBuffer.allocate(given == null ? FRAME_BYTES : (int) given[0]);
            case "deallocateFrames" -> null;
            default -> throw new UnsupportedOperationException(method.toString());
        };
    }

    /** Of a text that is new. */
    public void insert(long id, String text) {
        document.set(text, id);
        try {
            accessor.insert(document);
        } catch (HyracksDataException failed) {
            throw new IllegalStateException(failed);
        }
    }

    /** Flushes what is in memory, and returns when no flush or merge is left. */
    public void settle() {
        try {
            accessor.scheduleFlush();
            scheduler.await();
        } catch (HyracksDataException failed) {
            throw new IllegalStateException(failed);
        }
    }

    /** Into one component. */
    public void mergeAll() {
        try {
            accessor.scheduleFullMerge();
            scheduler.await();
        } catch (HyracksDataException failed) {
            throw new IllegalStateException(failed);
        }
    }

    /** How many texts have all words. */
    public int count(String words) {
        document.set(words, 0);
        try {
            accessor.search(cursor, predicate);
            int count = 0;
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

    /** Bytes of all files. */
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
            cursor.destroy();
            index.deactivate();
            cache.stop(false, null);
            io.close();
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    /** A text, and the number of it. */
    private static final class Document implements ITupleReference {
        private byte[] text = new byte[0];
        private final byte[] id = new byte[Long.BYTES];

        void set(String newText, long newId) {
            text = UTF8StringUtil.writeStringToBytes(newText);
            LongPointable.setLong(id, 0, newId);
        }

        @Override
        public int getFieldCount() {
            return 2;
        }

        @Override
        public byte[] getFieldData(int field) {
            return field == 0 ? text : id;
        }

        @Override
        public int getFieldStart(int field) {
            return 0;
        }

        @Override
        public int getFieldLength(int field) {
            return field == 0 ? text.length : Long.BYTES;
        }
    }
}
