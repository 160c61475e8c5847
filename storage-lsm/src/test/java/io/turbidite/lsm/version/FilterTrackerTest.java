package io.turbidite.lsm.version;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.geo.SpatialKind;
import io.turbidite.core.key.KeyCodec;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.type.Point;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.Rectangle;
import io.turbidite.lsm.component.ComponentFilter;

import org.junit.jupiter.api.Test;

import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.SplittableRandom;

/** A memory layer's filter says what the component's will say, and is asked without a copy. */
class FilterTrackerTest {
    private static final RecordType TYPE = RecordType.builder()
            .field("n", "int32?")
            .field("place", "point?")
            .field("area", "rectangle?")
            .build();
    private static final List<KeySpec> FIELDS = TYPE.fields().stream()
            .map(field -> KeySpec.of(TYPE, List.of(field.name()), "filter"))
            .toList();

    private final FilterTracker tracker = new FilterTracker(FIELDS);

    @Test
    void it_rules_out_what_its_copy_rules_out() {
        long seed = Seeds.of("FilterTrackerTest");
        SplittableRandom random = new SplittableRandom(seed);
        int[] ruledOut = new int[FIELDS.size() + 1];
        for (int round = 0; round < 2_000; round++) {
            FilterTracker filter = new FilterTracker(FIELDS);
            for (int i = random.nextInt(6); i > 0; i--) {
                widen(filter, random);
            }
            if (random.nextInt(20) == 0) {
                filter.markUnknown();
            }
            for (int i = 0; i < 5; i++) {
                FilterPredicate predicate = predicate(random);
                int by = filter.ruledOutBy(predicate);
                assertThat(by)
                        .as("%s in %s, seed %d", predicate, filter.snapshot(), seed)
                        .isEqualTo(filter.snapshot().ruledOutBy(predicate));
                assertThat(filter.mayMatch(predicate)).isEqualTo(by < 0);
                ruledOut[by + 1]++;
            }
        }
        assertThat(ruledOut).as("not ruled out, and by each field").doesNotContain(0);
    }

    private static void widen(FilterTracker filter, SplittableRandom random) {
        int field = random.nextInt(FIELDS.size());
        if (random.nextInt(5) == 0) {
            filter.markAbsent(field);
            return;
        }
        Object value = switch (field) {
            case 0 -> random.nextInt(10);
            case 1 -> new Point(random.nextInt(10), random.nextInt(10));
            default -> rectangle(random);
        };
        filter.widen(field, Slice.of(FIELDS.get(field).encode(value)));
    }

    private static Rectangle rectangle(SplittableRandom random) {
        int x = random.nextInt(10);
        int y = random.nextInt(10);
        return new Rectangle(x, y, x + random.nextInt(3), y + random.nextInt(3));
    }

    private static FilterPredicate predicate(SplittableRandom random) {
        byte[] low = FIELDS.getFirst().encode(random.nextInt(10));
        KeyRange range = switch (random.nextInt(4)) {
            case 0 -> KeyRange.all();
            case 1 -> KeyRange.closed(null, low);
            case 2 -> KeyRange.closed(new byte[1], new byte[1]);
            default -> KeyRange.between(low, random.nextBoolean(), null, false);
        };
        FilterPredicate.Window place =
                new FilterPredicate.Window(1, SpatialKind.POINT, rectangle(random));
        FilterPredicate.Window area =
                new FilterPredicate.Window(2, SpatialKind.RECTANGLE, rectangle(random));
        return new FilterPredicate(
                List.of(range, KeyRange.all(), KeyRange.all()),
                switch (random.nextInt(3)) {
                    case 0 -> List.of();
                    case 1 -> List.of(place);
                    default -> List.of(area, place);
                });
    }

    /** The bytes of a record may be a caller's own. */
    @Test
    void what_is_no_place_keeps_it_from_ruling_out() {
        ByteSink nowhere = new ByteSink(16, 16);
        KeyCodec.appendDouble(nowhere, Double.NaN);
        KeyCodec.appendDouble(nowhere, 1);
        tracker.widen(1, nowhere.asSlice(new Slice()));
        FilterPredicate far = new FilterPredicate(
                List.of(KeyRange.all()),
                List.of(new FilterPredicate.Window(
                        1, SpatialKind.POINT, new Rectangle(50, 50, 51, 51))));
        assertThat(tracker.mayMatch(far)).isTrue();
        assertThat(tracker.snapshot().mayMatch(far)).isTrue();
        assertThat(tracker.snapshot().box(1)).isNull();
    }

    @Test
    void asking_and_widening_make_no_object() {
        SplittableRandom random = new SplittableRandom(1);
        Slice[] values = new Slice[64];
        for (int i = 0; i < values.length; i++) {
            values[i] = Slice.of(FIELDS.get(1).encode(new Point(random.nextDouble(), i)));
        }
        FilterPredicate[] predicates = new FilterPredicate[64];
        for (int i = 0; i < predicates.length; i++) {
            predicates[i] = predicate(random);
        }
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        int rounds = 20_000;
        long leastBytes = Long.MAX_VALUE;
        int ruledOut = 0;
        // the first attempts link and compile
        for (int attempt = 0; attempt < 8 && leastBytes > rounds; attempt++) {
            long before = threads.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < rounds; i++) {
                tracker.widen(1, values[i % values.length]);
                ruledOut += tracker.ruledOutBy(predicates[i % predicates.length])
                                == ComponentFilter.NOT_RULED_OUT
                        ? 0
                        : 1;
            }
            leastBytes = Math.min(leastBytes, threads.getCurrentThreadAllocatedBytes() - before);
        }
        assertThat(ruledOut).isPositive();
        assertThat(leastBytes).as("bytes for %d questions", rounds).isLessThan(rounds);
    }
}
