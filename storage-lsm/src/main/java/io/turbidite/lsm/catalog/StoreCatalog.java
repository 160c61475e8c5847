package io.turbidite.lsm.catalog;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.NearestName;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.catalog.ChangeBatch;
import io.turbidite.core.catalog.DatasetDefinition;
import io.turbidite.core.catalog.IndexDefinition;
import io.turbidite.core.catalog.Moment;
import io.turbidite.core.catalog.OpenCatalog;
import io.turbidite.core.file.Disk;
import io.turbidite.core.index.TokenKeys;
import io.turbidite.core.memory.ByteSize;
import io.turbidite.core.scan.IndexDescription;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.Source;
import io.turbidite.core.task.Tasks;
import io.turbidite.core.type.Field;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Snapshot;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreDescription;
import io.turbidite.lsm.WriteBatch;
import io.turbidite.lsm.component.ComponentOptions;
import io.turbidite.lsm.component.Compression;
import io.turbidite.lsm.component.PageOptions;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schema.DatasetOptions;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.lsm.schema.Retention;
import io.turbidite.lsm.version.StoreFiles;

import java.util.Arrays;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** An open store as SQL and JDBC see it. <em>Thread-safe.</em> */
public final class StoreCatalog implements OpenCatalog {
    private static final String MAINTENANCE = "maintenance";
    private static final String MERGE_POLICY = "mergePolicy";
    private static final String RETAIN = "retain";
    private static final String COMPRESSION = "compression";
    private static final String PAGE_BYTES = "pageBytes";

    private static final List<String> DATASET_OPTIONS = Stream.concat(
                    Arrays.stream(DatasetOptions.Choice.values()).map(DatasetOptions.Choice::key),
                    Stream.of(MERGE_POLICY, RETAIN, COMPRESSION, PAGE_BYTES))
            .toList();

    private final Store store;
    private final boolean isReadOnly;

    private StoreCatalog(Store store, boolean isReadOnly) {
        this.store = store;
        this.isReadOnly = isReadOnly;
    }

    /**
     * A store that the caller has open.
     *
     * @param isReadOnly whether it was opened for reading
     */
    public static StoreCatalog of(Store store, boolean isReadOnly) {
        return new StoreCatalog(store, isReadOnly);
    }

    @Override
    public boolean isReadOnly() {
        return isReadOnly;
    }

    @Override
    public List<Dataset> datasets() {
        return store.datasets().stream()
                .sorted(Comparator.comparing(Dataset::name))
                .toList();
    }

    @Override
    public Moment openMoment() {
        return new StoreMoment(store.openSnapshot());
    }

    private record StoreMoment(Snapshot snapshot) implements Moment {
        @Override
        public long timestamp() {
            return snapshot.timestamp();
        }

        @Override
        public ReadView view(Source source) {
            return snapshot.view(dataset(source));
        }

        @Override
        public void close() {
            snapshot.close();
        }
    }

    private static Dataset dataset(Source source) {
        if (!(source instanceof Dataset dataset)) {
            throw new InvalidRequestException(
                    "%s is no dataset of this store".formatted(source.name()));
        }
        return dataset;
    }

    @Override
    public DatasetDefinition describe(String dataset) {
        Dataset described = store.dataset(dataset);
        StoreDescription.DatasetDescription is = store.describe().datasets().stream()
                .filter(one -> one.name().equals(dataset))
                .findFirst()
                .orElseThrow(() -> new InvalidRequestException(
                        "dataset %s was dropped meanwhile".formatted(dataset)));
        Map<String, String> options = new LinkedHashMap<>();
        is.options().labels().forEach((key, label) -> {
            if (label != null) {
                options.put(key, label);
            }
        });
        PageOptions pages = is.options().components().pages();
        putPages(options, pages);
        return new DatasetDefinition(
                is.name(),
                described.type(),
                is.primaryKey(),
                is.filterFields(),
                is.partitions().size(),
                options,
                is.partitions().getFirst().indexes().stream()
                        .skip(1) // the primary
                        .map(index -> describe(index, pages))
                        .toList());
    }

    private static IndexDefinition describe(
            StoreDescription.IndexDescription index, PageOptions ofDataset) {
        Map<String, String> options = new LinkedHashMap<>();
        options.put(MAINTENANCE, index.maintenance());
        index.parameters().forEach((key, value) -> {
            if (!key.equals(TokenKeys.TABLES)) {
                options.put(key, value);
            }
        });
        if (!index.pages().equals(ofDataset)) {
            putPages(options, index.pages());
        }
        return new IndexDefinition(
                index.name(),
                IndexDescription.Kind.of(index.kind()),
                index.fields(),
                index.unique(),
                options,
                index.state());
    }

    private static void putPages(Map<String, String> options, PageOptions pages) {
        options.put(COMPRESSION, pages.compression().label());
        options.put(PAGE_BYTES, ByteSize.format(pages.pageBytes()));
    }

