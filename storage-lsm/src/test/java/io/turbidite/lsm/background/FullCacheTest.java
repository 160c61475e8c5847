package io.turbidite.lsm.background;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.CacheFullException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.log.Durability;
import io.turbidite.core.meter.Reading;
import io.turbidite.core.meter.StoreEvent;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.IndexCursor;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordCursor;
import io.turbidite.core.scan.TermSearch;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.component.ComponentOptions;
import io.turbidite.lsm.harness.Row;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schema.Maintenance;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

/** Readers that pin all of a small cache get in nobody's way but their own. */
class FullCacheTest {
    private static final long SEED = 37;
    private static final int ROWS = 1_000;

    /** Eight pages; a scan pins one of each component. */
    private static final long CACHE_BYTES = 1 << 20;

    private static final int PAGE_BYTES = 128 << 10;
    private static final String BODY = "x".repeat(1_500);

    private final SimDisk disk = new SimDisk(SEED, Profile.STRICT);
    private final SimStore sim = SimStore.open(
            disk, SEED, SimStore.options(Durability.BUFFERED).withCacheBytes(CACHE_BYTES));
    private final List<RecordCursor> cursors = new ArrayList<>();
    private final List<ReadView> views = new ArrayList<>();

    @AfterEach
    void close() {
        letGo();
        sim.close();
    }

    private void letGo() {
        cursors.forEach(RecordCursor::close);
        cursors.clear();
        views.forEach(ReadView::close);
        views.clear();
    }

    private static Row row(long id, int round) {
        return new Row(id, "user" + id % 7, round, Instant.ofEpochSecond(id), BODY + round);
    }

    private Dataset create(Maintenance maintenance) {
        return create("T", maintenance);
    }

    private Dataset create(String name, Maintenance maintenance) {
        Dataset dataset = sim.store.createDataset(Row.spec(name)
                .maintenance(maintenance)
                .components(ComponentOptions.primary().withPageBytes(PAGE_BYTES))
                .mergePolicy(MergePolicySpec.parse("correlated-no-merge")));
        for (int round = 0; round < 2; round++) {
            for (int i = 0; i < ROWS; i++) {
                dataset.upsert(row(i, round).toMap());
            }
            dataset.flush();
        }
        return dataset;
    }

    /** Pins pages until there is none left. */
    private void pinAll(Dataset dataset) {
        ReadView view = dataset.openView();
        views.add(view);
        for (int i = 0; i < 11; i++) {
            RecordCursor cursor = view.scan(0, KeyRange.all(), FilterPredicate.none());
            cursors.add(cursor);
            try {
                // so that each stands on pages of its own
                for (int moved = 0; moved <= 90 * i; moved++) {
                    assertThat(cursor.next()).isTrue();
                }
            } catch (CacheFullException full) {
                return;
            }
        }
        throw new AssertionError("the cache is not full");
    }

    @Test
    void background_work_goes_on_and_the_store_takes_writes() {
        for (Maintenance maintenance :
                List.of(Maintenance.VALIDATION, Maintenance.MUTABLE_BITMAP)) {
            Dataset dataset = create(maintenance);
            Dataset other = create("Other" + maintenance, maintenance);
            other.mergeAll();
            for (int i = 0; i < ROWS; i += 7) {
                dataset.upsert(row(i, 5).toMap());
            }
            // of one component, so that a cursor pins one page
            pinAll(other);
            dataset.flush();
            if (maintenance == Maintenance.VALIDATION) {
                assertThat(dataset.repair("by_user").marked()).isPositive();
            }
            dataset.mergeAll();
            // who needs a page is told, and only he
            assertThatThrownBy(() -> dataset.get(3L)).isInstanceOf(CacheFullException.class);
            sim.store
                    .createDataset(Row.blindSpec("Blind" + maintenance))
                    .upsert(row(1, 1).toMap());
            letGo();
            sim.verify();
            sim.store.dropDataset("T");
        }
    }

