package io.turbidite.lsm.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.index.TokenKeys;
import io.turbidite.core.log.Durability;
import io.turbidite.core.log.LogOptions;
import io.turbidite.core.meter.Reading;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.IndexCursor;
import io.turbidite.core.scan.IndexSearch;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.TermSearch;
import io.turbidite.core.scan.ValidSearch;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.text.Tokenizer;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Inside;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.WriteBatch;
import io.turbidite.lsm.harness.AnswerCheck;
import io.turbidite.lsm.harness.Row;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.lsm.schema.TreeId;
import io.turbidite.lsm.version.Manifest;
import io.turbidite.lsm.version.ManifestState.DatasetState;
import io.turbidite.lsm.version.MemoryLayer;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.IntStream;

/** An inverted index on texts that are not usual ones. */
class InvertedIndexTest {
    private static final long SEED = 15;
    private static final String BY_WORD = "by_word";
    private static final TreeId TREE = TreeId.of(3);

    private final SimDisk disk = new SimDisk(SEED, Profile.STRICT);
    private SimStore sim = open();

    private SimStore open() {
        return SimStore.open(disk, SEED, SimStore.options(Durability.SYNC));
    }

    /** A store that takes records of megabytes. */
    private void openLarge() {
        sim.close();
        sim = SimStore.open(
                disk,
                SEED,
                StoreOptions.defaults()
                        .withWriteMemoryBytes(32 << 20)
                        .withCacheBytes(8 << 20)
                        .withLog(
                                256 << 20,
                                LogOptions.defaults().withDurability(Durability.BUFFERED)));
    }

    @AfterEach
    void close() {
        sim.close();
        assertThat(disk.openHandles()).isEmpty();
    }

    private static DatasetSpec spec(Maintenance maintenance) {
        return Row.spec("T").maintenance(maintenance).index(IndexSpec.inverted(BY_WORD, "body"));
    }

    private Dataset dataset() {
        return sim.store.dataset("T");
    }

    private static Row row(long id, String body) {
        return new Row(id, "ann", 1, null, body);
    }

    private void put(long id, String body) {
        dataset().upsert(row(id, body).toMap());
    }

    private List<Long> find(String... terms) {
        return find(new TermSearch(List.of(terms)));
    }

    private List<Long> findSome(int least, String... terms) {
        return find(new TermSearch(List.of(terms), least));
    }

    private List<Long> find(TermSearch search) {
        List<Long> found = new ArrayList<>();
        IndexSchema index =
                Objects.requireNonNull(Inside.schema(dataset()).catalog().find(BY_WORD));
        try (ReadView view = dataset().openView();
                ValidSearch entries = ValidSearch.open(
                        view, 0, index.describe(), search, FilterPredicate.none())) {
            while (entries.next()) {
                found.add((Long) Objects.requireNonNull(dataset()
                        .primaryKeySpec()
                        .decode(entries.primaryKey(), 0)
                        .getFirst()));
            }
        }
        return found;
    }

    /** What a search asked of components: how many, and how many lack a term. */
    private List<Long> asked(IndexSearch search) {
        try (ReadView view = dataset().openView();
                IndexCursor cursor = view.search(0, BY_WORD, search, FilterPredicate.none())) {
            while (cursor.next()) {
                assertThat(cursor.primaryKey().length()).isPositive();
            }
            return List.of(cursor.work().componentCount(), cursor.work().outsideCount());
        }
    }