    @Override
    public void createDataset(DatasetDefinition definition) {
        checkUsers(definition.name());
        DatasetSpec spec = DatasetSpec.named(definition.name())
                .primaryKey(definition.primaryKey().toArray(String[]::new))
                .filter(definition.filterFields().toArray(String[]::new))
                .partitions(definition.partitions())
                .options(options(definition.options()));
        for (Field field : definition.type().declared()) {
            spec.field(field);
        }
        definition
                .indexes()
                .forEach(index -> spec.index(spec(index, spec.components().pages())));
        store.createDataset(spec);
    }

    private static DatasetOptions options(Map<String, String> given) {
        DatasetOptions.Builder options = DatasetOptions.builder();
        PageOptions pages = PageOptions.standard();
        for (Map.Entry<String, String> option : given.entrySet()) {
            String key = option.getKey();
            String value = option.getValue();
            switch (key) {
                case MERGE_POLICY -> options.mergePolicy(MergePolicySpec.parse(value));
                case RETAIN -> options.retention(Retention.parse(value));
                case COMPRESSION -> pages = pages.withCompression(Compression.ofLabel(value));
                case PAGE_BYTES -> pages = pages.withPageBytes(pageBytes(value));
                default -> choice(key).choose(options, value);
            }
        }
        return options.components(ComponentOptions.primary().withPages(pages)).build();
    }

    private static DatasetOptions.Choice choice(String key) {
        for (DatasetOptions.Choice choice : DatasetOptions.Choice.values()) {
            if (choice.key().equals(key)) {
                return choice;
            }
        }
        throw new InvalidRequestException("a dataset has no option '%s'; there are %s%s"
                .formatted(
                        key,
                        String.join(", ", DATASET_OPTIONS),
                        NearestName.hint(key, DATASET_OPTIONS)));
    }

    private static int pageBytes(String text) {
        return (int) Math.min(ByteSize.parse(PAGE_BYTES, text), Integer.MAX_VALUE);
    }

    @Override
    public void dropDataset(String dataset) {
        checkUsers(dataset);
        store.dropDataset(dataset);
    }

    @Override
    public void createIndex(String dataset, IndexDefinition index) {
        checkUsers(dataset);
        Dataset indexed = store.dataset(dataset);
        indexed.createIndex(spec(index, indexed.pages()));
    }

    /** @param ofDataset the pages that it has if it says nothing else */
    private static IndexSpec spec(IndexDefinition index, PageOptions ofDataset) {
        Map<String, String> parameters = new HashMap<>(index.options());
        String strategy = parameters.remove(MAINTENANCE);
        String compression = parameters.remove(COMPRESSION);
        // a kind that was given has no components: a page size is its own
        String pageBytes = index.kind().isGiven() ? null : parameters.remove(PAGE_BYTES);
        PageOptions pages = ofDataset;
        if (compression != null) {
            pages = pages.withCompression(Compression.ofLabel(compression));
        }
        if (pageBytes != null) {
            pages = pages.withPageBytes(pageBytes(pageBytes));
        }
        return new IndexSpec(
                index.name(),
                index.kind(),
                index.fields(),
                index.unique(),
                pages.equals(ofDataset) ? null : pages,
                strategy == null ? null : Maintenance.ofIndexLabel(strategy),
                parameters);
    }

    @Override
    public void dropIndex(String dataset, String index) {
        checkUsers(dataset);
        store.dataset(dataset).dropIndex(index);
    }

    @Override
    public ChangeBatch newBatch(Source dataset) {
        checkUsers(dataset.name());
        return new Batch(store, dataset(dataset));
    }

    private static void checkUsers(String dataset) {
        if (dataset.startsWith("_")) {
            throw new InvalidRequestException(
                    "dataset %s: names that begin with '_' are the store's own".formatted(dataset));
        }
    }

    private static final class Batch implements ChangeBatch {
        private static final int COUNT_MAX = 1_024;
        private static final int BYTES_MAX = 1 << 20;

        private final Store store;
        private final Dataset dataset;
        private final WriteBatch batch;

        Batch(Store store, Dataset dataset) {
            this.store = store;
            this.dataset = dataset;
            this.batch = store.newBatch();
        }

        @Override
        public void insert(Slice record) {
            batch.insert(dataset, record);
        }

        @Override
        public void upsert(Slice record) {
            batch.upsert(dataset, record);
        }

        @Override
        public void delete(Slice primaryKey) {
            batch.delete(dataset, primaryKey);
        }

        @Override
        public int size() {
            return batch.size();
        }

        @Override
        public boolean hasRoom(int bytes) {
            return batch.size() == 0
                    || (batch.size() < COUNT_MAX
                            && batch.byteCount() + (long) bytes <= BYTES_MAX
                            && batch.hasRoom(bytes));
        }

        @Override
        public void clear() {
            batch.clear();
        }

        @Override
        public void write() {
            store.write(batch);
        }

        @Override
        public BitSet writeIfUnchangedSince(long timestamp) {
            batch.onlyIfUnchangedSince(timestamp);
            store.write(batch);
            return batch.isRefused() ? batch.changed() : new BitSet();
        }
    }

    @Override
    public Disk disk() {
        return store.environment().disk();
    }

    @Override
    public String spillDirectory() {
        return StoreFiles.SPILL;
    }

    @Override
    public Tasks tasks() {
        return store.environment().tasks();
    }

    @Override
    public void close() {
        store.close();
    }
}
