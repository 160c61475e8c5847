package io.turbidite.lsm.partition;

import io.turbidite.core.Limits;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.record.RecordView;
import io.turbidite.lsm.component.ComponentFilter;
import io.turbidite.lsm.component.ComponentId;
import io.turbidite.lsm.component.ComponentWriter;
import io.turbidite.lsm.entry.EntryCursor;
import io.turbidite.lsm.memory.MemoryComponent;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.version.ComponentHandle;
import io.turbidite.lsm.version.ManifestState.ComponentState;
import io.turbidite.lsm.version.ManifestState.PartitionState;
import io.turbidite.lsm.version.StoreFiles;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Builds the components of one empty partition from records in primary key order: the primary's pages
 * are written as records come, secondary entries are sorted in a memory component. When those hold as
 * much memory as they may, a chunk is completed: one component for each tree, with one ID. All chunks are
 * installed together.
 *
 * <p><em>Confined to one thread.</em>
 */
public final class BulkLoad implements AutoCloseable {
    private static final Slice NOTHING = new Slice();

    private final Partition partition;
    private final Substrate substrate;
    private final DatasetSchema schema;
    private final long chunkBytesMax;
    private final long expectedRecords;
    private final RecordView view;
    private final ByteSink sink = new ByteSink(256, 2 * Limits.KEY_BYTES_MAX);
    private final Slice encoded = new Slice();
    private final List<Map<Integer, ComponentHandle>> chunks = new ArrayList<>();
    private @Nullable Chunk chunk;
    private boolean installed;

    /** A chunk being built. */
    private static final class Chunk {
        final long timestamp;
        final long wallMicros;
        final long primaryFileId;
        final ComponentWriter primary;
        final MemoryComponent[] secondaries;
        final ComponentFilter.Builder filter;

        Chunk(BulkLoad load) {
            timestamp = load.drawTimestamp();
            wallMicros = load.substrate.clock().wallMicros();
            primaryFileId = load.substrate.manifest().newFileId();
            filter = ComponentFilter.builder(load.schema.filter().size());
            secondaries = new MemoryComponent[load.schema.indexes().size()];
            for (int i = 0; i < secondaries.length; i++) {
                secondaries[i] = MemoryComponent.create(load.substrate.chunks());
            }
            primary = ComponentFiles.create(
                    load.substrate,
                    load.schema,
                    load.partition.number(),
                    0,
                    primaryFileId,
                    load.expectedRecords);
        }

        long secondaryBytes() {
            long bytes = 0;
            for (MemoryComponent secondary : secondaries) {
                bytes += secondary.bytesUsed();
            }
            return bytes;
        }

        void close() {
            primary.close();
            for (MemoryComponent secondary : secondaries) {
                secondary.close();
            }
        }
    }

    /**
     * @param chunkBytesMax memory that the secondary entries of a chunk may take
     * @param expectedRecords sizes the Bloom filter; about right is good enough
     */
    public BulkLoad(Partition partition, long chunkBytesMax, long expectedRecords) {
        this.expectedRecords = expectedRecords;
        this.partition = partition;
        this.substrate = partition.substrate();
        this.schema = partition.schema();
        this.chunkBytesMax = chunkBytesMax;
        this.view = new RecordView(schema.type());
    }

    private long drawTimestamp() {
        substrate.timestamps().awaitRoom();
        long timestamp = substrate.timestamps().draw();
        substrate.timestamps().complete(timestamp);
        return timestamp;
    }

    /** Adds a record; keys must ascend. */
    public void add(Slice key, Slice record) {
        Chunk current = chunk;
        if (current == null) {
            current = new Chunk(this);
            chunk = current;
        }
        view.wrap(record);
        for (int field = 0; field < schema.filter().size(); field++) {
            KeySpec filter = schema.filter().get(field);
            if (filter.hasNullOrMissing(view)) {
                current.filter.addAbsent(field);
            } else {
                sink.clear();
                filter.append(view, sink);
                current.filter.add(field, sink.asSlice(encoded));
            }
        }
        List<IndexSchema> indexes = schema.indexes();
        for (int i = 0; i < indexes.size(); i++) {
            sink.clear();
            indexes.get(i).key().append(view, sink);
            sink.putBytes(key).asSlice(encoded);
            current.secondaries[i].put(encoded, current.timestamp, false, NOTHING);
        }
        current.primary.add(key, current.timestamp, false, record);
        if (current.secondaryBytes() >= chunkBytesMax) {
            complete(current);
        }
    }

