package io.turbidite.it.query;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.log.Durability;
import io.turbidite.core.time.Clock;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreDescription;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.ops.Explanation;
import io.turbidite.ops.run.RunOptions;
import io.turbidite.ops.sql.Sql;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** What {@code EXPLAIN ANALYZE} says of each operator, beside what is known of it. */
class ExplainAnalyzeTest {
    private static final long TEXTS = 6_000;
    private static final long AUTHORS = 200;
    private static final int PARTS = 4;
    private static final long TEXT_BYTES = 60;
    private static final long SMALL_BYTES = 128 << 10;

    private static final String JOIN =
            "select a.land, count(*) as n, sum(t.size) as total from Texts t join Authors a on t.author = a.id group by a.land";

    @TempDir
    private Path directory;

    private Store store;

    @BeforeEach
    void fill() {
        store = Store.open(
                directory,
                StoreOptions.builder().durability(Durability.BUFFERED).build());
        Dataset texts = store.createDataset(DatasetSpec.named("Texts")
                .field("id", "int64")
                .field("author", "int64")
                .field("sent", "int64")
                .field("size", "int32")
                .field("text", "string")
                .primaryKey("id")
                .filter("sent")
                .mergePolicy(MergePolicySpec.parse("no-merge"))
                .partitions(1));
        for (long id = 0; id < TEXTS; id++) {
            texts.upsert(Map.of(
                    "id",
                    id,
                    "author",
                    id * 7_919 % AUTHORS,
                    "sent",
                    id,
                    "size",
                    (int) (id % 280),
                    "text",
                    "%05d".formatted(id * 7_919 % 100_000) + "x".repeat((int) TEXT_BYTES - 5)));
            if ((id + 1) % (TEXTS / PARTS) == 0) {
                texts.flush();
            }
        }
        Dataset authors = store.createDataset(DatasetSpec.named("Authors")
                .field("id", "int64")
                .field("land", "string")
                .primaryKey("id")
                .partitions(1));
        for (long id = 0; id < AUTHORS; id++) {
            authors.upsert(Map.of("id", id, "land", "land" + id % 5));
        }
    }

    @AfterEach
    void close() {
        store.close();
    }

    private Explanation analyzed(String statement, RunOptions options) {
        return Sql.on(store.datasets())
                .statement("explain analyze " + statement)
                .explanation(options);
    }

    private static Explanation.Operator of(Explanation explanation, String name) {
        List<Explanation.Operator> found = explanation.operators().stream()
                .filter(operator -> operator.name().equals(name))
                .toList();
        assertThat(found).as(explanation.toString()).isNotEmpty();
        return found.getFirst();
    }

    @Test
    void each_operator_has_its_rows_its_time_its_memory_and_its_pages() {
        long begun = Clock.system().threadNanos();
        Explanation explanation = analyzed(JOIN, RunOptions.defaults());
        long took = Clock.system().threadNanos() - begun;
        assertThat(of(explanation, "group").actualRows()).hasValue(5);
        assertThat(of(explanation, "join").actualRows()).hasValue(TEXTS);
        assertThat(of(explanation, "scan").actualRows()).hasValue(TEXTS);
        assertThat(of(explanation, "build").actualRows()).hasValue(AUTHORS);
        assertThat(of(explanation, "build").estimatedRows()).hasValue(AUTHORS);
        long sum = 0;
        for (String name : List.of("group", "join", "scan")) {
            Explanation.Work work = of(explanation, name).work();
            assertThat(work.cpuNanos()).as(name).isPresent();
            sum += work.cpuNanos().orElseThrow();
            assertThat(work.spilledBytes()).as(name).isZero();
        }
        assertThat(sum).isPositive();
        // of samples: about as much as all took, at most
        assertThat(sum).isLessThan(2 * took);
        for (String name : List.of("group", "join")) {
            assertThat(of(explanation, name).work().memoryBytesMax())
                    .as(name)
                    .isBetween(1L, RunOptions.defaults().memoryBytesMax());
        }
        // pages of 16 KiB, of records of a hundred bytes
        assertThat(of(explanation, "scan").work().pageCount()).isBetween(10L, 200L);
    }

    @Test
    void what_does_not_fit_its_memory_is_told_in_bytes() {
        RunOptions small = RunOptions.defaults().withMemoryBytesMax(SMALL_BYTES);
        String ordered = "select text, id from Texts order by text, id";
        Explanation.Work spilled = of(analyzed(ordered, small), "order").work();
        assertThat(spilled.spilledBytes()).isGreaterThan(TEXTS * TEXT_BYTES);
        assertThat(spilled.memoryBytesMax()).isPositive();
        Explanation.Work whole =
                of(analyzed(ordered, RunOptions.defaults()), "order").work();
        assertThat(whole.spilledBytes()).isZero();
        assertThat(whole.memoryBytesMax()).isGreaterThan(TEXTS * TEXT_BYTES);

        String grouped = "select text, count(*) as n from Texts group by text";
        assertThat(of(analyzed(grouped, small), "group").work().spilledBytes())
                .isGreaterThan(TEXTS * TEXT_BYTES);
        String joined =
                "select count(*) as n from Texts a join Texts b on a.text = b.text and a.size = b.size";
        assertThat(of(analyzed(joined, small), "join").work().spilledBytes())
                .isGreaterThan(TEXTS * TEXT_BYTES);
    }

