package io.turbidite.bench.text;

import io.turbidite.bench.engine.Costs;
import io.turbidite.bench.engine.Scratch;
import io.turbidite.bench.peer.HyracksWords;
import io.turbidite.bench.report.Report;
import io.turbidite.core.log.Durability;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.IndexCursor;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.TermSearch;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreDescription.ComponentDescription;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.schema.Maintenance;

import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.search.IndexSearcher;
import org.roaringbitmap.RoaringBitmap;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;

/**
 * Documents of eight Zipf words: what the words add to an upsert, how many bytes a posting takes,
 * and what the conjunction of two words costs. Beside Lucene and the inverted index of Hyracks, and
 * beside two forms that the component's own postings are put into: pairs coded by differences, and
 * Roaring bitmaps of ordinals.
 *
 * <p>Hyracks' index has no records: its inserts are what words add, and nothing else.
 */
public final class TextSuite {
    private static final String INDEX = "by_word";
    private static final String LUCENE = "Lucene";
    private static final String HYRACKS = "Hyracks";
    private static final String ADDED = "the words add, us";
    private static final int WRITE_MEMORY_BYTES = 128 << 20;
    private static final int CACHE_BYTES = 512 << 20;

    /** Ranks of two frequent words, and of a frequent and a rare one. */
    private static final int[][] PAIRS = {{5, 20}, {1, 2_000}};

    private static final int WARM_UP_ROUNDS = 5;

    /** The system tells CPU time in steps of ten milliseconds. */
    private static final long ROUND_NANOS_MIN = 300_000_000;

    /** Lists that are shorter are varints in the form with bitmaps too. */
    private static final int BITMAP_COUNT_MIN = 64;

    private final int documents;
    private final int rounds;
    private final Path directory;
    private final Report upserts;
    private final Report forms;

    /** Bytes of Lucene's index of the keys alone. */
    private long keysOfLucene;

    private long postingCount;

    /**
     * @param directory for the stores; emptied
     */
    public TextSuite(int documents, int rounds, Path directory) {
        this.documents = documents;
        this.rounds = rounds;
        this.directory = directory;
        this.upserts = report(
                "What eight Zipf words add to an upsert",
                List.of("eager", "validation", LUCENE, HYRACKS));
        this.forms = report(
                "Postings: space, and the conjunction of two words",
                List.of("pairs", "delta-coded pairs", "Roaring ordinals", LUCENE, HYRACKS));
    }

    private Report report(String title, List<String> engines) {
        return new Report(title, engines)
                .setting("documents", "%,d of 8 words, vocabulary 100,000".formatted(documents))
                .setting("figure", "CPU of the whole process, median of the rounds; warm")
                .setting("machine", Report.machine())
                .setting(
                        "command",
                        "./turbidite bench text --documents %d --rounds %d"
                                .formatted(documents, rounds));
    }

    public List<Report> run() throws IOException {
        for (int round = 0; round < rounds; round++) {
            for (Maintenance strategy : List.of(Maintenance.EAGER, Maintenance.VALIDATION)) {
                double without = load(strategy, false, false);
                boolean isLast = round == rounds - 1 && strategy == Maintenance.EAGER;
                double with = load(strategy, true, isLast);
                added(strategy.label(), without, with);
            }
            double without = loadLucene(false, false);
            double with = loadLucene(true, round == rounds - 1);
            added(LUCENE, without, with);
            upserts.add(ADDED, HYRACKS, loadHyracks(round == rounds - 1));
        }
        return List.of(upserts, forms);
    }

    private void added(String engine, double without, double with) {
        upserts.add("upsert without the words' index, us", engine, without);
        upserts.add("upsert with it, us", engine, with);
        upserts.add(ADDED, engine, with - without);
    }