    @Test
    void a_definition_whose_scans_can_not_run_is_refused_and_what_is_there_opens() {
        DatasetSpec spec = Row.spec("Wide")
                .components(ComponentOptions.primary().withPageBytes(PAGE_BYTES))
                .mergePolicy(MergePolicySpec.parse("constant(componentCountMax=9)"));
        assertThatThrownBy(() -> sim.store.createDataset(spec))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("9 components")
                .hasMessageContaining("1179648 bytes")
                .hasMessageContaining("has 1048576");
        assertThat(sim.store.findDataset("Wide")).isNull();

        SimDisk elsewhere = new SimDisk(SEED, Profile.STRICT);
        StoreOptions options = SimStore.options(Durability.BUFFERED);
        try (SimStore large = SimStore.open(elsewhere, SEED, options.withCacheBytes(2 << 20))) {
            large.store.createDataset(spec).upsert(row(1, 1).toMap());
        }
        try (SimStore small = SimStore.open(elsewhere, SEED, options)) {
            assertThat(small.store.dataset("Wide").get(1L)).isNotNull();
            assertThat(small.store.events().recent())
                    .anySatisfy(event -> assertThat(event)
                            .isInstanceOfSatisfying(
                                    StoreEvent.CacheTooSmall.class,
                                    too -> assertThat(too.neededBytes()).isEqualTo(1_179_648)));
        }
    }

    @Test
    void a_cursor_that_was_refused_holds_nothing_and_may_be_moved_again() {
        Dataset dataset = create(Maintenance.VALIDATION);
        pinAll(dataset);
        RecordCursor refused = cursors.removeLast();
        long pinned = pinnedFrames();
        refused.close();
        assertThat(pinnedFrames()).isEqualTo(pinned);

        ReadView view = views.getFirst();
        try (RecordCursor late = view.scan(0, KeyRange.all(), FilterPredicate.none())) {
            late.seek(new Slice());
            pinned = pinnedFrames();
            assertThatThrownBy(() -> moveFar(late)).isInstanceOf(CacheFullException.class);
            assertThat(pinnedFrames()).isEqualTo(pinned);
            cursors.forEach(RecordCursor::close);
            cursors.clear();
            late.seekEnd();
            assertThat(late.previous()).isTrue();
        }
        assertThat(pinnedFrames()).isZero();
    }

    /** A move that is made again asks the other words about the record that it had come to. */
    @Test
    void a_search_for_several_words_that_was_refused_passes_over_nothing() {
        Dataset texts = sim.store.createDataset(Row.spec("Texts")
                .maintenance(Maintenance.VALIDATION)
                .components(ComponentOptions.primary().withPageBytes(PAGE_BYTES))
                .index(IndexSpec.inverted("by_word", "body")));
        int count = 40_000; // so that pages are full
        for (int i = 0; i < count; i++) {
            texts.upsert(new Row(i, "ann", 1, null, "one two").toMap());
        }
        texts.flush();
        texts.mergeAll();
        Dataset other = create("Other", Maintenance.VALIDATION);
        other.mergeAll(); // a cursor pins one page
        for (TermSearch words : List.of(
                new TermSearch(List.of("one", "two")),
                new TermSearch(List.of("one", "two", "three"), 2))) {
            try (ReadView view = texts.openView();
                    IndexCursor found = view.search(0, "by_word", words, FilterPredicate.none())) {
                refuse(found::next, other);
                assertThat(movesLeft(found::next)).as("%s", words).isEqualTo(count);
                found.seekEnd();
                assertThat(movesLeft(found::previous)).as("%s", words).isEqualTo(count);
            }
        }
    }

    /** Leaves no page: words are read in batches, and one page does for both. */
    private void refuse(BooleanSupplier move, Dataset other) {
        pinAll(other);
        cursors.removeLast().close();
        assertThatThrownBy(move::getAsBoolean).isInstanceOf(CacheFullException.class);
        letGo();
    }

    private static int movesLeft(BooleanSupplier move) {
        int moved = 0;
        while (move.getAsBoolean()) {
            moved++;
        }
        return moved;
    }

    private static void moveFar(RecordCursor cursor) {
        cursor.seekEnd();
        for (int i = 0; i < ROWS && cursor.previous(); i++) {
            assertThat(cursor.timestamp()).isPositive();
        }
    }

    private long pinnedFrames() {
        return sim.store.meters().instruments().stream()
                .filter(Reading.class::isInstance)
                .map(Reading.class::cast)
                .filter(reading -> reading.name().equals("cache.frames.pinned"))
                .mapToLong(Reading::value)
                .sum();
    }
}
