package io.turbidite.it.pm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;

import io.turbidite.core.ClosedException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.log.Durability;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.IndexDescription;
import io.turbidite.core.scan.IndexSearch;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.ValidSearch;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.harness.Row;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.pm.PmKind;

import org.junit.jupiter.api.Test;

import java.lang.management.ManagementFactory;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** One search is asked for the newest of one key after the other, at the view. */
class NewestQuestionTest {
    private static final int RECORD_COUNT = 2_000;
    private static final int USER_COUNT = 80;
    private static final int LIMIT = 10;
    private static final int ROUND_COUNT_MAX = 400;
    private static final double BYTES_EACH_MAX = 64;

    private final SimDisk disk = new SimDisk(1, Profile.STRICT);

    private interface Body {
        void run(Dataset dataset, SplittableRandom random);
    }

    private void inAStore(Body body) {
        try (SimStore sim = SimStore.open(
                disk, 1, SimStore.options(Durability.SYNC).withIndexKinds(new PmKind()))) {
            Dataset dataset = sim.store.createDataset(Row.blindSpec("T")
                    .maintenance(Maintenance.VALIDATION)
                    .index(IndexSpec.pm("by_user", "user").withParameter("mode", "volatile"))
                    .index(IndexSpec.btree("by_range", "user"))
                    .index(IndexSpec.btree("by_eager", "user").withMaintenance(Maintenance.EAGER)));
            SplittableRandom random = new SplittableRandom(Seeds.of("NewestQuestionTest"));
            write(dataset, random, 2 * RECORD_COUNT);
            dataset.flush();
            body.run(dataset, random);
        }
        assertThat(disk.openHandles()).isEmpty();
    }

    private static void write(Dataset dataset, SplittableRandom random, int count) {
        for (int i = 0; i < count; i++) {
            dataset.upsert(new Row(
                            random.nextInt(RECORD_COUNT),
                            user(random.nextInt(USER_COUNT)),
                            i,
                            Instant.EPOCH,
                            "b")
                    .toMap());
        }
    }

    private static String user(int number) {
        return "user-%02d".formatted(number);
    }

    private static byte[] key(Dataset dataset, int user) {
        return KeySpec.of(dataset.type(), List.of("user"), "test").encode(user(user));
    }

    private static IndexDescription index(ReadView view, String name) {
        return view.indexes().stream()
                .filter(index -> index.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    private static ValidSearch open(ReadView view, IndexSearch search, String index) {
        return ValidSearch.open(view, 0, index(view, index), search, FilterPredicate.none(), LIMIT);
    }

    private static List<String> first(ValidSearch search, int count) {
        List<String> found = new ArrayList<>();
        while (found.size() < count && search.next()) {
            found.add(search.timestamp() + ": " + search.primaryKey());
        }
        return found;
    }

    @Test
    void a_search_that_is_begun_anew_finds_what_a_new_one_finds() {
        inAStore((dataset, random) -> {
            for (boolean isInMemory : new boolean[] {false, true}) {
                if (isInMemory) {
                    write(dataset, random, RECORD_COUNT / 4);
                }
                try (ReadView view = dataset.openView();
                        ValidSearch one =
                                open(view, IndexSearch.Newest.of(key(dataset, 0)), "by_user")) {
                    for (int i = 0; i < 3 * USER_COUNT; i++) {
                        int user = random.nextInt(USER_COUNT + 1); // of the last there is none
                        int count = random.nextInt(40);
                        one.restart(Slice.of(key(dataset, user)), 1 + random.nextInt(20));
                        try (ValidSearch other =
                                open(view, IndexSearch.Newest.of(key(dataset, user)), "by_user")) {
                            assertThat(first(one, count)).isEqualTo(first(other, count));
                        }
                        if (count > 0 && user < USER_COUNT) {
                            assertThat(one.candidateCount()).isPositive();
                        }
                    }
                }
            }
        });
    }

    @Test
    void only_a_search_for_the_newest_that_is_open_is_begun_anew() {
        inAStore((dataset, random) -> {
            try (ReadView view = dataset.openView()) {
                Slice key = Slice.of(key(dataset, 1));
                for (String index : List.of("by_range", "by_eager")) {
                    try (ValidSearch range = open(view, KeyRange.all(), index);
                            ValidSearch same = open(view, KeyRange.all(), index)) {
                        assertThat(first(range, 3)).isEqualTo(first(same, 3));
                        assertThatThrownBy(() -> range.restart(key, LIMIT))
                                .isInstanceOf(InvalidRequestException.class)
                                .hasMessageContaining("index '" + index + "'");
                        assertThat(first(range, 50))
                                .as("it goes on")
                                .isEqualTo(first(same, 50))
                                .hasSize(50);
                    }
                }
                ValidSearch closed = open(view, IndexSearch.Newest.of(key(dataset, 0)), "by_user");
                closed.close();
                assertThatThrownBy(() -> closed.restart(key, LIMIT))
                        .isInstanceOf(ClosedException.class);
            }
        });
    }

    /** 64 bytes are the aim; that of a region's search is in AbsorptionAllocationTest's room. */
    @Test
    void a_question_makes_no_garbage_behind_the_first_ones() {
        inAStore((dataset, random) -> {
            ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
            List<Slice> keys = new ArrayList<>();
            for (int user = 0; user < USER_COUNT; user++) {
                keys.add(Slice.of(key(dataset, user)));
            }
            double least = Double.MAX_VALUE;
            long found = 0;
            try (ReadView view = dataset.openView();
                    ValidSearch one =
                            open(view, IndexSearch.Newest.of(key(dataset, 0)), "by_user")) {
                for (int round = 0; round < ROUND_COUNT_MAX && least > BYTES_EACH_MAX; round++) {
                    long before = threads.getCurrentThreadAllocatedBytes();
                    for (int i = 0; i < USER_COUNT; i++) {
                        one.restart(keys.get(i), LIMIT);
                        for (int n = 0; n < LIMIT && one.next(); n++) {
                            found += one.timestamp();
                        }
                    }
                    long bytes = threads.getCurrentThreadAllocatedBytes() - before;
                    least = Math.min(least, bytes / (double) USER_COUNT);
                }
            }
            assertThat(found).isPositive();
            assertThat(least).isLessThanOrEqualTo(BYTES_EACH_MAX);
        });
    }
}