    private double load(Maintenance strategy, boolean isIndexed, boolean isMeasured)
            throws IOException {
        Path path = Scratch.empty(directory.resolve("text"));
        StoreOptions options = StoreOptions.defaults()
                .withWriteMemoryBytes(WRITE_MEMORY_BYTES)
                .withCacheBytes(CACHE_BYTES)
                .withDurability(Durability.BUFFERED);
        DatasetSpec spec = DatasetSpec.named("Texts")
                .field("id", "int64")
                .field("body", "string")
                .primaryKey("id")
                .maintenance(strategy);
        double micros;
        try (Store store = Store.open(path, options)) {
            Dataset dataset = store.createDataset(
                    isIndexed ? spec.index(IndexSpec.inverted(INDEX, "body")) : spec);
            ZipfTexts texts = new ZipfTexts();
            RecordWriter writer = dataset.newRecordWriter();
            long cpu = Costs.cpuNanos();
            for (int i = 0; i < documents; i++) {
                writer.begin();
                writer.setLong(0, i);
                writer.setString(1, texts.next());
                dataset.upsertRecord(writer.finish());
            }
            dataset.flush();
            micros = (Costs.cpuNanos() - cpu) / 1e3 / documents;
            if (isMeasured) {
                dataset.mergeAll();
                measure(store, dataset);
            }
        }
        Scratch.delete(path);
        return micros;
    }

    private double loadLucene(boolean withWords, boolean isMeasured) throws IOException {
        Path path = Scratch.empty(directory.resolve("lucene"));
        double micros;
        try (LuceneWords lucene = new LuceneWords(path, withWords)) {
            ZipfTexts texts = new ZipfTexts();
            long cpu = Costs.cpuNanos();
            for (int i = 0; i < documents; i++) {
                lucene.upsert(i, texts.next());
            }
            lucene.commit();
            micros = (Costs.cpuNanos() - cpu) / 1e3 / documents;
            if (isMeasured) {
                measure(lucene);
            } else if (!withWords) {
                keysOfLucene = lucene.mergedBytes();
            }
        }
        Scratch.delete(path);
        return micros;
    }

