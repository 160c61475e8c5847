package io.turbidite.lsm.component;

import io.turbidite.core.Limits;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.geo.SpatialKind;
import io.turbidite.lsm.component.BlockWriter.Section;

import org.jspecify.annotations.Nullable;

/**
 * The table of contents of a component file: the payload that its footer points to and checks.
 * <em>Immutable</em> (the slices are private copies). Fields in file order:
 *
 * <pre>
 * bytes field
 *     4 datasetId
 *     4 partition
 *     4 indexId
 *     8 minTimestamp        of the component ID
 *     8 maxTimestamp
 *     8 minWallMicros       when its oldest and newest operation happened, by the clock
 *     8 maxWallMicros
 *     8 entryCount          versions and anti-matter included
 *     8 antimatterCount
 *     8 keyCount            distinct keys
 *     8 versionCount        from version 4 on: records' versions that its entries are of
 *     4 pageBytes           options
 *     1 compression
 *     1 bloom               0 or 1, of keys; from version 5 on 2, of tokens that keys begin with
 *     1 keyTree             0 or 1
 *     8 bloomRate           a double's bits
 *   3*16 sections           fileOffset, bytes: record interior, key interior, Bloom; 0, 0 if absent
 *   2+n minKey              length u16, bytes; empty if there is no entry
 *   2+n maxKey
 *       filter              see ComponentFilter
 *     1 boxes               from version 3 on: 1 around points, 2 around rectangles, 0 none
 *    16 section             from version 3 on: of the boxes
 *    16 section             from version 6 on: of the sample; 0, 0 if there is none
 * </pre>
 *
 * <p>Version 2 had no boxes, version 3 was that of components with boxes alone. In version 4 the
 * filter has more. Since version 5 groups of leaf pages are narrower ({@code LeafLayout}).
 * Version 6 brought samples.
 */
