package io.turbidite.lsm.component;

import io.turbidite.core.ClosedException;
import io.turbidite.core.Limits;
import io.turbidite.core.Undo;
import io.turbidite.core.bloom.BloomFilter;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.format.Crc32c;
import io.turbidite.core.format.FileFooter;
import io.turbidite.core.format.FileHeader;
import io.turbidite.core.geo.SpatialKind;
import io.turbidite.core.memory.NativeMemory;
import io.turbidite.lsm.component.BlockWriter.Section;
import io.turbidite.lsm.component.ComponentWriters.Builders;
import io.turbidite.lsm.entry.EntryHead;
import io.turbidite.lsm.entry.EntryStream;
import io.turbidite.lsm.entry.KeyCopy;
import io.turbidite.lsm.rtree.BoxesBuilder;
import io.turbidite.lsm.sample.SampleBuilder;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Writes a component file in one sequential pass, from entries in order. Flush, merge, bulk load
 * and index building all end here.
 *
 * <p><em>Confined to one thread at a time.</em> Memory: a write buffer of a megabyte, one page
 * being filled for each tree, the Bloom filter, and about 60 bytes for each page written.
 *
 * <p>The file does not count until {@link #finish} has returned and its directory is synced (the
 * caller's); a writer that is closed before deletes it.
 */
public final class ComponentWriter implements AutoCloseable {
    /** Name in the file header. */
    static final String FORMAT = "component";

    /** A larger filter would not fit a block; beyond 800 million keys the rate suffers instead. */
    private static final long BLOOM_BYTES_MAX = 1L << 30;

    static final int META_BYTES_MAX = 64 << 20;

    private static final Slice NO_VALUE =
            new Slice().set(Arena.global().allocate(Long.BYTES, 8), 0, 0);

    private final Target target;
    private final DiskFile file;
    private final ComponentHeader header;
    private final ComponentOptions options;
    private final BlockWriter blocks;
    private final Builders recordBuilders;
    private final @Nullable Builders keyBuilders;
    private final TreeWriter records;
    private final @Nullable TreeWriter keys;
    private final BloomFilter.@Nullable Builder bloom;
    private final @Nullable TokenBloom tokens;
    private final @Nullable BoxesBuilder boxes;
    private final @Nullable SampleBuilder sample;

    private final KeyCopy lastKey = new KeyCopy();
    private final EntryHead brief = new EntryHead();
    private long lastTimestamp;
    private Slice firstKey = NO_VALUE;

    private long entryCount;
    private long antimatterCount;
    private long keyCount;

    /** -1: one for each entry that is no anti-matter. */
    private long versionCount = -1;

    private boolean finished;
    private boolean closed;

    private ComponentWriter(
            Target target, ComponentHeader header, ComponentOptions options, long expectedEntries) {
        Arena arena = target.arena;
        this.target = target;
        this.file = target.file;
        this.header = header;
        this.options = options;
        this.blocks = new BlockWriter(file, header.fileId(), FileHeader.BYTES, arena);
        this.recordBuilders = target.writers.take(options.pageBytes());
        this.records =
                new TreeWriter(blocks, Block.Kind.RECORD_LEAF, options, recordBuilders, arena);
        SpatialKind spatial = options.boxes();
        this.boxes = spatial == null ? null : new BoxesBuilder(spatial);
        records.boxedBy(boxes);
        this.keyBuilders = options.keyTree() ? target.writers.take(options.pageBytes()) : null;
        this.keys = keyBuilders == null
                ? null
                : new TreeWriter(blocks, Block.Kind.KEY_LEAF, options, keyBuilders, arena);
        this.bloom = options.bloom() && !options.tokens()
                ? newBloom(options.bloomFalsePositiveRate(), expectedEntries, arena)
                : null;
        this.tokens = options.bloom() && options.tokens()
                ? new TokenBloom(options.bloomFalsePositiveRate(), expectedEntries)
                : null;
        this.sample = header.isPrimary() ? new SampleBuilder() : null;
    }

    /**
     * Creates the file, for the only component that is written; {@link ComponentWriters} makes
     * many.
     *
     * @param name of the file; its directory must exist
     * @param expectedEntries at least as many as will come, else the Bloom filter misses its rate;
     *     the sum of a merge's inputs is right
     */
    public static ComponentWriter create(
            Disk disk,
            String name,
            ComponentHeader header,
            ComponentOptions options,
            long expectedEntries) {
        return new ComponentWriters(disk).create(name, header, options, expectedEntries);
    }

    static ComponentWriter create(
            ComponentWriters.Place place,
            ComponentHeader header,
            ComponentOptions options,
            long expectedEntries) {
        Disk disk = place.disk();
        Target target = new Target(
                disk,
                disk.create(place.name()),
                place.writers(),
                NativeMemory.shared("a writer of " + place.name()));
        try (Undo undo = Undo.of(() -> target.close(false))) {
            new FileHeader(FORMAT, ComponentMeta.VERSION, 0, header.storeId(), header.fileId())
                    .writeTo(target.file);
            return undo.keep(new ComponentWriter(target, header, options, expectedEntries));
        }
    }

    /** A filter that fits a block. */
    static BloomFilter.Builder newBloom(double rate, long expectedEntries, Arena arena) {
        long expectedKeys = Math.max(0, expectedEntries);
        while (BloomFilter.bytesFor(expectedKeys, rate) > BLOOM_BYTES_MAX) {
            expectedKeys -= expectedKeys / 8;
        }
        return BloomFilter.builder(expectedKeys, rate, arena);
    }

    /**
     * Adds the entry that comes next in the order (key ascending, timestamp descending).
     *
     * @param value empty for anti-matter
     * @throws IllegalArgumentException if it is not behind the entry before it, or too long
     */
    public void add(Slice key, long timestamp, boolean antimatter, Slice value) {
        brief.note(key, timestamp, antimatter);
        add(brief, value);
    }

    /** As {@link #add(Slice, long, boolean, Slice)}. */
    public void add(EntryHead entry, Slice value) {
        checkOpen();
        if (entry.keyBytes > Limits.KEY_BYTES_MAX || (entry.antimatter && value.length() > 0)) {
            throw new IllegalArgumentException(
                    "key of %d bytes, value of %d".formatted(entry.keyBytes, value.length()));
        }
        int shared = lastKey.sharedBytes(entry);
        boolean sameKey = entryCount > 0 && lastKey.matches(entry);
        if (entryCount > 0 && !isBehindLast(entry, sameKey)) {
            throw new IllegalArgumentException("%s at %d comes behind %s at %d"
                    .formatted(keyOf(entry), entry.timestamp, lastKey(), lastTimestamp));
        }
        records.add(entry, shared, sameKey, value);
        if (keys != null) {
            keys.add(entry, shared, sameKey, NO_VALUE);
        }
        if (!sameKey) {
            keyCount++;
            if (bloom != null || sample != null) {
                addHash(entry, value);
            }
            if (tokens != null) {
                tokens.add(entry, shared);
            }
            if (entryCount == 0) {
                firstKey = keyOf(entry);
            }
            lastKey.set(entry);
        }
        lastTimestamp = entry.timestamp;
        entryCount++;
        if (entry.antimatter) {
            antimatterCount++;
        }
    }

    /** Adds all that is left of a stream. */
    public void addAll(EntryStream entries) {
        while (entries.next()) {
            add(entries.key(), entries.timestamp(), entries.isAntimatter(), entries.value());
        }
    }

    private boolean isBehindLast(EntryHead entry, boolean sameKey) {
        return sameKey ? entry.timestamp < lastTimestamp : lastKey.precedes(entry);
    }

    private void addHash(EntryHead entry, Slice value) {
        long hash = hash(entry);
        if (bloom != null) {
            bloom.add(hash);
        }
        if (sample != null) {
            sample.add(entry, hash, value, blocks.fileOffset());
        }
    }

    private static long hash(EntryHead entry) {
        return entry.isLong()
                ? BloomFilter.hash(entry.longKey())
                : BloomFilter.hash(entry.prefix, entry.second, entry.keyBytes);
    }

    /** A copy. */
    private static Slice keyOf(EntryHead entry) {
        ByteSink copy = new ByteSink(EntryHead.WORDS_BYTES, Limits.KEY_BYTES_MAX);
        entry.putKey(copy);
        return copy.asSlice(new Slice());
    }

    /** Entries added so far. */
    public long entryCount() {
        return entryCount;
    }

    /** Bytes of the file so far, those in the buffer included; the pages being filled are not. */
    public long bytesWritten() {
        return blocks.fileOffset();
    }

    /**
     * Makes durable what has reached the file, so that there is less to wait for at the end, and
     * for others in between.
     */
    public void syncSoFar() {
        checkOpen();
        file.sync();
    }

    /**
     * Completes the file and makes it durable; its directory is the caller's to sync.
     *
     * @param id what the component covers
     * @param minWallMicros when its oldest operation happened, microseconds since 1970
     * @param maxWallMicros when its newest did
     */
    public void finish(
            ComponentId id, ComponentFilter filter, long minWallMicros, long maxWallMicros) {
        checkOpen();
        // 1. what is left of the leaves, the interior, the Bloom filter, the boxes, the sample
        records.finishLeaves();
        if (keys != null) {
            keys.finishLeaves();
        }
        Section recordInterior = records.writeInterior(Block.Kind.RECORD_INTERIOR);
        Section none = new Section(0, 0);
        Section keyInterior = keys == null ? none : keys.writeInterior(Block.Kind.KEY_INTERIOR);
        Section bloomSection = none;
        if (bloom != null) {
            bloomSection = blocks.write(Block.Kind.BLOOM, bloom.segment());
        } else if (tokens != null) {
            bloomSection = blocks.write(Block.Kind.BLOOM, tokens.build(target.arena));
        }
        Section boxesSection = none;
        if (boxes != null) {
            MemorySegment built = boxes.build(target.arena);
            boxesSection = blocks.write(Block.Kind.BOXES, built.asSlice(Block.HEADER_BYTES));
        }
        Section sampleSection = none;
        if (sample != null) {
            MemorySegment built = sample.build(blocks.fileOffset());
            sampleSection = built == null ? none : blocks.write(Block.Kind.SAMPLE, built);
        }
        blocks.flush();
        // 2. the table of contents and the footer that points to it
        ComponentMeta meta = new ComponentMeta(
                ComponentMeta.VERSION,
                header,
                id,
                new ComponentMeta.Times(minWallMicros, maxWallMicros),
                new ComponentMeta.Counts(
                        entryCount,
                        antimatterCount,
                        keyCount,
                        versionCount < 0 ? entryCount - antimatterCount : versionCount),
                options,
                new ComponentMeta.Sections(
                        recordInterior, keyInterior, bloomSection, boxesSection, sampleSection),
                firstKey,
                lastKey(),
                filter);
        writeMeta(meta);
        // 3. durable, and only then a component
        file.sync();
        finished = true;
        close();
    }

    private void writeMeta(ComponentMeta meta) {
        ByteSink sink = new ByteSink(1 << 10, META_BYTES_MAX);
        meta.encode(sink);
        long payloadOffset = blocks.fileOffset();
        int payloadBytes = sink.length();
        int checksum = new Crc32c().compute(sink.segment(), 0, payloadBytes);
        int footer = sink.reserve(FileFooter.BYTES);
        new FileFooter(payloadOffset, payloadBytes, checksum, header.storeId(), header.fileId())
                .write(sink.segment(), footer);
        file.write(payloadOffset, sink.segment(), 0, sink.length());
    }

    /**
     * Says how many versions of records the entries are of, where that is not one for each; before
     * {@link #finish}.
     */
    public void noteVersions(long count) {
        versionCount = count;
    }

    /** Entries so far that are no anti-matter. */
    public long matterCount() {
        return entryCount - antimatterCount;
    }

    /** Closes the file; deletes it unless it was finished. */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        target.writers.give(recordBuilders);
        if (keyBuilders != null) {
            target.writers.give(keyBuilders);
        }
        target.close(finished);
    }

    private Slice lastKey() {
        return entryCount == 0 ? new Slice() : lastKey.asSlice(new Slice());
    }

    private void checkOpen() {
        if (closed) {
            throw new ClosedException("the writer of " + file.name());
        }
    }

    /**
     * What is written to and what is freed with it. The arena is shared because a paused merge may
     * be closed by another thread than the one that ran it.
     */
    private record Target(Disk disk, DiskFile file, ComponentWriters writers, Arena arena) {
        void close(boolean keep) {
            try {
                arena.close();
                file.close();
            } finally {
                if (!keep) {
                    disk.delete(file.name());
                }
            }
        }
    }
}