    @Test
    void components_that_a_filter_rules_out_are_counted() {
        Explanation explanation = analyzed(
                "select count(*) as n from Texts where sent >= " + TEXTS / PARTS * (PARTS - 1),
                RunOptions.defaults());
        Explanation.Operator scan = of(explanation, "scan");
        assertThat(scan.work().passedOverCount()).isEqualTo(PARTS - 1);
        List<Long> olderFiles = store.describe().datasets().stream()
                .filter(one -> one.name().equals("Texts"))
                .flatMap(one -> one.partitions().stream())
                .flatMap(one -> one.indexes().getFirst().components().stream())
                .skip(1)
                .map(StoreDescription.ComponentDescription::fileId)
                .sorted()
                .toList();
        assertThat(olderFiles).hasSize(PARTS - 1);
        assertThat(scan.work().passedOverFiles()).isEqualTo(olderFiles);
        assertThat(explanation.toMap().toString()).contains("passedOverFiles=" + olderFiles);
        // each term reads another component: of the two none is passed over unread
        Explanation both = analyzed(
                "select count(*) as n from Texts where sent < %d or sent >= %d"
                        .formatted(TEXTS / PARTS, TEXTS / PARTS * (PARTS - 1)),
                RunOptions.defaults());
        assertThat(both.toString()).contains("scan");
        assertThat(of(both, "scan").work().passedOverFiles()).doesNotContain(olderFiles.getFirst());
        assertThat(scan.actualRows()).hasValue(TEXTS / PARTS);
        // what one part of the statement passed over, the other one read
        Explanation union = analyzed(
                "select id from Texts where sent >= %d union all select id from Texts"
                        .formatted(TEXTS / PARTS * (PARTS - 1)),
                RunOptions.defaults());
        assertThat(of(union, "scan").work().passedOverCount()).isEqualTo(PARTS - 1);
        assertThat(union.toMap().toString()).doesNotContain("passedOverFiles");
    }

    @Test
    void an_explanation_of_a_count_counts_nothing() {
        store.dataset("Texts").delete(3L);
        String statement = "select count(*) as n from Texts";
        Explanation before = Sql.on(store.datasets())
                .statement("explain " + statement)
                .explanation(RunOptions.defaults());
        assertThat(of(before, "counts").estimatedRows()).hasValue(TEXTS + 1); // as a scan's
        assertThat(of(before, "counts").actualRows()).isEmpty();
        Explanation after = analyzed(statement, RunOptions.defaults());
        assertThat(of(after, "counts").actualRows()).hasValue(TEXTS - 1);
    }

    @Test
    void what_a_fetch_may_have_read_is_not_told_as_passed_over() {
        store.dataset("Texts").createIndex(IndexSpec.btree("by_author", "author"));
        store.dataset("Texts").createIndex(IndexSpec.btree("by_size", "size"));
        Explanation either = analyzed(
                "select id from Texts where (author = 5 and sent >= %d) or size = 7"
                        .formatted(TEXTS / PARTS * (PARTS - 1)),
                RunOptions.defaults());
        assertThat(either.toString()).contains("either");
        assertThat(either.toMap().toString()).doesNotContain("passedOverFiles");
    }

    @Test
    void text_and_json_have_what_was_taken_and_explain_alone_has_nothing() {
        RunOptions small = RunOptions.defaults().withMemoryBytesMax(SMALL_BYTES);
        Explanation analyzed = analyzed("select text, id from Texts order by text, id", small);
        assertThat(analyzed.toString())
                .containsPattern("CPU ms +memory +spilled +pages +pruned")
                .containsPattern("order .* [0-9.]+ +[0-9,]+ KiB +[0-9,]+ KiB");
        String operators = String.valueOf(analyzed.toMap().get("operators"));
        assertThat(operators).contains("cpuNanos=", "spilledBytes=", "pages=");

        Explanation explained =
                Sql.on(store.datasets()).statement("explain " + JOIN).explanation(small);
        assertThat(explained.operators())
                .allSatisfy(
                        operator -> assertThat(operator.work()).isEqualTo(Explanation.Work.NONE));
        assertThat(explained.toString()).doesNotContain("CPU");
    }
}