    private double loadHyracks(boolean isMeasured) {
        Path path = Scratch.empty(directory.resolve("hyracks"));
        double micros;
        try (HyracksWords hyracks = new HyracksWords(path, WRITE_MEMORY_BYTES, CACHE_BYTES)) {
            ZipfTexts texts = new ZipfTexts();
            long cpu = Costs.cpuNanos();
            for (int i = 0; i < documents; i++) {
                hyracks.insert(i, texts.next());
            }
            hyracks.settle();
            micros = (Costs.cpuNanos() - cpu) / 1e3 / documents;
            if (isMeasured) {
                hyracks.mergeAll();
                forms.add("bytes a posting", HYRACKS, (double) hyracks.diskBytes() / postingCount);
                for (int[] pair : PAIRS) {
                    String words = ZipfTexts.word(pair[0]) + " " + ZipfTexts.word(pair[1]);
                    time(pair, HYRACKS, () -> hyracks.count(words));
                }
            }
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
        Scratch.delete(path);
        return micros;
    }

    private void measure(LuceneWords lucene) throws IOException {
        long bytes = lucene.mergedBytes() - keysOfLucene;
        forms.add("bytes a posting", LUCENE, (double) bytes / postingCount);
        try (DirectoryReader reader = lucene.open()) {
            IndexSearcher searcher = LuceneWords.searcher(reader);
            for (int[] pair : PAIRS) {
                String a = ZipfTexts.word(pair[0]);
                String b = ZipfTexts.word(pair[1]);
                time(pair, LUCENE, () -> LuceneWords.common(searcher, a, b));
            }
        }
    }

    private void measure(Store store, Dataset dataset) throws IOException {
        Postings postings = postings(dataset);
        postingCount = postings.count();
        forms.setting("postings", "%,d of %,d words".formatted(postingCount, postings.wordCount()));
        long bytes = store.describe().datasets().getFirst().partitions().stream()
                .flatMap(partition -> partition.indexes().stream())
                .filter(index -> index.name().equals(INDEX))
                .flatMap(index -> index.components().stream())
                .mapToLong(ComponentDescription::bytes)
                .sum();
        forms.add("bytes a posting", "pairs", (double) bytes / postingCount);
        long deltaBytes = 0;
        long roaringBytes = 0;
        for (int i = 0; i < postings.wordCount(); i++) {
            int wordBytes = postings.word(i).length;
            deltaBytes += new DeltaPairs(postings, i).byteCount(wordBytes);
            roaringBytes += wordBytes + roaringBytes(postings, i);
        }
        forms.add("bytes a posting", "delta-coded pairs", (double) deltaBytes / postingCount);
        forms.add("bytes a posting", "Roaring ordinals", (double) roaringBytes / postingCount);
        for (int[] pair : PAIRS) {
            conjunction(dataset, postings, pair);
        }
    }

    private void conjunction(Dataset dataset, Postings postings, int[] pair) throws IOException {
        TermSearch search =
                new TermSearch(List.of(ZipfTexts.word(pair[0]), ZipfTexts.word(pair[1])));
        int a = postings.find(search.secondaryKey(0));
        int b = postings.find(search.secondaryKey(1));
        forms.setting(
                "lists of ranks %d and %d".formatted(pair[0], pair[1]),
                "%,d and %,d"
                        .formatted(
                                postings.end(a) - postings.start(a),
                                postings.end(b) - postings.start(b)));
        try (ReadView view = dataset.openView()) {
            time(pair, "pairs", () -> {
                int count = 0;
                try (IndexCursor cursor = view.search(0, INDEX, search, FilterPredicate.none())) {
                    while (cursor.next()) {
                        count++;
                    }
                }
                return count;
            });
        }
        DeltaPairs deltaA = new DeltaPairs(postings, a);
        DeltaPairs deltaB = new DeltaPairs(postings, b);
        time(pair, "delta-coded pairs", () -> DeltaPairs.common(deltaA, deltaB));
        RoaringBitmap roaringA = roaring(postings, a);
        RoaringBitmap roaringB = roaring(postings, b);
        time(
                pair,
                "Roaring ordinals",
                () -> RoaringBitmap.and(roaringA, roaringB).getCardinality());
    }

    /** Of a single merged component; its primary has one record a document, in their order. */
    private static Postings postings(Dataset dataset) {
        Postings postings = new Postings();
        try (ReadView view = dataset.openView();
                IndexCursor cursor =
                        view.search(0, INDEX, KeyRange.all(), FilterPredicate.none())) {
            while (cursor.next()) {
                long id = (long) Objects.requireNonNull(
                        dataset.primaryKeySpec().decode(cursor.primaryKey(), 0).getFirst());
                postings.add(cursor.secondaryKey().toByteArray(), (int) id, cursor.timestamp());
            }
        }
        return postings;
    }

    private static RoaringBitmap roaring(Postings postings, int word) {
        RoaringBitmap bitmap = new RoaringBitmap();
        for (int at = postings.start(word); at < postings.end(word); at++) {
            bitmap.add(postings.document(at));
        }
        bitmap.runOptimize();
        return bitmap;
    }

    private static long roaringBytes(Postings postings, int word) {
        int start = postings.start(word);
        int end = postings.end(word);
        if (end - start >= BITMAP_COUNT_MIN) {
            return roaring(postings, word).serializedSizeInBytes();
        }
        long bytes = 0;
        for (int at = start; at < end; at++) {
            long step =
                    (long) postings.document(at) - (at == start ? 0 : postings.document(at - 1));
            bytes += Math.max(1, (70 - Long.numberOfLeadingZeros(step)) / 7);
        }
        return bytes;
    }

    /** Counts the documents with two words. */
    @FunctionalInterface
    private interface Conjunction {
        int count() throws IOException;
    }

    private void time(int[] pair, String form, Conjunction conjunction) throws IOException {
        String work = "conjunction of ranks %d and %d, us".formatted(pair[0], pair[1]);
        int found = -1;
        int repeats = 1;
        for (int round = -WARM_UP_ROUNDS; round < Math.max(rounds, 7); round++) {
            long cpu = Costs.cpuNanos();
            for (int i = 0; i < repeats; i++) {
                int count = conjunction.count();
                if (found >= 0 && count != found) {
                    throw new IllegalStateException("%d and %d".formatted(found, count));
                }
                found = count;
            }
            long nanos = Costs.cpuNanos() - cpu;
            if (round >= 0) {
                forms.add(work, form, nanos / 1e3 / repeats);
            } else if (nanos < ROUND_NANOS_MIN) {
                repeats *= 2;
                round--;
            }
        }
        String count = "found by ranks %d and %d".formatted(pair[0], pair[1]);
        double before = forms.figure(count, "pairs");
        if (!Double.isNaN(before) && before != found) {
            throw new IllegalStateException(
                    "%s: %s finds %d, pairs %.0f".formatted(count, form, found, before));
        }
        forms.add(count, form, found);
    }
}