record ComponentMeta(
        int version,
        ComponentHeader owner,
        ComponentId id,
        Times times,
        Counts counts,
        ComponentOptions options,
        Sections sections,
        Slice minKey,
        Slice maxKey,
        ComponentFilter filter) {

    /** The version that is written. */
    static final int VERSION = 6;

    /** The oldest one that is read. */
    static final int VERSION_MIN = 2;

    private static final int VERSION_WITH_BOXES = 3;
    private static final int VERSION_WITH_COUNT = 4;
    private static final int VERSION_WITH_TOKENS = 5;
    private static final int VERSION_WITH_SAMPLE = 6;
    private static final int NO_BLOOM = 0;
    private static final int BLOOM_OF_KEYS = 1;
    private static final int BLOOM_OF_TOKENS = 2;
    private static final int NO_BOXES = 0;

    /** When the oldest and the newest operation happened, in microseconds since 1970. */
    record Times(long minWallMicros, long maxWallMicros) {}

    /**
     * How many there are.
     *
     * @param versions of records, that have entries in here or might have: an index may have none
     *     or several of one. Before version 4 one entry was taken for one version
     */
    record Counts(long entries, long antimatter, long keys, long versions) {}

    record Sections(
            Section recordInterior,
            Section keyInterior,
            Section bloom,
            Section boxes,
            Section sample) {}

    void encode(ByteSink sink) {
        sink.putInt(owner.datasetId()).putInt(owner.partition()).putInt(owner.indexId());
        sink.putLong(id.minTimestamp()).putLong(id.maxTimestamp());
        sink.putLong(times.minWallMicros).putLong(times.maxWallMicros);
        sink.putLong(counts.entries).putLong(counts.antimatter).putLong(counts.keys);
        sink.putLong(counts.versions);
        sink.putInt(options.pageBytes());
        sink.putByte(options.compression().code());
        sink.putByte(
                !options.bloom() ? NO_BLOOM : options.tokens() ? BLOOM_OF_TOKENS : BLOOM_OF_KEYS);
        sink.putByte(options.keyTree() ? 1 : 0);
        sink.putLong(Double.doubleToLongBits(options.bloomFalsePositiveRate()));
        encode(sink, sections.recordInterior);
        encode(sink, sections.keyInterior);
        encode(sink, sections.bloom);
        encode(sink, minKey);
        encode(sink, maxKey);
        filter.encode(sink);
        SpatialKind boxes = options.boxes();
        sink.putByte(boxes == null ? NO_BOXES : boxes.code());
        encode(sink, sections.boxes);
        encode(sink, sections.sample);
    }

    private static void encode(ByteSink sink, Section section) {
        sink.putLong(section.fileOffset()).putLong(section.bytes());
    }

    private static void encode(ByteSink sink, Slice key) {
        sink.putByte(key.length() & 0xFF).putByte(key.length() >>> 8).putBytes(key);
    }

    /**
     * Decodes and checks everything that does not need the rest of the file.
     *
     * @param version of the file's format
     * @throws io.turbidite.core.CorruptionException if some field is not what a writer would write,
     *     or the file is of another dataset, partition or index than {@code expected}
     */
    static ComponentMeta decode(MetaReader reader, ComponentHeader expected, int version) {
        reader.expect("dataset", expected.datasetId(), reader.i32("dataset"));
        reader.expect("partition", expected.partition(), reader.i32("partition"));
        reader.expect("index", expected.indexId(), reader.i32("index"));
        long minTimestamp = reader.longCount("smallest timestamp");
        long maxTimestamp = reader.longCount("largest timestamp");
        reader.require(
                minTimestamp <= maxTimestamp && maxTimestamp <= Limits.TIMESTAMP_MAX,
                "largest timestamp",
                minTimestamp + " or more",
                maxTimestamp);
        Times times = new Times(reader.i64("wall clock"), reader.i64("wall clock"));
        Counts counts = decodeCounts(reader, version);
        reader.require(
                counts.antimatter <= counts.entries && counts.keys <= counts.entries,
                "entry count",
                "as many as keys and anti-matter",
                counts.entries);
        ComponentOptions options = decodeOptions(reader, version);
        Section recordInterior = decodeSection(reader);
        Section keyInterior = decodeSection(reader);
        Section bloom = decodeSection(reader);
        Slice minKey = reader.shortBytes("smallest key");
        Slice maxKey = reader.shortBytes("largest key");
        ComponentFilter filter = ComponentFilter.decode(reader, version);
        Section boxes = new Section(0, 0);
        if (version >= VERSION_WITH_BOXES) {
            options = options.withBoxes(decodeBoxes(reader, version));
            boxes = decodeSection(reader);
        }
        Section sample = version < VERSION_WITH_SAMPLE ? new Section(0, 0) : decodeSection(reader);
        reader.end("table of contents");
        return new ComponentMeta(
                version,
                expected,
                new ComponentId(minTimestamp, maxTimestamp),
                times,
                counts,
                options,
                new Sections(recordInterior, keyInterior, bloom, boxes, sample),
                minKey,
                maxKey,
                filter);
    }

    private static Counts decodeCounts(MetaReader reader, int version) {
        long entries = reader.longCount("entry count");
        long antimatter = reader.longCount("anti-matter count");
        long keys = reader.longCount("key count");
        long versions = version < VERSION_WITH_COUNT
                ? Math.max(0, entries - antimatter)
                : reader.longCount("version count");
        return new Counts(entries, antimatter, keys, versions);
    }

    private static ComponentOptions decodeOptions(MetaReader reader, int version) {
        int pageBytes = reader.i32("page size");
        reader.require(
                pageBytes >= PageOptions.PAGE_BYTES_MIN && pageBytes <= PageOptions.PAGE_BYTES_MAX,
                "page size",
                "a possible one",
                pageBytes);
        int code = reader.u8("compression");
        Compression compression = Compression.ofCode(code);
        if (compression == null) {
            throw reader.wrong("compression", "0 to 2", code);
        }
        int bloom = reader.u8("Bloom filter flag");
        int bloomMax = version < VERSION_WITH_TOKENS ? BLOOM_OF_KEYS : BLOOM_OF_TOKENS;
        reader.require(bloom <= bloomMax, "Bloom filter flag", "0 to " + bloomMax, bloom);
        boolean keyTree = reader.flag("key tree flag");
        long rateBits = reader.i64("Bloom rate");
        double rate = Double.longBitsToDouble(rateBits);
        reader.require(
                rate >= ComponentOptions.BLOOM_RATE_MIN && rate <= ComponentOptions.BLOOM_RATE_MAX,
                "Bloom rate",
                "a possible one",
                rateBits);
        PageOptions pages = new PageOptions(pageBytes, compression);
        return new ComponentOptions(pages, bloom != NO_BLOOM, rate, keyTree)
                .withTokens(bloom == BLOOM_OF_TOKENS);
    }

    private static @Nullable SpatialKind decodeBoxes(MetaReader reader, int version) {
        int code = reader.u8("boxes");
        SpatialKind kind = SpatialKind.ofCode(code);
        if (kind == null && (version == VERSION_WITH_BOXES || code != NO_BOXES)) {
            throw reader.wrong("boxes", version == VERSION_WITH_BOXES ? "1 or 2" : "0 to 2", code);
        }
        return kind;
    }

    private static Section decodeSection(MetaReader reader) {
        return new Section(reader.longCount("section"), reader.longCount("section"));
    }
}