    @ParameterizedTest
    @EnumSource(Maintenance.class)
    void componentsWithoutATokenAreNotRead(Maintenance maintenance) {
        sim.store.createDataset(
                spec(maintenance).mergePolicy(MergePolicySpec.parse("correlated-tiering")));
        put(1, "common early");
        put(2, "common both");
        dataset().flush();
        put(3, "common late");
        put(4, "both earl");
        dataset().flush();
        assertThat(asked(new TermSearch(List.of("common")))).containsExactly(2L, 0L);
        assertThat(asked(new TermSearch(List.of("early")))).containsExactly(2L, 1L);
        assertThat(asked(new TermSearch(List.of("nothing")))).containsExactly(2L, 2L);
        assertThat(asked(new TermSearch(List.of("early", "late")))).containsExactly(4L, 2L);
        assertThat(asked(new TermSearch(List.of("early", "late"), 1))).containsExactly(4L, 2L);
        // a range, as a beginning is, asks no filter
        assertThat(asked(KeyRange.startingWith(TokenKeys.encodeBeginning("earl"))))
                .containsExactly(0L, 0L);
        assertThat(find("early")).containsExactly(1L);
        assertThat(findSome(1, "early", "late")).containsExactly(1L, 3L);
        // what deletes an entry has its token: it is found where the entry is
        put(1, "common changed");
        dataset().delete(3L);
        dataset().flush();
        assertThat(find("early")).isEmpty();
        assertThat(find("late")).isEmpty();
        assertThat(find("changed")).containsExactly(1L);
        check();
        dataset().mergeAll();
        assertThat(find("early")).isEmpty();
        assertThat(find("both")).containsExactly(2L, 4L);
        check();
    }

    private Slice key(long id) {
        return Slice.of(dataset().primaryKeySpec().encode(id));
    }

    private long entriesInMemory() {
        MemoryLayer layer = Inside.partitions(dataset()).getFirst().currentLayer();
        return layer.tree(TREE).entryCount();
    }

    private void check() {
        try (ReadView view = dataset().openView()) {
            TreeMap<Long, Row> rows = new TreeMap<>(SimStore.rows(dataset(), view));
            AnswerCheck.run(dataset(), view, rows);
        }
        sim.verify();
    }

    @ParameterizedTest
    @EnumSource(
            value = Maintenance.class,
            names = {"EAGER", "VALIDATION", "DELETED_KEY", "AUTO"})
    void texts_of_no_word_of_one_and_of_foreign_letters(Maintenance maintenance) {
        sim.store.createDataset(spec(maintenance));
        put(1, "");
        put(2, " .,! ");
        put(3, "fog");
        put(4, "Fog, FOG and \ud835\udc00\ud801\udc00x");
        put(5, "\u039f\u0394\u039f\u03a3");
        assertThat(find("fog")).containsExactly(3L, 4L);
        assertThat(find("fog", "and")).containsExactly(4L);
        assertThat(find("\ud835\udc00\ud801\udc28x")).containsExactly(4L);
        assertThat(find("\u03bf\u03b4\u03bf\u03c2")).containsExactly(5L);
        assertThat(find("fo")).isEmpty();
        dataset().flush();
        put(3, "");
        put(1, "fog");
        assertThat(find("fog")).containsExactly(1L, 4L);
        check();
    }

