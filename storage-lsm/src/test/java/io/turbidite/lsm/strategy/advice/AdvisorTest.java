package io.turbidite.lsm.strategy.advice;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.turbidite.core.sim.Seeds;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.lsm.strategy.advice.Advice.IndexAdvice;
import io.turbidite.lsm.strategy.advice.Facts.IndexFacts;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/** Histories of which one can tell without a model what should be advised. */
class AdvisorTest {
    private static final Facts.Primary TEN_COMPONENTS =
            new Facts.Primary(10, 0.01, 1_000, 1_000, true);

    /** No merge policy that is correlated: mutable-bitmap is for datasets anyway. */
    private static final Map<Maintenance, String> REFUSED =
            Map.of(Maintenance.MUTABLE_BITMAP, "for datasets", Maintenance.DEFERRED, "policy");

    private static Facts.Writes writes(long count, double updateShare) {
        return new Facts.Writes(count, 0, updateShare, true, 4);
    }

    private static IndexFacts index(Maintenance now, long searches, long returned) {
        return new IndexFacts("by_user", now, REFUSED, 200, 1, searches, returned, 0, null);
    }

    private static Advice advise(Facts.Writes writes, double fetchShare, IndexFacts... indexes) {
        return Advisor.advise(
                new Facts("T", writes, TEN_COMPONENTS, false, fetchShare, List.of(indexes)));
    }

    private static Maintenance advised(Advice advice) {
        return advice.indexes().getFirst().advised();
    }

    @Test
    void who_only_appends_need_not_read_before_writing() {
        Advice advice = advise(writes(1_000_000, 0), 1, index(Maintenance.EAGER, 0, 0));
        // merges that repair would look up keys for nothing
        assertThat(advised(advice)).isEqualTo(Maintenance.AUTO);
        assertThat(advice.advisedPages()).isLessThan(advice.nowPages());
        assertThat(advice.reasons()).last().asString().contains("worth building");
    }

    @Test
    void many_updates_and_few_queries_are_written_blindly() {
        Advice advice = advise(writes(1_000_000, 0.5), 1, index(Maintenance.EAGER, 10, 5_000));
        assertThat(advised(advice)).isEqualTo(Maintenance.VALIDATION);
    }

    @Test
    void who_asks_much_without_records_and_writes_little_stays_eager() {
        IndexFacts index = index(Maintenance.VALIDATION, 1_000_000, 50_000_000);
        Advice advice = advise(writes(100_000, 0.5), 0, index);
        assertThat(advised(advice)).isIn(Maintenance.EAGER);
        assertThat(advised(advise(
                        writes(100_000, 0.5), 0, index(Maintenance.EAGER, 1_000_000, 50_000_000))))
                .isEqualTo(Maintenance.EAGER);
    }

    @Test
    void who_asks_with_records_may_be_blind_where_another_must_be_eager() {
        // 0.9 pages to read for a write that finds something, and 1,000 rows of a thousand queries
        assertThat(advised(advise(
                        writes(1_000_000, 0.3), 1, index(Maintenance.VALIDATION, 1_000, 1_000))))
                .isEqualTo(Maintenance.VALIDATION);
    }

    @Test
    void beside_a_unique_index_old_records_cost_nothing_more() {
        Map<Maintenance, String> onlyEager = new EnumMap<>(Maintenance.class);
        for (Maintenance strategy : Maintenance.values()) {
            if (strategy != Maintenance.EAGER) {
                onlyEager.put(strategy, "unique");
            }
        }
        IndexFacts unique =
                new IndexFacts("by_mail", Maintenance.EAGER, onlyEager, 200, 1, 10, 10, 0, null);
        IndexFacts other = index(Maintenance.EAGER, 100_000, 10_000_000);
        Advice advice = advise(writes(1_000_000, 0.5), 0, unique, other);
        assertThat(advice.indexes())
                .extracting(IndexAdvice::advised)
                .containsExactly(Maintenance.EAGER, Maintenance.EAGER);
        assertThat(advice.indexes().getFirst().refused()).hasSize(5);
    }

    @Test
    void nothing_is_advised_before_enough_was_seen() {
        Advice advice = advise(writes(900, 0), 1, index(Maintenance.EAGER, 1, 99));
        assertThat(advised(advice)).isEqualTo(Maintenance.EAGER);
        assertThat(advice.reasons()).last().asString().contains("too few");
    }

    @Test
    void small_savings_are_not_worth_a_rebuilding() {
        // the best there is saves what validation spends on merges: less than a fifth
        Advice advice = advise(
                new Facts.Writes(1_000_000, 0, 0, true, 1.1),
                1,
                index(Maintenance.DELETED_KEY, 0, 0),
                index(Maintenance.VALIDATION, 0, 0));
        assertThat(advice.indexes().get(1).isChange()).isFalse();
    }

