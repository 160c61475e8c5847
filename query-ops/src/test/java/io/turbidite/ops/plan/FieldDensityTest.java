package io.turbidite.ops.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.scan.RecordSample;
import io.turbidite.core.type.RecordType;

import org.junit.jupiter.api.Test;

import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/** What few records of a sample, or none, say of a value or a range. */
class FieldDensityTest {
    private static final RecordType TYPE = RecordType.builder()
            .field("n", "int32?")
            .field("at", "datetime?")
            .field("x", "double?")
            .field("name", "string?")
            .build();

    /** Of so many records one is in the sample. */
    private static final int RATE = 100;

    private record Records(List<byte[]> bytes) implements RecordSample {
        @Override
        public int size() {
            return bytes.size();
        }

        @Override
        public Slice record(int index, Slice target) {
            return target.set(Slice.of(bytes.get(index)));
        }

        @Override
        public double liveShare() {
            return 1;
        }
    }

    private static FieldDensity density(String field, List<?> values) {
        RecordWriter writer = new RecordWriter(TYPE);
        List<byte[]> records = new ArrayList<>();
        for (Object value : values) {
            Map<String, Object> row = new HashMap<>();
            row.put(field, value);
            records.add(writer.write(row).toByteArray());
        }
        return new FieldDensity(new Records(records), TYPE, TYPE.indexOf(field));
    }

    /** Dense below a thousand, thin above. */
    @Test
    void a_number_stands_for_as_many_as_its_neighbours_are_near() {
        SplittableRandom random = new SplittableRandom(7);
        List<Integer> sample = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            sample.add(i < 800 ? random.nextInt(1_000) : 1_000 + random.nextInt(1_000_000));
        }
        FieldDensity density = density("n", sample);
        double dense = 0;
        double thin = 0;
        for (int i = 0; i < 200; i++) {
            int low = random.nextInt(1_000);
            dense += density.ofValue(low, sample.contains(low) ? 1 : 0);
            int high = 2_000 + random.nextInt(900_000);
            thin += density.ofValue(high, sample.contains(high) ? 1 : 0);
        }
        // 80 records of all a value there, one in fifty here; how many values there are is told of
        // both together, so that the thin part seems to have some
        assertThat(dense / 200 * RATE).isBetween(20.0, 100.0);
        assertThat(thin / 200 * RATE).isLessThan(15);
    }

    @Test
    void a_narrow_range_that_nobody_has_is_a_part_of_the_gap_it_lies_in() {
        List<Double> sample = new ArrayList<>();
        for (int i = 0; i < 500; i++) {
            sample.add(i * 10.0);
        }
        FieldDensity density = density("x", sample);
        assertThat(density.ofRange(101.0, 102.0, 0)).isCloseTo(0.1, within(0.01));
        assertThat(density.ofRange(101.0, 109.0, 0)).isEqualTo(0.5);
        assertThat(density.ofRange(95.0, 105.0, 1)).isEqualTo(1);
        assertThat(density.ofRange(99.9, 100.1, 1)).isCloseTo(0.02, within(0.001));
        assertThat(density.ofRange(-50.0, -40.0, 0)).as("beyond all").isEqualTo(0.5);
        assertThat(density.ofRange(null, -40.0, 0)).isEqualTo(0.5);
    }

    @Test
    void times_lie_on_a_lattice() {
        List<Instant> sample = new ArrayList<>();
        SplittableRandom random = new SplittableRandom(3);
        for (int i = 0; i < 1_000; i++) {
            // each minute of about a week
            sample.add(Instant.ofEpochSecond(60L * random.nextInt(10_000)));
        }
        FieldDensity density = density("at", sample);
        double all = 0;
        for (int minute = 0; minute < 10_000; minute += 10) {
            Instant at = Instant.ofEpochSecond(60L * minute);
            all += density.ofValue(at, (int) sample.stream().filter(at::equals).count());
        }
        // a thousand of ten thousand minutes, of a thousand records in the sample a tenth
        assertThat(all).isBetween(50.0, 150.0);
    }

    @Test
    void a_text_that_nobody_has_is_one_of_those_that_were_not_seen() {
        SplittableRandom random = new SplittableRandom(5);
        List<String> sample = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            sample.add("name" + random.nextInt(5_000));
        }
        FieldDensity density = density("name", sample);
        // each of 5,000 stands for a fifth of a record of the sample
        assertThat(density.ofValue("name-1", 0)).isBetween(0.1, 0.3);
        assertThat(density.ofValue("name", 1)).isBetween(0.1, 0.4);
        assertThat(density.ofValue("name", 2)).isEqualTo(2);
    }

    @Test
    void no_value_at_all_is_half_a_record() {
        List<String> absent = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            absent.add(null);
        }
        for (String field : List.of("n", "at", "x", "name")) {
            FieldDensity density = density(field, absent);
            Object value = switch (field) {
                case "n" -> 1;
                case "at" -> Instant.EPOCH;
                case "x" -> 1.5;
                default -> "a";
            };
            assertThat(density.ofValue(value, 0)).as(field).isEqualTo(0.5);
        }
    }

    @Test
    void how_many_values_there_are_follows_from_how_many_were_met() {
        SplittableRandom random = new SplittableRandom(11);
        for (int values : new int[] {1, 2, 10, 100, 1_000, 10_000}) {
            boolean[] met = new boolean[values];
            int seen = 0;
            for (int i = 0; i < 2_000; i++) {
                int value = random.nextInt(values);
                seen += met[value] ? 0 : 1;
                met[value] = true;
            }
            assertThat(DistinctCount.of(2_000, seen)).isBetween(values * 0.7, values * 1.4);
        }
        assertThat(DistinctCount.of(0, 0)).isZero();
        assertThat(DistinctCount.of(100, 100)).isGreaterThan(5_000);
    }
}