    @Test
    void an_update_that_changes_one_word_of_many_puts_two_entries() {
        sim.store.createDataset(spec(Maintenance.EAGER));
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < 200; i++) {
            text.append("w").append(i).append(' ');
        }
        put(1, text.toString());
        dataset().flush();
        put(1, text.toString().replace("w77 ", "new "));
        assertThat(entriesInMemory()).as("one, and anti-matter for one").isEqualTo(2);
        assertThat(find("w77")).isEmpty();
        assertThat(find("w76", "new")).containsExactly(1L);
        put(1, text.toString().replace("w77 ", "new "));
        assertThat(entriesInMemory()).as("nothing has changed").isEqualTo(2);
        check();
    }

    @ParameterizedTest
    @EnumSource(
            value = Maintenance.class,
            names = {"EAGER", "VALIDATION", "DELETED_KEY", "AUTO"})
    void a_record_goes_and_comes_again_in_one_batch(Maintenance maintenance) {
        sim.store.createDataset(spec(maintenance));
        put(1, "late fog");
        dataset().flush();
        WriteBatch batch = sim.store.newBatch();
        batch.delete(dataset(), key(1));
        batch.upsert(
                dataset(), dataset().newRecordWriter().write(row(1, "late snow").toMap()));
        batch.upsert(
                dataset(), dataset().newRecordWriter().write(row(2, "late ice").toMap()));
        batch.delete(dataset(), key(2));
        sim.store.write(batch);
        assertThat(find("late")).containsExactly(1L);
        assertThat(find("fog")).isEmpty();
        assertThat(find("snow", "late")).containsExactly(1L);
        assertThat(find("ice")).isEmpty();
        check();
    }

    @Test
    void one_word_in_every_record_leads_nowhere_and_is_led() {
        sim.store.createDataset(spec(Maintenance.VALIDATION));
        for (long id = 0; id < 300; id++) {
            put(id, "the " + (id % 100 == 7 ? "rare" : "usual") + " text");
            if (id % 90 == 0) {
                dataset().flush();
            }
        }
        assertThat(find("the")).hasSize(300);
        assertThat(find("the", "rare", "text")).containsExactly(7L, 107L, 207L);
        assertThat(find("rare", "usual")).isEmpty();
        check();
    }

    /** What two versions of a record have together is of none. */
    @ParameterizedTest
    @EnumSource(
            value = Maintenance.class,
            names = {"EAGER", "VALIDATION", "DELETED_KEY", "AUTO"})
    void terms_of_different_versions_are_not_counted_together(Maintenance maintenance) {
        sim.store.createDataset(spec(maintenance));
        put(1, "a b");
        put(2, "a b c");
        dataset().flush();
        put(1, "c d");
        assertThat(findSome(3, "a", "b", "c", "d")).containsExactly(2L);
        assertThat(findSome(2, "a", "b", "c", "d")).containsExactly(1L, 2L);
        assertThat(findSome(1, "b", "x")).containsExactly(2L);
        dataset().flush();
        put(2, "x");
        assertThat(findSome(2, "a", "b", "c", "d")).containsExactly(1L);
        dataset().delete(1L);
        assertThat(findSome(1, "a", "b", "c", "d")).isEmpty();
        check();
    }

    /**
     * Most records are in no list or one, and are leapt over; some are in just as many as asked.
     */
    @Test
    void records_with_enough_of_many_terms() {
        sim.store.createDataset(spec(Maintenance.VALIDATION));
        SplittableRandom random = new SplittableRandom(SEED);
        int terms = 12;
        List<Integer> counts = new ArrayList<>();
        for (int id = 0; id < 600; id++) {
            TreeSet<Integer> some = new TreeSet<>();
            int count = random.nextInt(4) > 0 ? random.nextInt(2) : random.nextInt(terms + 1);
            while (some.size() < count) {
                some.add(random.nextInt(terms));
            }
            StringBuilder text = new StringBuilder("text");
            some.forEach(term -> text.append(" t").append(term));
            counts.add(count);
            put(id, text.toString());
            if (id % 250 == 0) {
                dataset().flush();
            }
        }
        String[] all =
                IntStream.range(0, terms).mapToObj(term -> "t" + term).toArray(String[]::new);
        for (int least = 1; least < terms; least++) {
            List<Long> expected = new ArrayList<>();
            for (int id = 0; id < counts.size(); id++) {
                if (counts.get(id) >= least) {
                    expected.add((long) id);
                }
            }
            assertThat(findSome(least, all)).as("at least %d", least).isEqualTo(expected);
        }
    }

    @Test
    void of_a_long_word_the_beginning_is_kept_and_marked() {
        sim.store.createDataset(spec(Maintenance.EAGER));
        String whole = "z".repeat(TokenKeys.TOKEN_BYTES_MAX);
        put(1, whole);
        put(2, whole + "a");
        put(3, whole + "b " + whole + "c");
        assertThat(entriesInMemory()).isEqualTo(3);
        assertThat(find(whole)).containsExactly(1L);
        assertThat(find(whole + "a")).as("both are candidates").containsExactly(2L, 3L);
        IndexSearch beginning = KeyRange.startingWith(whole.getBytes(StandardCharsets.UTF_8));
        try (ReadView view = dataset().openView();
                var entries = view.search(0, BY_WORD, beginning, FilterPredicate.none())) {
            int count = 0;
            while (entries.next()) {
                count++;
            }
            assertThat(count).as("a prefix finds whole and cut words").isEqualTo(3);
        }
        check();
    }

    @Test
    void more_words_than_an_index_takes_are_refused_and_change_nothing() {
        openLarge();
        sim.store.createDataset(spec(Maintenance.VALIDATION));
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < 65_536; i++) {
            text.append(Integer.toString(i, 36)).append(' ');
        }
        put(1, "before");
        assertThatThrownBy(() -> put(1, text + "x1 one-more-zzzzz"))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("index by_word: the text has more than 65,536 different");
        assertThat(find("before")).containsExactly(1L);
        assertThat(entriesInMemory()).isEqualTo(1);
        // a build meets it too, and names the record
        dataset().dropIndex(BY_WORD);
        put(2, text + "x1 one-more-zzzzz");
        assertThatThrownBy(() -> dataset().createIndex(IndexSpec.inverted(BY_WORD, "body")))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("primary key [2]");
    }

    /** Repeated words are one entry; ten thousand different ones are as many. */
    @Test
    void a_text_of_ten_thousand_words() {
        openLarge();
        sim.store.createDataset(spec(Maintenance.EAGER));
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < 10_000; i++) {
            text.append("w").append(i).append(" the ");
        }
        put(1, text.toString());
        assertThat(find("the", "w9999")).containsExactly(1L);
        dataset().delete(1L);
        assertThat(find("the")).isEmpty();
        check();
    }

    @Test
    void what_an_inverted_index_can_not_be_is_refused() {
        sim.store.createDataset(spec(Maintenance.EAGER));
        assertRefused(IndexSpec.inverted("i", "id"), "'id' is of type int64");
        assertRefused(
                IndexSpec.inverted("i", "body").withParameter("tokenizer", "ngram(0)"),
                "no tokenizer 'ngram(0)'");
        assertRefused(IndexSpec.inverted("i", "body").withParameter("size", "3"), "not [size]");
        assertThatThrownBy(() -> IndexSpec.inverted("i", "body").asUnique())
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("only a btree can be unique, not kind inverted");
        try (ReadView view = dataset().openView()) {
            assertThatThrownBy(() -> view.search(
                            0, "by_user", new TermSearch(List.of("x")), FilterPredicate.none()))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessage("index by_user is of kind btree, which has no terms to search");
        }
    }

    private void assertRefused(IndexSpec spec, String message) {
        assertThatThrownBy(() -> dataset().createIndex(spec))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining(message);
        assertThat(Inside.schema(dataset()).catalog().find(spec.name())).isNull();
    }

    /** With other tables the words of a record may be others than those that it has entries for. */
    @Test
    void under_another_version_of_unicode_it_is_disabled_before_replay_until_rebuilt() {
        sim.store.createDataset(spec(Maintenance.EAGER));
        put(1, "fog");
        dataset().flush();
        put(1, "snow"); // in the log alone
        sim.close();
        Manifest.open(disk)
                .edit(
                        state -> {
                            DatasetState made = state.datasets().getFirst();
                            IndexSchema index = Objects.requireNonNull(
                                    made.schema().catalog().find(BY_WORD));
                            return state.withReplaced(new DatasetState(
                                    made.schema().with(withOtherTables(index)),
                                    made.partitions(),
                                    made.counts()));
                        },
                        () -> {});
        sim = open();
        IndexSchema found =
                Objects.requireNonNull(Inside.schema(dataset()).catalog().find(BY_WORD));
        assertThat(found.state()).isEqualTo(IndexSchema.State.DISABLED);
        assertThatThrownBy(() -> find("snow")).hasMessageContaining("disabled");
        put(2, "snow");
        check();
        dataset().enableIndex(BY_WORD);
        assertThat(find("snow")).containsExactly(1L, 2L);
        assertThat(find("fog")).isEmpty();
        check();
        sim.close();
        sim = open();
        assertThat(find("snow")).containsExactly(1L, 2L);
        check();
    }

    /** Where its library is missing nobody can make its tokens. */
    @Test
    void an_analyzer_that_is_missing_is_refused_and_its_index_disabled() {
        assertThat(Tokenizer.analyzer("english").tables())
                .as("this module has no Lucene")
                .isEqualTo("missing");
        sim.store.createDataset(spec(Maintenance.EAGER));
        assertRefused(
                IndexSpec.inverted("i", "body").withParameter("tokenizer", "analyzer(english)"),
                "analyzer(english) needs the libraries lucene-core and lucene-analysis-common");
        TokenKeys made = TokenKeys.of(
                dataset().type(),
                List.of("body"),
                "index i",
                Map.of("tokenizer", "analyzer(english)", "tables", "lucene 10.6.0"));
        assertThat(made.outdated()).contains("another Lucene or Unicode");
        assertThatThrownBy(made::renewed)
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("which are not here");
        // a class that can't be initialized makes each run of Lincheck behind it take minutes
        assertThatCode(() -> Class.forName(Tokenizer.class.getPackageName() + ".LuceneAnalyzers"))
                .doesNotThrowAnyException();
    }

    private static IndexSchema withOtherTables(IndexSchema index) {
        TokenKeys keys = (TokenKeys) index.entryKeys();
        return new IndexSchema(
                index.id(),
                index.name(),
                index.kind(),
                new TokenKeys(
                        keys.type(),
                        keys.field(),
                        keys.fieldIndex(),
                        Tokenizer.WORD,
                        "0000000000000000",
                        keys.use()),
                index.maintenance(),
                index.unique(),
                index.pages(),
                index.state());
    }

    private byte[] entry(String word, long id) {
        ByteSink sink = new ByteSink(64, 1 << 10);
        sink.putBytes(TokenKeys.encode(word))
                .putBytes(dataset().primaryKeySpec().encode(id));
        return sink.asSlice(new Slice()).toByteArray();
    }

    /** The bug: an update put no anti-matter for a word that is gone. */
    @Test
    void a_word_that_is_gone_and_has_an_entry_is_found() {
        sim.store.createDataset(spec(Maintenance.EAGER));
        put(1, "late fog");
        MemoryLayer layer = Inside.partitions(dataset()).getFirst().currentLayer();
        layer.tree(TREE).put(Slice.of(entry("gone", 1)), 1, false, new Slice());
        assertThat(sim.store.verify().errors())
                .anySatisfy(error -> assertThat(error).contains("not one that its record gives"))
                .anySatisfy(
                        error -> assertThat(error).contains("3 entries where the records give 2"));
    }

    /** The bug: a word was put once and counted twice, or not put. */
    @Test
    void a_word_without_an_entry_is_found() {
        sim.store.createDataset(spec(Maintenance.EAGER));
        put(1, "late fog");
        MemoryLayer layer = Inside.partitions(dataset()).getFirst().currentLayer();
        layer.tree(TREE).put(Slice.of(entry("fog", 1)), 1, true, new Slice());
        assertThat(sim.store.verify().errors())
                .singleElement()
                .asString()
                .contains("1 entries where the records give 2");
    }

    /** The bug: the check read a record, and made all its words, once for each of them. */
    @Test
    void a_record_of_many_words_is_read_once_to_be_checked() {
        openLarge();
        sim.store.createDataset(spec(Maintenance.EAGER));
        int words = 2_000;
        put(1, String.join(" ", IntStream.range(0, words).mapToObj(i -> "w" + i).toList()));
        dataset().flush();
        long before = pagesRead();
        sim.verify();
        assertThat(pagesRead() - before).as("pages").isLessThan(words / 10);
    }

    private long pagesRead() {
        return sim.store.meters().instruments().stream()
                .filter(one -> one.name().equals("cache.hits") || one.name().equals("cache.loads"))
                .mapToLong(one -> ((Reading) one).value())
                .sum();
    }

    /** The bug: a list of keys with a word twice would put it twice; the tree then has it once. */
    @Test
    void a_word_that_is_there_twice_is_one_entry() {
        sim.store.createDataset(spec(Maintenance.EAGER));
        put(1, "fog Fog FOG fog");
        assertThat(entriesInMemory()).isEqualTo(1);
        assertThat(find("fog")).containsExactly(1L);
        check();
    }
}