    @Test
    void without_merge_repair_writes_are_cheaper_and_queries_dearer() {
        IndexFacts index = index(Maintenance.EAGER, 1_000, 100_000);
        Facts.Primary off = new Facts.Primary(10, 0.01, 1_000, 1_000, false);
        Facts.Writes writes = writes(1_000_000, 0.5);
        Cost repaired = CostModel.of(
                new Facts("T", writes, TEN_COMPONENTS, false, 1, List.of(index)),
                index,
                Maintenance.VALIDATION);
        Cost left = CostModel.of(
                new Facts("T", writes, off, false, 1, List.of(index)),
                index,
                Maintenance.VALIDATION);
        assertThat(left.merging()).isZero();
        assertThat(repaired.merging()).isPositive();
        // an eighth of the entries, or half of them, cost a fetch for nothing
        assertThat(repaired.querying()).isEqualTo(100_000 / 7.0 * 1.045, within(1e-6));
        assertThat(left.querying()).isEqualTo(100_000 * 1.045, within(1e-6));
    }

    @Test
    void the_old_record_is_paid_once_however_many_indexes_want_it() {
        Facts.Writes writes = new Facts.Writes(1_000, 0, 0.5, true, 1);
        IndexFacts index = index(Maintenance.EAGER, 0, 0);
        Advice one = advise(writes, 1, index);
        Advice two = advise(writes, 1, index, index);
        Facts facts = new Facts("T", writes, TEN_COMPONENTS, false, 1, List.of(index));
        double entries = 1_500 / 200.0;
        assertThat(CostModel.oldRecords(facts))
                .isEqualTo(1_000 * (0.5 * 1.045 + 0.5 * 0.1), within(1e-9));
        assertThat(one.nowPages()).isEqualTo(CostModel.oldRecords(facts) + entries, within(1e-9));
        assertThat(two.nowPages())
                .isEqualTo(CostModel.oldRecords(facts) + 2 * entries, within(1e-9));
    }

    @Test
    void an_exact_filter_has_old_records_read_whatever_the_indexes_are() {
        Facts facts = new Facts(
                "T",
                writes(1_000_000, 0.5),
                TEN_COMPONENTS,
                true,
                1,
                List.of(index(Maintenance.VALIDATION, 0, 0)));
        assertThat(Advisor.advise(facts).nowPages()).isGreaterThan(CostModel.oldRecords(facts));
        assertThat(Advisor.advise(facts).reasons())
                .anyMatch(reason -> reason.contains("eager filter"));
    }

    @Test
    void advice_never_costs_more_and_is_never_what_a_definition_refuses() {
        long seed = Seeds.of("AdvisorTest");
        SplittableRandom random = new SplittableRandom(seed);
        for (int round = 0; round < 2_000; round++) {
            Facts facts = random(random);
            Advice advice = Advisor.advise(facts);
            assertThat(advice.nowPages()).as("seed %d, %s", seed, facts).isFinite();
            assertThat(advice.advisedPages())
                    .as("seed %d, %s", seed, facts)
                    .isLessThanOrEqualTo(advice.nowPages());
            for (IndexAdvice index : advice.indexes()) {
                assertThat(index.refused()).doesNotContainKey(index.advised());
                assertThat(index.costs().values())
                        .allMatch(cost -> cost.written() >= 0
                                && cost.merging() >= 0
                                && cost.querying() >= 0
                                && Double.isFinite(cost.total()));
            }
            boolean changes = advice.indexes().stream().anyMatch(IndexAdvice::isChange);
            assertThat(changes).isEqualTo(advice.advisedPages() < advice.nowPages());
        }
    }

    private static Facts random(SplittableRandom random) {
        List<IndexFacts> indexes = new ArrayList<>();
        int count = random.nextInt(4);
        for (int i = 0; i < count; i++) {
            Maintenance now = random.nextBoolean() ? Maintenance.EAGER : Maintenance.VALIDATION;
            long searches = random.nextLong(1L << random.nextInt(1, 30));
            indexes.add(new IndexFacts(
                    "i" + i,
                    now,
                    random.nextBoolean() ? REFUSED : Map.of(Maintenance.MUTABLE_BITMAP, "no"),
                    1 + random.nextDouble(500),
                    0.5 + i,
                    searches,
                    searches == 0 ? 0 : random.nextLong(1L << random.nextInt(1, 40)),
                    now == Maintenance.EAGER ? 0 : random.nextDouble(),
                    null));
        }
        long writes = random.nextLong(1L << random.nextInt(1, 40));
        return new Facts(
                "T",
                new Facts.Writes(
                        writes,
                        writes == 0 ? 0 : random.nextLong(writes),
                        random.nextDouble(),
                        random.nextBoolean(),
                        1 + random.nextDouble(10)),
                new Facts.Primary(
                        random.nextInt(50),
                        random.nextDouble(),
                        random.nextDouble(1e6),
                        1 + random.nextDouble(3_000),
                        random.nextBoolean()),
                random.nextBoolean(),
                random.nextDouble(),
                indexes);
    }
}