    /** Writes what is left and makes all files durable. */
    public void complete() {
        if (chunk != null) {
            complete(chunk);
        }
        substrate.disk().syncDirectory(StoreFiles.DATA);
    }

    private void complete(Chunk done) {
        Map<Integer, ComponentHandle> handles = new HashMap<>();
        chunks.add(handles);
        long after = substrate.clock().wallMicros();
        ComponentId id = new ComponentId(firstTimestamp(done), done.timestamp);
        ComponentFilter filter = done.filter.build();
        done.primary.finish(id, filter, done.wallMicros, after);
        handles.put(
                IndexSchema.PRIMARY_ID,
                ComponentFiles.openNew(
                        substrate, schema, partition.number(), 0, done.primaryFileId));
        for (int i = 0; i < done.secondaries.length; i++) {
            long fileId = substrate.manifest().newFileId();
            int tree = schema.indexes().get(i).id();
            MemoryComponent memory = done.secondaries[i];
            try (ComponentWriter writer = ComponentFiles.create(
                            substrate,
                            schema,
                            partition.number(),
                            tree,
                            fileId,
                            memory.entryCount());
                    EntryCursor entries = memory.cursor()) {
                while (entries.next()) {
                    writer.add(entries.key(), entries.timestamp(), false, entries.value());
                }
                writer.finish(id, filter, done.wallMicros, after);
            }
            handles.put(
                    tree,
                    ComponentFiles.openNew(substrate, schema, partition.number(), tree, fileId));
        }
        done.close();
        chunk = null;
    }

    /** A chunk covers all from behind what lies under it. */
    private long firstTimestamp(Chunk done) {
        int earlier = chunks.size() - 2;
        long under =
                earlier >= 0 ? maxTimestamp(chunks.get(earlier)) : partition.flushedTimestamp();
        assert under < done.timestamp;
        return under + 1;
    }

    /** The first timestamp that a loaded record has; {@link Long#MAX_VALUE} if there is none. */
    public long loadedFrom() {
        return chunks.isEmpty()
                ? Long.MAX_VALUE
                : primary(chunks.getFirst()).state().minTimestamp();
    }

    private static long maxTimestamp(Map<Integer, ComponentHandle> chunkOf) {
        return primary(chunkOf).state().maxTimestamp();
    }

    private static ComponentHandle primary(Map<Integer, ComponentHandle> chunkOf) {
        return Objects.requireNonNull(chunkOf.get(IndexSchema.PRIMARY_ID));
    }

    /** What the manifest says of the partition once the load is there. */
    public PartitionState stateAfter(PartitionState before) {
        PartitionState after = before;
        for (Map<Integer, ComponentHandle> handles : chunks) {
            Map<Integer, ComponentState> components = new HashMap<>();
            handles.forEach((id, component) -> components.put(id, component.state()));
            after = after.withFlushed(maxTimestamp(handles), components);
        }
        return after;
    }

    /** Makes the load visible; under the manifest's lock. */
    public void install() {
        installed = true;
        if (!chunks.isEmpty()) {
            partition.installLoaded(chunks.reversed());
        }
    }

    /** The files must stay: a manifest may name them. */
    public void keepFiles() {
        installed = true;
    }

    /** Lets everything go; what was not installed is deleted. */
    @Override
    public void close() {
        if (chunk != null) {
            chunk.close();
            chunk = null;
        }
        for (Map<Integer, ComponentHandle> handles : chunks) {
            ComponentFiles.letGo(handles.values(), installed);
        }
        chunks.clear();
    }
}
