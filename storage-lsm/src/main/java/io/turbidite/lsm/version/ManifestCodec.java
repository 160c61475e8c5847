package io.turbidite.lsm.version;

import io.turbidite.core.index.EntryKeys;
import io.turbidite.core.key.KeyForm;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.scan.IndexDescription;
import io.turbidite.core.type.Field;
import io.turbidite.core.type.RecordType;
import io.turbidite.lsm.component.ComponentOptions;
import io.turbidite.lsm.component.Compression;
import io.turbidite.lsm.component.PageOptions;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schema.DatasetOptions;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.schema.IndexCatalog;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.schema.IndexSchema.State;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.lsm.schema.RepairPlacement;
import io.turbidite.lsm.schema.Retention;
import io.turbidite.lsm.schema.TreeId;
import io.turbidite.lsm.version.DatasetCounts.Flushes;
import io.turbidite.lsm.version.DatasetCounts.IndexReads;
import io.turbidite.lsm.version.DatasetCounts.Lookups;
import io.turbidite.lsm.version.DatasetCounts.Reads;
import io.turbidite.lsm.version.ManifestState.BitmapState;
import io.turbidite.lsm.version.ManifestState.ComponentState;
import io.turbidite.lsm.version.ManifestState.DatasetState;
import io.turbidite.lsm.version.ManifestState.PartitionState;
import io.turbidite.lsm.version.ManifestState.RegionState;
import io.turbidite.lsm.version.ManifestState.TreeState;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The payload of the manifest file, version 16. All integers big-endian, strings as {@link
 * DataOutputStream#writeUTF}, lists as a 32-bit count and the elements. It is read only after its
 * checksum was found right, so a count can be believed.
 *
 * <pre>
 * payload   := nextFileId i64, nextDatasetId i32, lastTimestamp i64, logPosition i64, hasLog bool,
 *              session i64, ownFrom i64, dataset*
 * dataset   := id i32, version i32, name str, field*, partitions i32, primaryKey str*, filterField str*,
 *              keyForm u8, nextIndexId i32, index*, maintenance str, policy str, retain str, repair str,
 *              bitmapHandover str, options, partition*, counts
 * field     := name str, type str
 * index     := id i32, name str, kind str, field str*, keyForm u8, parameter*, maintenance str, unique bool, disabled bool,
 *              ownPages bool, [pageBytes i32, compression str]
 * parameter := name str, value str           by name
 * options   := pageBytes i32, compression str, bloom bool, bloomFalsePositiveRate f64, keyTree bool
 * partition := flushedTimestamp i64, tree*, region*        tree := indexId i32, component*
 * region    := indexId i32, regionId i64, absorbedThrough i64
 * component := fileId i64, minTimestamp i64, maxTimestamp i64, bytes i64, generation i32,
 *              repairedTimestamp i64, deadFileId i64, [deadBytes i64, deadCount i64], quarantine str,
 *              isUntold bool
 * counts    := writes i64, deletes i64, superseded i64, merged i64, lookedUp i64, found i64,
 *              fetched i64, validated i64, valid i64, indexReads*, repairPlace*
 * indexReads := indexId i32, searches i64, entries i64        repairPlace := indexId i32, placement str
 * </pre>
 *
 * <p>Version 15 had no ownFrom: no timestamp was known to be of one operation. Version 14 had no
 * session. Version 13 had no regions. Version 12 had no parameters: every index was a B+-tree.
 * Version 11 had neither hasLog, which was not known then, nor isUntold: the
 * words of its cause told. Version 10 had no cause: every component was sound, as far as it knew,
 * and all keys had the first form.
 */
final class ManifestCodec {
    /** Since then components may be set aside, and the form of keys is told. */
    private static final int QUARANTINE_VERSION = 11;

    private static final int KEY_FORM_VERSION = 11;

    /** Since then it is told whether the log has held records, and which components are untold. */
    private static final int HAS_LOG_VERSION = 12;

    /** Since then an index has a kind that takes parameters. */
    private static final int PARAMETERS_VERSION = 13;

    /** Since then a partition may have regions. */
    private static final int REGIONS_VERSION = 14;

    /** Since then the last opening for writing has a number. */
    private static final int SESSION_VERSION = 15;

    /** Since then it is told which timestamps are of one operation. */
    private static final int OWN_TIMESTAMPS_VERSION = 16;

    /** What the causes of components that are untold say in version 11. */
    private static final String UNTOLD = "the log supersedes ";

    private ManifestCodec() {}

    static byte[] encode(ManifestState state) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeLong(state.nextFileId());
            out.writeInt(state.nextDatasetId());
            out.writeLong(state.lastTimestamp());
            out.writeLong(state.logPosition());
            out.writeBoolean(state.hasLog());
            out.writeLong(state.session());
            out.writeLong(state.ownFrom());
            out.writeInt(state.datasets().size());
            for (DatasetState dataset : state.datasets()) {
                writeSchema(out, dataset.schema());
                out.writeInt(dataset.partitions().size());
                for (PartitionState partition : dataset.partitions()) {
                    writePartition(out, partition);
                }
                writeCounts(out, dataset.counts());
            }
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
        return bytes.toByteArray();
    }

    /**
     * Reads a payload back.
     *
     * @param version that it was written in
     * @throws IOException if it ends too early or does not end where it should
     */
    static ManifestState decode(int version, long storeId, byte[] payload) throws IOException {
        try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(payload))) {
            long nextFileId = in.readLong();
            int nextDatasetId = in.readInt();
            long lastTimestamp = in.readLong();
            long logPosition = in.readLong();
            boolean hasLog = version >= HAS_LOG_VERSION && in.readBoolean();
            long session = version >= SESSION_VERSION ? in.readLong() : 0;
            long ownFrom =
                    version >= OWN_TIMESTAMPS_VERSION ? in.readLong() : ManifestState.NONE_OWN;
            List<DatasetState> datasets = new ArrayList<>();
            int datasetCount = in.readInt();
            for (int i = 0; i < datasetCount; i++) {
                DatasetSchema schema = readSchema(in, version);
                List<PartitionState> partitions = new ArrayList<>();
                int partitionCount = in.readInt();
                for (int p = 0; p < partitionCount; p++) {
                    partitions.add(readPartition(in, version));
                }
                datasets.add(new DatasetState(schema, partitions, readCounts(in)));
            }
            if (in.available() != 0) {
                throw new IOException("%d bytes too many".formatted(in.available()));
            }
            return new ManifestState(
                    storeId,
                    nextFileId,
                    nextDatasetId,
                    session,
                    new ManifestState.Progress(lastTimestamp, logPosition, hasLog, ownFrom),
                    datasets);
        }
    }

    private static void writeSchema(DataOutputStream out, DatasetSchema schema) throws IOException {
        out.writeInt(schema.id());
        out.writeInt(schema.version());
        out.writeUTF(schema.name());
        out.writeInt(schema.type().declared().size());
        for (Field field : schema.type().declared()) {
            out.writeUTF(field.name());
            out.writeUTF(field.typeLabel());
        }
        out.writeInt(schema.partitions());
        writeStrings(out, schema.primaryKey().fields());
        writeStrings(out, schema.filterFields());
        out.writeByte(schema.primaryKey().form().number());
        out.writeInt(schema.catalog().nextId());
        out.writeInt(schema.catalog().all().size());
        for (IndexSchema index : schema.catalog().all()) {
            assert index.state() != State.BUILDING : index;
            out.writeInt(index.id());
            out.writeUTF(index.name());
            out.writeUTF(index.kind().name());
            writeStrings(out, index.fields());
            out.writeByte(index.entryKeys().form().number());
            writeParameters(out, index.entryKeys().parameters());
            out.writeUTF(index.maintenance().label());
            out.writeBoolean(index.unique());
            out.writeBoolean(index.state() == State.DISABLED);
            PageOptions pages = index.pages();
            out.writeBoolean(pages != null);
            if (pages != null) {
                writePages(out, pages);
            }
        }
        writeOptions(out, schema.options());
    }

    /** Merge policy and retention stand behind the first choice, the components last. */
    private static void writeOptions(DataOutputStream out, DatasetOptions options)
            throws IOException {
        for (DatasetOptions.Choice choice : DatasetOptions.Choice.values()) {
            out.writeUTF(choice.label(options));
            if (choice == DatasetOptions.Choice.MAINTENANCE) {
                out.writeUTF(options.mergePolicy().toString());
                Retention retention = options.retention();
                out.writeUTF(retention == null ? "" : retention.toString());
            }
        }
        ComponentOptions components = options.components();
        writePages(out, components.pages());
        out.writeBoolean(components.bloom());
        out.writeDouble(components.bloomFalsePositiveRate());
        out.writeBoolean(components.keyTree());
    }

    private static DatasetOptions readOptions(DataInputStream in) throws IOException {
        DatasetOptions.Builder options = DatasetOptions.builder();
        for (DatasetOptions.Choice choice : DatasetOptions.Choice.values()) {
            choice.choose(options, in.readUTF());
            if (choice == DatasetOptions.Choice.MAINTENANCE) {
                MergePolicySpec policy = MergePolicySpec.parse(in.readUTF());
                String retain = in.readUTF();
                options.mergePolicy(policy)
                        .retention(retain.isEmpty() ? null : Retention.parse(retain));
            }
        }
        PageOptions pages = readPages(in);
        boolean bloom = in.readBoolean();
        double falsePositiveRate = in.readDouble();
        boolean keyTree = in.readBoolean();
        return options.components(new ComponentOptions(pages, bloom, falsePositiveRate, keyTree))
                .build();
    }

    private static void writeParameters(DataOutputStream out, Map<String, String> parameters)
            throws IOException {
        out.writeInt(parameters.size());
        for (Map.Entry<String, String> parameter : new TreeMap<>(parameters).entrySet()) {
            out.writeUTF(parameter.getKey());
            out.writeUTF(parameter.getValue());
        }
    }

    private static Map<String, String> readParameters(DataInputStream in) throws IOException {
        Map<String, String> parameters = new HashMap<>();
        int count = in.readInt();
        for (int i = 0; i < count; i++) {
            String name = in.readUTF();
            parameters.put(name, in.readUTF());
        }
        return parameters;
    }

    private static void writePages(DataOutputStream out, PageOptions pages) throws IOException {
        out.writeInt(pages.pageBytes());
        out.writeUTF(pages.compression().label());
    }

    private static PageOptions readPages(DataInputStream in) throws IOException {
        int pageBytes = in.readInt();
        return new PageOptions(pageBytes, Compression.ofLabel(in.readUTF()));
    }

    private static KeyForm readKeyForm(DataInputStream in, int version) throws IOException {
        return version < KEY_FORM_VERSION
                ? KeyForm.SIGNED_ZEROS
                : KeyForm.ofNumber(in.readUnsignedByte());
    }

    private static DatasetSchema readSchema(DataInputStream in, int version) throws IOException {
        int id = in.readInt();
        int schemaVersion = in.readInt();
        String name = in.readUTF();
        List<Field> fields = new ArrayList<>();
        int fieldCount = in.readInt();
        for (int i = 0; i < fieldCount; i++) {
            String fieldName = in.readUTF();
            fields.add(Field.parse(fieldName, in.readUTF()));
        }
        RecordType type = RecordType.of(fields);
        int partitions = in.readInt();
        List<String> keyFields = readStrings(in);
        List<String> filterFields = readStrings(in);
        KeyForm form = readKeyForm(in, version);
        String use = "dataset " + name;
        KeySpec primaryKey = KeySpec.of(type, keyFields, use + ": primary key", form);
        List<KeySpec> filter = new ArrayList<>();
        for (String field : filterFields) {
            filter.add(KeySpec.of(type, List.of(field), use + ": filter", form));
        }
        int nextIndexId = in.readInt();
        List<IndexSchema> indexes = new ArrayList<>();
        int indexCount = in.readInt();
        for (int i = 0; i < indexCount; i++) {
            indexes.add(readIndex(in, version, type, use));
        }
        IndexCatalog catalog = IndexCatalog.of(name, indexes, nextIndexId);
        DatasetOptions options = readOptions(in);
        return new DatasetSchema(
                id, schemaVersion, name, type, primaryKey, filter, catalog, partitions, options);
    }

    private static IndexSchema readIndex(
            DataInputStream in, int version, RecordType type, String dataset) throws IOException {
        int id = in.readInt();
        String name = in.readUTF();
        IndexDescription.Kind kind = IndexDescription.Kind.valueOf(in.readUTF());
        List<String> keyFields = readStrings(in);
        KeyForm form = readKeyForm(in, version);
        Map<String, String> parameters =
                version < PARAMETERS_VERSION ? Map.of() : readParameters(in);
        EntryKeys entryKeys = IndexDescription.entryKeys(
                kind, type, keyFields, dataset + ": index " + name, form, parameters);
        Maintenance maintenance = Maintenance.ofLabel(in.readUTF());
        boolean unique = in.readBoolean();
        State state = in.readBoolean() ? State.DISABLED : State.READY;
        PageOptions pages = in.readBoolean() ? readPages(in) : null;
        return new IndexSchema(id, name, kind, entryKeys, maintenance, unique, pages, state);
    }

    private static void writePartition(DataOutputStream out, PartitionState partition)
            throws IOException {
        out.writeLong(partition.flushedTimestamp());
        out.writeInt(partition.trees().size());
        for (TreeState tree : partition.trees()) {
            out.writeInt(tree.tree().number());
            out.writeInt(tree.components().size());
            for (ComponentState component : tree.components()) {
                writeComponent(out, component);
            }
        }
        out.writeInt(partition.regions().size());
        for (RegionState region : partition.regions()) {
            out.writeInt(region.tree().number());
            out.writeLong(region.regionId());
            out.writeLong(region.absorbedThrough());
        }
    }

    private static void writeComponent(DataOutputStream out, ComponentState component)
            throws IOException {
        out.writeLong(component.fileId());
        out.writeLong(component.minTimestamp());
        out.writeLong(component.maxTimestamp());
        out.writeLong(component.bytes());
        out.writeInt(component.generation());
        out.writeLong(component.repairedTimestamp());
        BitmapState invalidEntries = component.invalidEntries();
        out.writeLong(invalidEntries.fileId());
        if (!invalidEntries.isNone()) {
            out.writeLong(invalidEntries.bytes());
            out.writeLong(invalidEntries.count());
        }
        out.writeUTF(component.quarantine());
        out.writeBoolean(component.isUntold());
    }

    private static ComponentState readComponent(DataInputStream in, int version)
            throws IOException {
        long fileId = in.readLong();
        long minTimestamp = in.readLong();
        long maxTimestamp = in.readLong();
        long bytes = in.readLong();
        int generation = in.readInt();
        long repairedTimestamp = in.readLong();
        long bitmapFileId = in.readLong();
        BitmapState invalidEntries = bitmapFileId == 0
                ? BitmapState.NONE
                : new BitmapState(bitmapFileId, in.readLong(), in.readLong());
        String quarantine = version >= QUARANTINE_VERSION ? in.readUTF() : "";
        boolean untold =
                version >= HAS_LOG_VERSION ? in.readBoolean() : quarantine.contains(UNTOLD);
        return new ComponentState(
                fileId,
                minTimestamp,
                maxTimestamp,
                bytes,
                generation,
                repairedTimestamp,
                invalidEntries,
                quarantine,
                untold);
    }

    private static PartitionState readPartition(DataInputStream in, int version)
            throws IOException {
        long flushedTimestamp = in.readLong();
        List<TreeState> trees = new ArrayList<>();
        int treeCount = in.readInt();
        for (int tree = 0; tree < treeCount; tree++) {
            int indexId = in.readInt();
            List<ComponentState> components = new ArrayList<>();
            int componentCount = in.readInt();
            for (int i = 0; i < componentCount; i++) {
                components.add(readComponent(in, version));
            }
            trees.add(new TreeState(TreeId.of(indexId), components));
        }
        List<RegionState> regions = new ArrayList<>();
        int regionCount = version < REGIONS_VERSION ? 0 : in.readInt();
        for (int region = 0; region < regionCount; region++) {
            regions.add(new RegionState(TreeId.of(in.readInt()), in.readLong(), in.readLong()));
        }
        return new PartitionState(flushedTimestamp, trees, regions);
    }

    private static void writeCounts(DataOutputStream out, DatasetCounts counts) throws IOException {
        Flushes flushes = counts.flushes();
        out.writeLong(flushes.writes());
        out.writeLong(flushes.deletes());
        out.writeLong(flushes.superseded());
        out.writeLong(flushes.merged());
        out.writeLong(counts.lookups().lookedUp());
        out.writeLong(counts.lookups().found());
        out.writeLong(counts.reads().fetched());
        out.writeLong(counts.reads().validated());
        out.writeLong(counts.reads().valid());
        Map<Integer, IndexReads> indexes = counts.sorted();
        out.writeInt(indexes.size());
        for (Map.Entry<Integer, IndexReads> index : indexes.entrySet()) {
            out.writeInt(index.getKey());
            out.writeLong(index.getValue().searches());
            out.writeLong(index.getValue().entries());
        }
        Map<Integer, RepairPlacement> repairs = counts.sortedRepairs();
        out.writeInt(repairs.size());
        for (Map.Entry<Integer, RepairPlacement> repair : repairs.entrySet()) {
            out.writeInt(repair.getKey());
            out.writeUTF(repair.getValue().label());
        }
    }

    private static DatasetCounts readCounts(DataInputStream in) throws IOException {
        Flushes flushes = new Flushes(in.readLong(), in.readLong(), in.readLong(), in.readLong());
        Lookups lookups = new Lookups(in.readLong(), in.readLong());
        Reads reads = new Reads(in.readLong(), in.readLong(), in.readLong());
        Map<Integer, IndexReads> indexes = new HashMap<>();
        int indexCount = in.readInt();
        for (int i = 0; i < indexCount; i++) {
            int id = in.readInt();
            indexes.put(id, new IndexReads(in.readLong(), in.readLong()));
        }
        Map<Integer, RepairPlacement> repairs = new HashMap<>();
        int repairCount = in.readInt();
        for (int i = 0; i < repairCount; i++) {
            int id = in.readInt();
            repairs.put(id, RepairPlacement.ofLabel(in.readUTF()));
        }
        return new DatasetCounts(flushes, lookups, reads, indexes, repairs);
    }

    private static void writeStrings(DataOutputStream out, List<String> strings)
            throws IOException {
        out.writeInt(strings.size());
        for (String string : strings) {
            out.writeUTF(string);
        }
    }

    private static List<String> readStrings(DataInputStream in) throws IOException {
        List<String> strings = new ArrayList<>();
        int count = in.readInt();
        for (int i = 0; i < count; i++) {
            strings.add(in.readUTF());
        }
        return strings;
    }
}
